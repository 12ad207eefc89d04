"""Start one sandbox: bubblewrap around the supervisor around the script, joined to us by pipes."""

import base64
import json
import os
import secrets
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from typing import IO, Any, Final

from . import profile, seccomp, tool_use
from .identity import Identity, choose
from .job import GiB, Job, MiB, SandboxError
from .probe import bubblewrap

# A script needs more address space than memory: libraries, stacks and allocators map what they never touch.
_ADDRESS_SPACE_MARGIN: Final = 1 * GiB
# The supervisor must be able to see a limit exceeded, so what the kernel enforces lies a little above it.
_DISK_MARGIN: Final = 1 * MiB
_MOST_ENTRIES: Final = 20_000
_OPEN_FILES: Final = 256
_STACK: Final = 8 * MiB


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A running sandbox and our ends of its pipes.

    Attributes:
        process: Bubblewrap's monitor outside; ends after everything inside has ended.
        control: Closing it asks the supervisor to end the run and report.
        stdout: The script's.
        stderr: The script's.
        messages: The supervisor's: `started` or `fault`, then the report.
        information: Bubblewrap's: the process id of the supervisor.
        complaints: The machinery's stderr.
    """

    process: subprocess.Popen[bytes]
    control: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    messages: IO[bytes]
    information: IO[bytes]
    complaints: IO[bytes]


def launch(job: Job, ours: ExitStack) -> Sandbox:
    """Start a sandbox for the job; `ours` closes our ends of the pipes, which alone would end the run.

    Raises:
        SandboxError: Bubblewrap is missing, or the workspace cannot be used.
    """
    identity = choose(job.workspace)
    record = f"{profile.USED}/{secrets.token_hex(16)}"
    with ExitStack() as theirs:
        outputs = [_pipe(ours, theirs) for _ in range(5)]
        (stdout, out), (stderr, err), (messages, report), (information, info), (complaints, complain) = outputs
        inside, outside = os.pipe()
        theirs.callback(os.close, inside)
        control = ours.enter_context(os.fdopen(outside, "wb", buffering=0))
        task = _content(json.dumps(_task(job, identity, record)).encode(), theirs)
        data = {path: _content(content, theirs) for path, content in _own_files(job, identity, record).items()}
        rules = _content(seccomp.program(), theirs)
        args = profile.arguments(
            job.interpreter,
            identity,
            disk=job.limits.disk + _DISK_MARGIN,
            workspace=None if job.workspace is None else job.workspace.absolute(),
            hidden=job.hidden,
            record=record,
            data=data,
            seccomp=rules,
        )
        listed = _content(b"\0".join(os.fsencode(arg) for arg in (*args, "--info-fd", str(info))), theirs)
        supervisor = [str(job.interpreter.python), "-I", "-S", profile.SUPERVISOR]
        descriptors = [task, inside, report, out, err]
        try:
            process = subprocess.Popen(
                [bubblewrap(), "--args", str(listed), "--", *supervisor, *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complain,
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,
                pass_fds=[*descriptors, info, rules, listed, *data.values()],
            )
        except OSError as error:
            raise SandboxError(f"Bubblewrap could not be started: {error}.") from error
    return Sandbox(process, control, stdout, stderr, messages, information, complaints)


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[IO[bytes], int]:
    read, write = os.pipe()
    theirs.callback(os.close, write)
    return ours.enter_context(os.fdopen(read, "rb", buffering=0)), write


def _content(content: bytes, theirs: ExitStack) -> int:
    """A descriptor that reads `content`; it has no name and vanishes with its last user."""
    descriptor = os.memfd_create("toolgate")
    theirs.callback(os.close, descriptor)
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        stream.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _own_files(job: Job, identity: Identity, record: str) -> dict[str, bytes]:
    """Path inside -> content of the read-only files we add."""
    inside = files(__package__) / "inside"
    own = {
        profile.SUPERVISOR: (inside / "supervise.py").read_bytes(),
        **{f"{profile.INSIDE}/{name}": (inside / name).read_bytes() for name in ("measure.py", "remove.py")},
        "/etc/passwd": identity.passwd(profile.HOME),
        "/etc/group": identity.group(),
    }
    if job.watch:
        own[f"{profile.SITE}/sitecustomize.py"] = tool_use.sitecustomize(job.watch, job.interpreter.prefixes, record)
    return own


def _task(job: Job, identity: Identity, record: str) -> dict[str, Any]:
    """What the supervisor is told to do."""
    limits = job.limits
    env = profile.environment(job.interpreter, watching=bool(job.watch), additions=job.env)
    contents = {**job.files, "solution.py": job.script}
    return {
        "unused_id": identity.unused_id,
        "directories": list(profile.DIRECTORIES),
        "work": profile.WORK,
        "files": {name: base64.b64encode(content).decode() for name, content in contents.items()},
        "command": [str(job.interpreter.python), "solution.py"],
        "env": env,
        "wall": limits.wall,
        "memory": limits.memory,
        "disk": limits.disk,
        "entries": _MOST_ENTRIES,
        "writable": [*profile.WRITABLE, profile.USED],
        "walk": job.workspace is not None,
        "watch": list(job.watch),
        "used": record,
        "rlimits": {
            "RLIMIT_AS": limits.memory + _ADDRESS_SPACE_MARGIN,
            "RLIMIT_FSIZE": limits.disk + _DISK_MARGIN,
            "RLIMIT_NPROC": limits.processes + 1,  # the supervisor counts
            "RLIMIT_NOFILE": _OPEN_FILES,
            "RLIMIT_STACK": _STACK,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
        },
    }
