"""A line of threads, of which one at a time is at its head."""

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class LineTimeout(Exception):  # noqa: N818 - it is a timeout
    """A thread did not come to the head in time."""


class Line:
    """The threads of one process that wait for the same thing; the lowest rank goes first, then who came first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int, threading.Event]] = []
        self._came = 0
        self._taken = False

    @contextmanager
    def head(self, rank: int, patience: float) -> Iterator[None]:
        """At the head, until the block ends.

        Raises:
            LineTimeout: Not within `patience` seconds.
        """
        mine = self._stand(rank)
        try:
            if not mine.wait(min(max(0.0, patience), threading.TIMEOUT_MAX)):
                raise LineTimeout
            yield
        finally:
            self._leave(mine)

    def _stand(self, rank: int) -> threading.Event:
        mine = threading.Event()
        with self._lock:
            self._came += 1
            heapq.heappush(self._waiting, (rank, self._came, mine))
            if not self._taken:
                self._call_next()
        return mine

    def _leave(self, mine: threading.Event) -> None:
        with self._lock:
            if mine.is_set():
                self._call_next()
            else:  # it has lost patience, or was interrupted
                self._waiting = [waiter for waiter in self._waiting if waiter[2] is not mine]
                heapq.heapify(self._waiting)

    def _call_next(self) -> None:
        self._taken = bool(self._waiting)
        if self._waiting:
            heapq.heappop(self._waiting)[2].set()
