"""Watching what arrives at a scripted server, and when."""

import threading
import time
from itertools import pairwise

from scripted_server import Asked, Reply, Script


class Traffic:
    """A script that lets another one answer, after a while, and notes what is under way meanwhile.

    Attributes:
        at: When each request arrived, by the monotonic clock, in order.
        most: The largest number of requests under way at once.
    """

    def __init__(self, script: Script, delay: float = 0.0) -> None:
        self.at: list[float] = []
        self.most = 0
        self._script = script
        self._delay = delay
        self._under_way = 0
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        with self._lock:
            self.at.append(time.monotonic())
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        time.sleep(self._delay)
        reply = self._script(asked)
        with self._lock:
            self._under_way -= 1
        return reply

    @property
    def gaps(self) -> list[float]:
        """Seconds between one arrival and the next."""
        return [later - earlier for earlier, later in pairwise(self.at)]
