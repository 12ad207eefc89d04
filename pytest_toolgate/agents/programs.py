"""Where an agent's program lies, and which version it is."""

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ..sandbox import SandboxError, inspect_interpreter
from ..sandbox.profile import SYSTEM
from .protocol import AgentError

_PATIENCE: Final = 60.0  # seconds for a program to say its version
_LONGEST: Final = 100  # characters of it


def find(name: str, configured: Path | None, key: str = "program") -> Path:
    """The executable, links resolved.

    Args:
        name: Its name in PATH.
        configured: Where the configuration says that it lies.
        key: The key under `solve` that says so.

    Raises:
        AgentError: It is not there.
    """
    return _place(name, configured, key).resolve()


def find_with_python(name: str, configured: Path | None, key: str = "program") -> tuple[Path, tuple[Path, ...]]:
    """The executable, and what of the host it needs, its own interpreter included.

    Args:
        name: Its name in PATH.
        configured: Where the configuration says that it lies.
        key: The key under `solve` that says so.

    Raises:
        AgentError: It is not there, or its interpreter does not run.
    """
    place = _place(name, configured, key).absolute()
    if any(place.is_relative_to(system) for system in SYSTEM):
        return place, ()  # by the name it is called by, which may be what tells it what to do
    # The Python of a virtual environment is a link, and so may be the name of a program in one.
    installed = (place.parent.parent / "pyvenv.cfg").is_file()
    place = place.parent.resolve() / place.name if installed else place.resolve()
    try:
        python = python_of(place)
        prefixes = () if python is None else inspect_interpreter(python).prefixes
    except SandboxError as problem:
        raise AgentError(str(problem), "sandbox") from problem
    alone = not any(place.is_relative_to(prefix) for prefix in prefixes)
    return place, (*prefixes, place) if alone else prefixes


def python_of(program: Path) -> Path | None:
    """The interpreter beside a program, where pip has put it."""
    python = program.parent / "python"
    return python if python.is_file() else None


def _place(name: str, configured: Path | None, key: str) -> Path:
    place = shutil.which(name) if configured is None else configured
    if place is None:
        raise AgentError(f"there is no `{name}` in PATH; install it, or say under `solve` where it lies: `{key}`")
    path = Path(place)
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise AgentError(f"{place} is no program that can be started")
    return path


@functools.cache
def version_of(executable: Path) -> str:
    """What the program says to `--version`.

    Raises:
        AgentError: It does not start, or says nothing.
    """
    try:
        said = subprocess.run(
            [executable, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.devnull},
            timeout=_PATIENCE,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise AgentError(f"{executable} does not say its version: {error}") from error
    lines = said.decode("utf-8", "replace").strip().splitlines()
    if not lines:
        raise AgentError(f"{executable} does not say its version")
    return lines[0][:_LONGEST]
