"""Start one sandbox: bubblewrap around the supervisor around the script, joined to us by pipes.

In the tiers without namespaces there is no bubblewrap around the supervisor.
"""

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack

from . import direct, profile, program, seccomp
from .enclosure import Bubblewrap, Sandbox, Tree
from .identity import choose
from .job import Job, Program, SandboxError
from .pipes import content, control_pipe, pipe
from .probe import bubblewrap, probe
from .task import DISK_MARGIN, marshalled, new_record, own_files, task


def launch(job: Job, ours: ExitStack) -> Sandbox:
    """Start a sandbox for the job; `ours` closes our ends of the pipes, which alone would end the run.

    Raises:
        SandboxError: Bubblewrap is missing, or the workspace cannot be used.
    """
    if job.tier != "bubblewrap":
        return _launch_directly(job, ours)
    identity = choose(job.workspace)
    record = new_record()
    with ExitStack() as theirs:
        outputs = [pipe(ours, theirs) for _ in range(5)]
        (stdout, out), (stderr, err), (messages, report), (information, info), (complaints, complain) = outputs
        inside, control = control_pipe(ours, theirs)
        own = own_files(job, identity, record)
        data = {path: content(text, theirs) for path, text in own.items()}
        told = task(job, identity, record)
        channel = None
        door = []
        if job.program is not None:
            channel, inner = program.channel(ours, theirs)
            door = [inner]
            told = program.task(told, job.program, inner)
        rules = content(seccomp.program(guest=_guest(job.program)), theirs)
        described = content(marshalled(told), theirs)
        args = profile.arguments(
            job.interpreter,
            identity,
            places=profile.rooms(job.limits.disk + DISK_MARGIN),
            made=profile.folders(record),
            work=profile.work(job.directory),
            workspace=None if job.workspace is None else job.workspace.absolute(),
            hidden=job.hidden,
            data=data,
            seccomp=rules,
            program=job.program,
        )
        supervisor = [str(job.interpreter.python), "-I", "-S", next(iter(own))]
        descriptors = [described, inside, report, out, err]
        process = enclose(
            [*args, "--info-fd", str(info)],
            [*supervisor, *map(str, descriptors)],
            [*descriptors, *door, info, rules, *data.values()],
            complain,
        )
    return Sandbox(Bubblewrap(process), control, stdout, stderr, messages, information, complaints, channel=channel)


def _guest(program: Program | None) -> seccomp.Guest | None:
    if program is None:
        return None
    return "nested" if program.nested else "plain"


def enclose(
    args: Sequence[str], command: Sequence[str], descriptors: Sequence[int], complain: int
) -> subprocess.Popen[bytes]:
    """Start bubblewrap with a command.

    Args:
        args: From `profile.arguments`.
        command: What runs inside.
        descriptors: What it, or bubblewrap, reads and writes.
        complain: Descriptor for the machinery's stderr.

    Raises:
        SandboxError: Bubblewrap is missing or cannot be started.
    """
    with ExitStack() as theirs:
        listed = content(b"\0".join(map(os.fsencode, args)), theirs)
        inner = ["--args", str(listed), "--", *command]
        return _start([str(bubblewrap()), *inner], [*descriptors, listed], complain)


def _launch_directly(job: Job, ours: ExitStack) -> Sandbox:
    """Start the supervisor as a process among the others of the host."""
    probe(job.tier)
    identity = choose(job.workspace, own=job.tier != "none")
    direct.check_reach(job, identity)
    record = new_record()
    root = direct.make_room(identity, ours)
    own = own_files(job, identity, f"{root}{record}")
    direct.furnish(root, own, record, identity)
    with ExitStack() as theirs:
        outputs = [pipe(ours, theirs) for _ in range(4)]
        (stdout, out), (stderr, err), (messages, report), (complaints, complain) = outputs
        inside, control = control_pipe(ours, theirs)
        moved = direct.task(task(job, identity, record), job, root, record)
        descriptors = [content(marshalled(moved), theirs), inside, report, out, err]
        supervisor = [str(job.interpreter.python), "-I", "-S", "-B", f"{root}{next(iter(own))}"]
        process = _start([*supervisor, *map(str, descriptors)], descriptors, complain)
    return Sandbox(Tree(process), control, stdout, stderr, messages, complaints=complaints)


def _start(command: Sequence[str], descriptors: Sequence[int], complain: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complain,
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
            pass_fds=descriptors,
        )
    except OSError as error:
        raise SandboxError(f"{command[0]} could not be started: {error}.") from error
