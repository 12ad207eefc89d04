"""What is told to the supervisor of a run, and the files of ours that it needs inside."""

import importlib.util
import marshal
import platform
import secrets
import sys
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from . import profile, tool_use
from .identity import Identity
from .job import GiB, Interpreter, Job, MiB

# A script needs more address space than memory: libraries, stacks and allocators map what they never touch.
_ADDRESS_SPACE_MARGIN: Final = 1 * GiB
# The supervisor must be able to see a limit exceeded, so what the kernel enforces lies a little above it.
DISK_MARGIN: Final = 1 * MiB
_OPEN_FILES: Final = 256
_STACK: Final = 8 * MiB
# The supervisor, and what it imports.
SUPERVISION: Final = (
    *("supervise", "capabilities", "confine", "held", "measure"),
    *("nested", "refuse", "remove", "report", "script_process", "shared_memory", "tree", "walk"),
)


def new_record() -> str:
    """A directory for the names of the packages a run uses, of which nothing else knows."""
    return f"{profile.USED}/{secrets.token_hex(16)}"


def own_files(job: Job, identity: Identity, record: str) -> dict[str, bytes]:
    """Path inside -> content of the read-only files we add."""
    return code(job.interpreter, SUPERVISION) | personal_files(job, identity, record)


def code(interpreter: Interpreter, names: Sequence[str]) -> dict[str, bytes]:
    """Path inside -> content of our own modules that run there, the first of which is the one to start.

    Compiled here where the interpreter is of our own version, since every run would do it again.
    """
    ours = (platform.python_implementation(), sys.version_info[:2])
    theirs = (interpreter.implementation, tuple(map(int, interpreter.version.split(".")[:2])))
    if ours == theirs:
        return {f"{profile.INSIDE}/{name}.pyc": _compiled(name) for name in names}
    return {f"{profile.INSIDE}/{name}.py": _source(name) for name in names}


@cache
def _source(name: str) -> bytes:
    return (files(__package__) / "inside" / f"{name}.py").read_bytes()


@cache
def _compiled(name: str) -> bytes:
    code = compile(_source(name), f"{profile.INSIDE}/{name}.py", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def marshalled(task: dict[str, Any]) -> bytes:
    """A task as the supervisor reads it: what any Python can, for a tenth of what JSON costs its start."""
    return marshal.dumps(task, 2)


def personal_files(job: Job, identity: Identity, record: str) -> dict[str, bytes]:
    """Path inside -> content of the read-only files that are this run's own."""
    own = {"/etc/passwd": identity.passwd(profile.HOME), "/etc/group": identity.group()}
    if job.watch:
        own[f"{profile.SITE}/sitecustomize.py"] = tool_use.sitecustomize(job.watch, job.interpreter.prefixes, record)
    return own


def task(job: Job, identity: Identity, record: str) -> dict[str, Any]:
    """What the supervisor is told to do."""
    limits = job.limits
    env = profile.environment(job.interpreter, threads=job.threads, watching=bool(job.watch), additions=job.env)
    work = profile.work(job.directory)
    contents = {**job.files, "solution.py": job.script}
    return {
        "own_space": True,
        "room": None,
        "door": None,
        "nested": False,
        "unused_id": identity.unused_id,
        "directories": [work, *profile.DIRECTORIES],
        "work": work,
        "files": contents,
        "command": [str(job.interpreter.python), "solution.py"],
        "env": env,
        "wall": limits.wall,
        "memory": limits.memory,
        "disk": limits.disk,
        "entries": limits.entries,
        "writable": [*profile.WRITABLE, profile.USED],
        "walked": [] if job.workspace is None else [work],
        "processes": limits.processes,
        "watch": list(job.watch),
        "used": record,
        "rlimits": {
            "RLIMIT_AS": limits.memory + _ADDRESS_SPACE_MARGIN,
            "RLIMIT_FSIZE": limits.disk + DISK_MARGIN,
            "RLIMIT_NPROC": limits.processes + 1,  # the supervisor counts
            "RLIMIT_NOFILE": _OPEN_FILES,
            "RLIMIT_STACK": _STACK,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
        },
    }
