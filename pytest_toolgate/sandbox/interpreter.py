"""Ask a Python where it lives, so that exactly this and nothing else becomes visible in the sandbox."""

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from .job import Interpreter, SandboxError

# Seconds; a cold start from a network file system is slow, a start that takes longer is broken.
_PATIENCE: Final = 60.0

_QUESTION: Final = """
import json, platform, sys
import importlib.metadata as metadata
packages = {}
for name in sys.argv[1:]:
    try:
        packages[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix],
    "version": platform.python_version(),
    "packages": packages,
}))
"""

# Directories that hold more than an interpreter: as a prefix, one of them would show the host to the script.
_TOO_WIDE: Final = frozenset(
    Path("/", name) for name in ("", "home", "root", "etc", "var", "tmp", "run", "opt", "srv", "proc", "sys", "dev")
)


def inspect_interpreter(python: Path, distributions: Sequence[str] = ()) -> Interpreter:
    """Run `python` once and return where it lives and which of the distributions it has; cached per process.

    Args:
        python: Path of an interpreter, usually of a virtual environment.
        distributions: Names of distributions (`fenics-dolfinx`, `numpy`) whose versions are wanted.

    Raises:
        SandboxError: It does not run, or its prefix is a directory that holds more than an interpreter.
    """
    return _inspect(python.absolute(), tuple(distributions))


@cache
def _inspect(python: Path, distributions: tuple[str, ...]) -> Interpreter:
    answer = _ask(python, distributions)
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
        packages=MappingProxyType(dict(answer["packages"])),
    )


def _home() -> Path:
    return Path("~").expanduser().resolve() if "HOME" in os.environ else Path("/")


def _ask(python: Path, distributions: tuple[str, ...]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [python, "-I", "-c", _QUESTION, *distributions],
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
        answer = json.loads(done.stdout.splitlines()[-1])
        return {key: answer[key] for key in ("executable", "prefixes", "version", "packages")}
    except (ValueError, KeyError, IndexError) as error:
        raise SandboxError(f"The interpreter {python} did not describe itself; is it a Python?") from error
