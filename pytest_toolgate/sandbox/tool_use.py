"""The file that makes every Python in the sandbox record which watched packages it executes, and which it calls.

It counts execution, not mention: a name inside a string or a local file of that name leaves no record. It is
a record, not a proof: a script bent on it can execute or call a package without using it.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from .job import Interpreter


def watching(watch: Sequence[str], prefixes: Sequence[Path], record: str) -> str:
    """Source that watches for the packages below the read-only prefixes and notes them in `record`."""
    return f"{_source('sitecustomize')}_watch({list(watch)!r}, {places(prefixes)!r}, {record!r})\n"


def places(prefixes: Sequence[Path]) -> list[str]:
    """Where nothing is the script's own."""
    return [str(prefix) for prefix in (*prefixes, Path("/usr"))]


def tells_calls(interpreter: Interpreter) -> bool:
    """Whether it can say which packages are called."""
    version = tuple(map(int, interpreter.version.split(".")[:2]))
    return interpreter.implementation == "CPython" and version >= (3, 12)


def sitecustomize(watch: Sequence[str], prefixes: Sequence[Path], record: str) -> bytes:
    """The same as the module that every Python loads at its start."""
    calls = f"{_source('tool_calls')}watch_calls({list(watch)!r}, {places(prefixes)!r}, {record!r})\n"
    return f"{watching(watch, prefixes, record)}{calls}_continue_with_the_environments_own()\n".encode()


def _source(name: str) -> str:
    return (files(__package__) / "inside" / f"{name}.py").read_text("utf-8")
