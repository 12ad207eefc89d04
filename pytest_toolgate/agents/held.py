"""How long somebody was held up by us, which can be read while it goes on."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class HeldUp:
    """A sum of seconds, added to by several threads; where they overlap they count once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0.0
        self._depth = 0
        self._sum = 0.0

    @property
    def seconds(self) -> float:
        """So far, what is going on included."""
        with self._lock:
            return self._sum + (time.monotonic() - self._since if self._depth else 0.0)

    @contextmanager
    def during(self) -> Iterator[None]:
        """It goes on until the end of this."""
        with self._lock:
            if not self._depth:
                self._since = time.monotonic()
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if not self._depth:
                    self._sum += time.monotonic() - self._since
