"""What a scripted server can say of every call of a screen: which run made it, and when its reply was sent."""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from scripted_server import Asked, Reply, ScriptedServer

from .pool import VALUE


@dataclass(slots=True)
class Seen:
    """One call.

    Attributes:
        run: The key that the run was given, which tells its requests from those of other runs.
        model: The model asked.
        prompt: Question and options in the order shown.
        sent: When the reply was given to be sent, by the monotonic clock; None before.
    """

    run: str
    model: str
    prompt: str
    sent: float | None = None


class Witness:
    """Has a server answer right or wrong as the prompt alone has it, after 20 to 60 ms, and remembers every call."""

    def __init__(self, server: ScriptedServer) -> None:
        self.base_url = server.base_url
        server.script = self._answer
        server.preflight = self._try_out
        self._seen: list[Seen] = []
        self._changed = threading.Condition()
        self._requests = 0
        self._calls = 0
        self._most = 0
        self._released = threading.Event()

    def expect(self, most: int) -> None:
        """Count from zero for a new run; calls beyond so many are kept waiting until `release`."""
        with self._changed:
            self._requests = self._calls = 0
            self._most = most
            self._released = threading.Event()

    def release(self) -> None:
        """Let those that wait go: whoever asked is dead."""
        self._released.set()

    @property
    def holding(self) -> bool:
        """Whether a call is kept waiting."""
        return self._calls > self._most

    def wait_for_request(self, number: int, ended: Callable[[], bool]) -> None:
        """Wait for the n-th request of the run, preflight or call, or for the run's own end."""
        with self._changed:
            while self._requests < number and not ended():
                self._changed.wait(0.05)

    def of_run(self, run: str) -> list[Seen]:
        """The calls of a run, in order of arrival."""
        with self._changed:
            return [seen for seen in self._seen if seen.run == run]

    def _try_out(self, asked: Asked) -> Reply:
        with self._changed:
            self._requests += 1
            self._changed.notify_all()
        return Reply("OK", delay=0.04)

    def _answer(self, asked: Asked) -> Reply:
        seen = Seen(asked.headers["authorization"].removeprefix("Bearer "), asked.model, asked.prompt)
        with self._changed:
            self._seen.append(seen)
            self._requests += 1
            self._calls += 1
            waits, released = self.holding, self._released
            self._changed.notify_all()
        if waits:
            released.wait(60)
        dice = hashlib.sha256(f"{asked.model}\n{asked.prompt}".encode()).digest()
        time.sleep(0.02 + 0.04 * dice[0] / 255)
        right = asked.letter_of(VALUE)
        wrong = sorted(set("ABCD") - {right})[dice[1] % 3]
        seen.sent = time.monotonic()
        return Reply(f"ANSWER: {right if dice[2] < 115 else wrong}")
