"""Start a script as a copy of a warm process: one that sits in a sandbox with the software loaded.

The process is made by a `WarmKeeper` when the first job asks for it, and serves every process of the run. What joins
us to a copy of it are the same pipes that join us to a sandbox of its own.
"""

import errno
import os
import select
import signal
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import profile, tool_use
from .enclosure import TO_DIE, Sandbox
from .identity import choose
from .job import Job, SandboxError, WarmStart
from .pipes import content, control_pipe, pipe
from .task import DISK_MARGIN, marshalled, new_record, personal_files, task
from .warm_order import Place, WarmOrder

# Seconds; the imports of a large package from a cold disk, on a machine that does other things too.
_PATIENCE: Final = 120.0
_PAUSE: Final = 0.02
# Bytes of its reason for not making a copy.
_MOST_SAID: Final = 1024


def launch_warm(job: Job, warm: WarmStart, ours: ExitStack) -> Sandbox:
    """Start the job in a copy of a warm process; `ours` closes our ends of the pipes, which alone would end the run.

    Raises:
        SandboxError: There is no such process, and none can be made.
    """
    identity = choose(None)
    record = new_record()
    connection = ours.enter_context(_connect(WarmOrder.of(job, warm), warm.directory))
    described = task(job, identity, record) | {
        "rooms": profile.rooms(job.limits.disk + DISK_MARGIN, kept=True),
        "shown": profile.shown_in_rooms(job.interpreter),
        "folders": profile.folders(record),
        "own_files": {path: text.decode() for path, text in personal_files(job, identity, record).items()},
        "site": profile.SITE,
        "watching": tool_use.watching(job.watch, job.interpreter.prefixes, record),
        "places": tool_use.places(job.interpreter.prefixes),
    }
    with ExitStack() as theirs:
        (stdout, out), (stderr, err), (messages, report) = (pipe(ours, theirs) for _ in range(3))
        inside, control = control_pipe(ours, theirs)
        kept = os.memfd_create("toolgate")
        keeping = ours.enter_context(os.fdopen(kept, "rb"))
        given = content(marshalled(described), theirs)
        descriptors = [given, inside, report, out, err, content(job.kept, theirs), kept]
        first = _copy(connection, descriptors)
    ours.callback(os.close, first)
    return Sandbox(Copy(first), control, stdout, stderr, messages, keeping=keeping)


def _copy(connection: socket.socket, descriptors: list[int]) -> int:
    """Have a copy made, which is given the descriptors; a pidfd of it.

    Raises:
        SandboxError: None could be made; says why.
    """
    connection.settimeout(_PATIENCE)
    try:
        socket.send_fds(connection, [b"\0"], descriptors)
        said, received, flags, _ = socket.recv_fds(connection, _MOST_SAID, 1)
    except OSError as error:
        raise SandboxError(f"The warm process is gone: {error.strerror or error}.") from error
    if flags & socket.MSG_CTRUNC:
        raise SandboxError(f"This machine could not run a sandbox: {os.strerror(errno.EMFILE)}.")
    if not received:
        raise SandboxError(f"The warm sandbox could not be made: {said.decode() or 'its process is gone'}.")
    return received[0]


@dataclass(frozen=True, slots=True)
class Copy:
    """The copy's first process, which ends after everything inside has ended."""

    first: int

    def is_gone(self, patience: float) -> bool:
        """See `enclosure.Enclosure`."""
        poll = select.poll()
        poll.register(self.first, select.POLLIN)
        return bool(poll.poll(patience * 1000))

    def destroy(self, information: bytes) -> None:
        """Kill it, with which the kernel ends all others."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first, signal.SIGKILL)
        self.is_gone(TO_DIE)


def _connect(order: WarmOrder, directory: Path) -> socket.socket:
    """A connection to the process of this order, which is asked for where there is none.

    Raises:
        SandboxError: It could not be made, or not in time.
    """
    place = Place(directory, order.key)
    give_up = time.monotonic() + _PATIENCE
    while True:
        if (connection := place.connect()) is not None:
            return connection
        if (fault := place.fault()) is not None:
            raise SandboxError(fault)
        place.ask(order)
        if time.monotonic() > give_up:
            raise SandboxError(f"No warm process was there within {_PATIENCE:.0f} seconds; is the machine overloaded?")
        time.sleep(_PAUSE)
