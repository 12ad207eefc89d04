"""Run one job: start its sandbox, read what comes out, end it whatever happens, and say how it ended."""

import json
import os
import selectors
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any, Final, Literal

from . import tool_use
from .enclosure import Sandbox
from .ending import Observed, decide
from .job import Ending, Finished, Job, KiB, SandboxError
from .launch import launch
from .output import Capped, HeadAndTail
from .probe import probe
from .warm import launch_warm

# Seconds for bubblewrap and the supervisor to start the script; generous, as a slow machine is no verdict.
_SETUP_PATIENCE: Final = 120.0
# Seconds between the moment the supervisor should have ended the run and the moment we do.
_LAST_WORDS: Final = 3.0
# Seconds between two looks at what may end a program or put its end off.
_GLANCE: Final = 0.1
_PIECE: Final = 64 * KiB
_MACHINERY_OUTPUT: Final = 64 * KiB


def run(job: Job) -> Finished:
    """Run the job's script in a sandbox of its own and wait for its end; no process of it is left afterwards.

    Takes no slot: callers that measure time hold one (see `Slots`).

    Raises:
        SandboxError: The machinery failed, so nothing is known about the script; says what to do.
    """
    heard = _Heard(Capped(job.limits.stdout), HeadAndTail(job.limits.stderr))
    try:
        with ExitStack() as ours:
            sandbox = launch(job, ours) if job.warm is None else launch_warm(job, job.warm, ours)
            ours.callback(_end, sandbox, heard)
            _listen(sandbox, heard, job)
            kept = _left(sandbox)
    except OSError as error:
        raise SandboxError(f"This machine could not run a sandbox: {error}.") from error
    return _finished(job, heard, kept)


@dataclass(slots=True)
class _Heard:
    """Everything that came out of a sandbox. Only `stdout` and `stderr` were written by the script."""

    stdout: Capped
    stderr: HeadAndTail
    messages: Capped = field(default_factory=lambda: Capped(_MACHINERY_OUTPUT))
    information: Capped = field(default_factory=lambda: Capped(_MACHINERY_OUTPUT))
    complaints: HeadAndTail = field(default_factory=lambda: HeadAndTail(_MACHINERY_OUTPUT))
    started_at: float | None = None
    overdue: bool = False
    late: bool = False

    def said(self) -> dict[str, Any]:
        """The supervisor's messages, merged."""
        said: dict[str, Any] = {}
        for line in bytes(self.messages.kept).splitlines(keepends=True):
            if line.endswith(b"\n"):
                said |= json.loads(line)
        return said


def _listen(sandbox: Sandbox, heard: _Heard, job: Job) -> None:
    """Read every pipe to its end, or until a deadline; stop the run when stdout is full."""
    sinks: dict[IO[bytes] | None, Capped | HeadAndTail] = {
        sandbox.stdout: heard.stdout,
        sandbox.stderr: heard.stderr,
        sandbox.messages: heard.messages,
        sandbox.information: heard.information,
        sandbox.complaints: heard.complaints,
    }
    deadline = time.monotonic() + _SETUP_PATIENCE
    with selectors.DefaultSelector() as selector:
        for stream, sink in sinks.items():
            if stream is None:
                continue
            selector.register(stream, selectors.EVENT_READ, sink)
        if sandbox.channel is not None:
            selector.register(sandbox.channel, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                heard.overdue = True
                return
            for key, _ in selector.select(left if job.program is None else min(left, _GLANCE)):
                if key.fileobj is sandbox.channel:
                    selector.unregister(sandbox.channel)
                    _open_door(sandbox.channel, job)
                    continue
                piece = os.read(key.fd, _PIECE)
                if piece:
                    key.data.add(piece)
                else:
                    selector.unregister(key.fileobj)
            if heard.started_at is None and b"\n" in heard.messages.kept:
                heard.started_at = time.monotonic()
                deadline = heard.started_at + job.limits.wall + _LAST_WORDS
            if job.program is not None and heard.started_at is not None and not sandbox.control.closed:
                # Its time is kept here, since what holds it up is known here.
                end = heard.started_at + job.limits.wall + job.program.door.waited
                now = time.monotonic()
                deadline = end + _LAST_WORDS
                heard.late = now >= end
                if heard.late or job.program.door.closed:
                    sandbox.control.close()
                    deadline = now + _LAST_WORDS
            if heard.stdout.exceeded and not sandbox.control.closed:
                sandbox.control.close()
                deadline = min(deadline, time.monotonic() + _LAST_WORDS)
    sandbox.enclosure.is_gone(_LAST_WORDS)


def _open_door(channel: socket.socket, job: Job) -> None:
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
    if descriptors and job.program is not None:  # else the supervisor has failed, and will say so
        job.program.door.open(socket.socket(fileno=descriptors[0]))


def _left(sandbox: Sandbox) -> bytes:
    if sandbox.keeping is None:
        return b""
    sandbox.keeping.seek(0)
    return sandbox.keeping.read()


def _end(sandbox: Sandbox, heard: _Heard) -> None:
    """Kill whatever is left."""
    if sandbox.enclosure.is_gone(0):
        return
    sandbox.control.close()
    sandbox.enclosure.destroy(bytes(heard.information.kept))


def _finished(job: Job, heard: _Heard, kept: bytes) -> Finished:
    said = heard.said()
    if "started" not in said:
        raise SandboxError(_why_not_started(job, heard, said))
    reported = "wall" in said
    if not reported and not heard.overdue:
        raise SandboxError(
            "The sandbox ended without a report, perhaps for lack of memory on this machine: " + _last_line(heard)
        )
    stderr = heard.stderr.text()
    limit: Ending | Literal["stopped"] | None = said["limit"] if reported else "timeout"
    if job.program is not None and (limit == "stopped" or not reported):
        # Ended by us: for its time, or for what its door has said, which is no limit of the sandbox.
        limit = "timeout" if heard.late else "stopped"
    ended, code, number = decide(
        Observed(
            limit=None if limit == "stopped" else limit,
            status=said["status"] if reported else None,
            too_much_output=heard.stdout.exceeded,
            stderr=stderr,
        )
    )
    return Finished(
        ended=ended,
        exit_code=code,
        signal=number,
        stdout=bytes(heard.stdout.kept),
        stdout_bytes=heard.stdout.size,
        stderr=stderr,
        stderr_bytes=heard.stderr.size,
        stderr_cut=heard.stderr.dropped > 0,
        wall=said["wall"] if reported else job.limits.wall,
        cpu=said["cpu"] if reported else 0.0,
        peak_memory=said["peak_memory"] if reported else 0,
        disk_used=said["disk_used"] if reported else 0,
        files_made=said["files_made"] if reported else 0,
        used=tuple(sorted(said["used"])) if reported else (),
        excess=said["excess"] if reported else "",
        kept=kept,
        tier=job.tier,
        called=tuple(sorted(said["called"])) if reported and tool_use.tells_calls(job.interpreter) else None,
        started_at=heard.started_at or 0.0,
    )


def _why_not_started(job: Job, heard: _Heard, said: dict[str, Any]) -> str:
    if "fault" in said:
        return f"The sandbox could not start the script: {said['fault']}"
    if heard.overdue:
        return f"The sandbox did not start within {_SETUP_PATIENCE:.0f} seconds; is the machine overloaded?"
    probe(job.tier)  # says better what to do where namespaces are refused
    return f"The sandbox could not start {job.interpreter.python}: {_last_line(heard)}"


def _last_line(heard: _Heard) -> str:
    return (heard.complaints.text().decode("utf-8", "replace").strip().splitlines() or ["it gave no reason."])[-1]
