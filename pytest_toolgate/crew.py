"""Threads that take one piece of work after the other until there is none."""

import threading
import time
from collections.abc import Callable


class Crew:
    """Some threads, none of which keeps the process from ending: what they have started ends with it."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []

    def start(self, count: int, work: Callable[[], None]) -> None:
        """Have so many of them do the work, once."""
        # Daemons: a second Ctrl-C must not wait for agents.
        self._threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def at_work(self) -> bool:
        """Whether any of them is."""
        return any(thread.is_alive() for thread in self._threads)

    def wait(self, seconds: float) -> None:
        """Wait for their end, no longer than so many seconds."""
        give_up = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))
