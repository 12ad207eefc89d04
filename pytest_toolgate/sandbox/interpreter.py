"""Ask a Python where it lives, so that exactly this and nothing else becomes visible in the sandbox."""

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from .job import Distribution, Interpreter, SandboxError

# Seconds; a cold start from a network file system is slow, a start that takes longer is broken.
_PATIENCE: Final = 60.0

_QUESTION: Final = r"""
import hashlib, json, platform, re, sys
import importlib.metadata as metadata

def record(found):
    # The file itself: `read_text` would change its line ends.
    try:
        return hashlib.sha256((found._path / "RECORD").read_bytes()).hexdigest()
    except (AttributeError, OSError):
        return None

packages, installed, waiting = {}, {}, sys.argv[:0:-1]
while waiting:
    asked = waiting.pop()
    name = re.sub("[-_.]+", "-", asked).lower()
    if name not in installed:
        try:
            found = metadata.distribution(asked)
        except metadata.PackageNotFoundError:
            continue
        installed[name] = [found.version, record(found)]
        needed = [text for text in found.requires or () if "extra" not in text.partition(";")[2]]
        waiting[:0] = [match[0] for match in map(re.compile(r"[\w.-]+").match, needed) if match]
    if asked in sys.argv[1:]:
        packages[asked] = installed[name][0]
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix],
    "version": platform.python_version(),
    "implementation": platform.python_implementation(),
    "packages": packages,
    "installed": installed,
}))
"""

_ANSWERED: Final = ("executable", "prefixes", "version", "implementation", "packages", "installed")

# Directories that hold more than an interpreter: as a prefix, one of them would show the host to the script.
_TOO_WIDE: Final = frozenset(
    Path("/", name) for name in ("", "home", "root", "etc", "var", "tmp", "run", "opt", "srv", "proc", "sys", "dev")
)


def inspect_interpreter(python: Path, distributions: Sequence[str] = ()) -> Interpreter:
    """Run `python` once and return where it lives and what is installed in it; cached per process.

    Args:
        python: Path of an interpreter, usually of a virtual environment.
        distributions: Names of distributions (`fenics-dolfinx`, `numpy`) whose versions are wanted, with all
            that they depend on.

    Raises:
        SandboxError: It does not run, or its prefix is a directory that holds more than an interpreter.
    """
    return _inspect(python.absolute(), tuple(distributions))


@cache
def locate_packages(python: Path, packages: tuple[str, ...]) -> tuple[Path, ...]:
    """Everything by which packages could be imported or listed, for `Job.hidden`; cached per process.

    Args:
        python: Path of an interpreter.
        packages: Import names of top-level packages.

    Raises:
        SandboxError: It does not run.
    """
    where = (files(__package__) / "inside" / "whereabouts.py").read_text("utf-8")
    try:
        return tuple(map(Path, _ask(python, where, packages)))
    except TypeError as error:
        raise _no_python(python) from error


@cache
def _inspect(python: Path, distributions: tuple[str, ...]) -> Interpreter:
    try:
        found = _ask(python, _QUESTION, distributions)
        answer = {key: found[key] for key in _ANSWERED}
    except (KeyError, TypeError) as error:
        raise _no_python(python) from error
    prefixes = tuple(dict.fromkeys(Path(prefix).resolve() for prefix in answer["prefixes"]))
    for prefix in prefixes:
        if prefix in _TOO_WIDE or (_home().is_relative_to(prefix) and prefix != Path("/usr")):
            raise SandboxError(
                f"The interpreter {python} has the prefix {prefix}, which holds more than an interpreter and "
                f"would be visible to the script; use a virtual environment in a directory of its own."
            )
    return Interpreter(
        python=Path(answer["executable"]),
        prefixes=prefixes,
        version=answer["version"],
        implementation=answer["implementation"],
        packages=MappingProxyType(dict(answer["packages"])),
        installed=MappingProxyType({name: Distribution(*found) for name, found in answer["installed"].items()}),
    )


def _home() -> Path:
    return Path("~").expanduser().resolve() if "HOME" in os.environ else Path("/")


def _ask(python: Path, question: str, arguments: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON value
    try:
        done = subprocess.run(
            [python, "-I", "-c", question, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env={"PATH": "/usr/bin:/bin"},
            check=False,
        )
    except OSError as error:
        raise SandboxError(f"The interpreter {python} cannot be started: {error.strerror}.") from error
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"The interpreter {python} did not answer within {_PATIENCE:.0f} seconds.") from error
    if done.returncode != 0:
        last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it printed nothing"])[-1]
        raise SandboxError(f"The interpreter {python} does not work (exit status {done.returncode}): {last}")
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError) as error:
        raise _no_python(python) from error


def _no_python(python: Path) -> SandboxError:
    return SandboxError(f"The interpreter {python} did not describe itself; is it a Python?")
