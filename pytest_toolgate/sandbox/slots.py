"""A bounded number of places, shared by every process of the machine that names the same directory.

A place is a `flock` on a file: the kernel frees it when its holder dies, however it dies.
"""

import errno
import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .line import Line, LineTimeout

# Seconds between two looks; small beside any script or reply. One thread of a process looks, the others are in line.
_PAUSE: Final = 0.02
_lines: Final[dict[Path, Line]] = {}


class SlotTimeout(Exception):  # noqa: N818 - it is a timeout, and the name is public
    """No place became free within the wait."""


@dataclass(frozen=True, slots=True)
class Slots:
    """`count` places in `directory`; `wait` is the longest a holder-to-be waits, in seconds.

    Used for CPU slots (one script per core, or time limits measure the load) and for the concurrency a
    provider allows. All processes that share a directory should agree on `count`.
    """

    directory: Path
    count: int
    wait: float

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"there must be at least one slot, not {self.count}.")

    @contextmanager
    def hold(self, rank: int = 0) -> Iterator[int]:
        """Hold a place and yield the lock's descriptor, for `pass_fds` to a child that may outlive us.

        Args:
            rank: Among the threads of this process, the lowest goes first.

        Raises:
            SlotTimeout: No place became free in time.
        """
        self.directory.mkdir(exist_ok=True)
        held = self._acquire(rank)
        try:
            yield held
        finally:
            os.close(held)

    def _acquire(self, rank: int) -> int:
        give_up = time.monotonic() + self.wait
        try:
            with _lines.setdefault(self.directory, Line()).head(rank, self.wait):
                while True:
                    for number in random.sample(range(self.count), self.count):
                        held = _try_lock(self.directory / f"slot-{number}")
                        if held is not None:
                            return held
                    if time.monotonic() >= give_up:
                        raise self._too_long()
                    time.sleep(min(_PAUSE, max(0.0, give_up - time.monotonic())))
        except LineTimeout:
            raise self._too_long() from None

    def _too_long(self) -> SlotTimeout:
        return SlotTimeout(
            f"None of the {self.count} slots in {self.directory} became free within {self.wait:g} seconds."
        )


def _try_lock(path: Path) -> int | None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    except BaseException:
        os.close(file)
        raise
    return file
