"""The file that makes every Python in the sandbox record which watched packages it executes.

It counts execution, not mention: a name inside a string or a local file of that name leaves no record. It is
a record, not a proof: a script bent on it can execute a package without using it.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path


def sitecustomize(watch: Sequence[str], prefixes: Sequence[Path], record: str) -> bytes:
    """Source of the module that watches for the packages below the read-only prefixes and notes them in `record`."""
    source = (files(__package__) / "inside" / "sitecustomize.py").read_text("utf-8")
    places = [str(prefix) for prefix in (*prefixes, Path("/usr"))]
    calls = f"_watch({list(watch)!r}, {places!r}, {record!r})\n_continue_with_the_environments_own()\n"
    return (source + calls).encode()
