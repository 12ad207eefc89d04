"""The file that makes every Python in the sandbox record which watched packages it executes.

It counts execution, not mention: a name inside a string or a local file of that name leaves no record. It is
a record, not a proof: a script bent on it can execute a package without using it.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from .profile import USED


def sitecustomize(watch: Sequence[str], prefixes: Sequence[Path]) -> bytes:
    """Source of the `sitecustomize` module that watches for the packages below the read-only prefixes."""
    source = (files(__package__) / "inside" / "sitecustomize.py").read_text("utf-8")
    places = [str(prefix) for prefix in (*prefixes, Path("/usr"))]
    calls = f"_watch({list(watch)!r}, {places!r}, {USED!r})\n_continue_with_the_environments_own()\n"
    return (source + calls).encode()
