"""A running sandbox as the runner has it: pipes to read, and something that can be ended."""

import os
import re
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final, Protocol

from .inside.tree import kill_below

# Seconds for what was killed to be gone.
TO_DIE: Final = 3.0


class Enclosure(Protocol):
    """What holds everything that belongs to one run."""

    def is_gone(self, patience: float) -> bool:
        """Whether everything inside has ended, after waiting for it at most so many seconds."""
        ...

    def destroy(self, information: bytes) -> None:
        """End everything inside; `information` is what bubblewrap said about it."""
        ...


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A running sandbox and our ends of its pipes.

    Attributes:
        enclosure: What holds it.
        control: Closing it asks the supervisor to end the run and report.
        stdout: The script's.
        stderr: The script's.
        messages: The supervisor's: `started` or `fault`, then the report.
        information: Bubblewrap's: the process id of the supervisor; None where it was there before.
        complaints: The machinery's stderr; None likewise.
        keeping: What the run leaves for the next of the same job, once it is over; None if nothing may be left.
        channel: On which the socket of a program's door arrives; None for a script.
    """

    enclosure: Enclosure
    control: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    messages: IO[bytes]
    information: IO[bytes] | None = None
    complaints: IO[bytes] | None = None
    keeping: IO[bytes] | None = None
    channel: socket.socket | None = None


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Bubblewrap's process outside, which ends after everything inside has ended."""

    process: subprocess.Popen[bytes]

    def is_gone(self, patience: float) -> bool:
        """See `Enclosure`."""
        return _has_ended(self.process, patience)

    def destroy(self, information: bytes) -> None:
        """Kill the first process inside, with which the kernel ends all others."""
        if first := re.search(rb'"child-pid":\s*(\d+)', information):
            # Its monitor has not ended, so it was not reaped and the number is still its own.
            with suppress(ProcessLookupError):
                os.kill(int(first[1]), signal.SIGKILL)
            if self.is_gone(TO_DIE):
                return
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Tree:
    """A supervisor among the processes of the host, which ends after everybody below it."""

    process: subprocess.Popen[bytes]

    def is_gone(self, patience: float) -> bool:
        """See `Enclosure`."""
        return _has_ended(self.process, patience)

    def destroy(self, information: bytes) -> None:
        """Kill everybody below, then the supervisor."""
        kill_below(self.process.pid)
        self.process.kill()
        self.process.wait()


def _has_ended(process: subprocess.Popen[bytes], patience: float) -> bool:
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return False
    return True
