"""A bounded number of places, shared by every process of the machine that names the same directory.

A place is a `flock` on a file: the kernel frees it when its holder dies, however it dies. Who wants one comes through a
door, a lock that many may share for a moment; who wants all of them shuts it first.
"""

import errno
import fcntl
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from .line import Line, LineTimeout

# Seconds between two looks; small beside any script or reply. One thread of a process looks, the others are in line.
_PAUSE: Final = 0.02
_DOOR: Final = "door"
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
        with ExitStack() as holding:
            with self._at_the_head(rank) as give_up:
                held = self._wait_for(self._try_any, holding, give_up)
            yield held

    @contextmanager
    def hold_all(self, rank: int = 0) -> Iterator[None]:
        """Hold every place, so that nobody else holds one.

        While somebody waits for that, no place is taken any more: those that are held need only become free. So it does
        not starve, however many want a single place; and since one at a time waits, and a holder of one place never
        waits for another, nobody waits for ever.

        Raises:
            SlotTimeout: Not all places became free in time.
        """
        with ExitStack() as holding:
            with self._at_the_head(rank) as give_up:
                self._wait_for(self._try_door, holding, give_up)
                for number in range(self.count):
                    self._wait_for(partial(self._try_place, number), holding, give_up)
            yield

    @contextmanager
    def _at_the_head(self, rank: int) -> Iterator[float]:
        """First among the threads of this process, one of which at a time looks for places; yields until when."""
        self.directory.mkdir(exist_ok=True)
        give_up = time.monotonic() + self.wait
        try:
            with _lines.setdefault(self.directory, Line()).head(rank, self.wait):
                yield give_up
        except LineTimeout:
            raise self._too_long() from None

    def _wait_for(self, attempt: Callable[[], int | None], holding: ExitStack, give_up: float) -> int:
        """The lock that `attempt` gets once it gets one, held as long as `holding`."""
        while True:
            held = attempt()
            if held is not None:
                holding.callback(os.close, held)
                return held
            if time.monotonic() >= give_up:
                raise self._too_long()
            time.sleep(min(_PAUSE, max(0.0, give_up - time.monotonic())))

    def _try_any(self) -> int | None:
        # Everybody comes in through the same door, which is shut while somebody waits for all places or has them.
        door = _try_lock(self.directory / _DOOR, fcntl.LOCK_SH)
        if door is None:
            return None
        try:
            places = map(self._try_place, random.sample(range(self.count), self.count))
            return next((held for held in places if held is not None), None)
        finally:
            os.close(door)

    def _try_door(self) -> int | None:
        return _try_lock(self.directory / _DOOR, fcntl.LOCK_EX)

    def _try_place(self, number: int) -> int | None:
        return _try_lock(self.directory / f"slot-{number}", fcntl.LOCK_EX)

    def _too_long(self) -> SlotTimeout:
        return SlotTimeout(
            f"Others held the {self.count} slots in {self.directory} for more than {self.wait:g} seconds."
        )


def _try_lock(path: Path, kind: int) -> int | None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    except BaseException:
        os.close(file)
        raise
    return file
