"""How fast one provider may be asked, kept by all processes of a run together.

Requests and tokens are evenly spaced rather than counted per window: whatever window a provider counts in, no more
than the limit falls into it. The state is three moments of the machine's monotonic clock in a file under a lock.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..whole_file import write_whole

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class _Moments:
    """When what may go on, in seconds of the monotonic clock.

    Attributes:
        requests: The next request.
        tokens: A request, once the tokens before it have been worked off.
        held: Any request, after a server has asked for patience.
    """

    requests: float = 0.0
    tokens: float = 0.0
    held: float = 0.0


class Pace:
    """The limits of one provider.

    Args:
        path: File that all processes of the run share.
        requests_per_minute: None is no limit.
        tokens_per_minute: None is no limit. Input and output together.
    """

    def __init__(
        self, path: Path, requests_per_minute: int | None = None, tokens_per_minute: int | None = None
    ) -> None:
        self._path = path
        self._exhausted = path.with_suffix(".exhausted")
        self._per_request = _MINUTE / requests_per_minute if requests_per_minute else 0.0
        self._per_token = _MINUTE / tokens_per_minute if tokens_per_minute else 0.0

    def reserve(self, tokens: int) -> float:
        """Take the next place in the line and return the seconds until its turn.

        Args:
            tokens: How many it may use, as far as can be told; `settle` corrects that.
        """
        now = time.monotonic()
        turn = now

        def take(moments: _Moments) -> _Moments:
            nonlocal turn
            turn = max(now, moments.requests, moments.tokens, moments.held)
            return replace(moments, requests=turn + self._per_request, tokens=turn + tokens * self._per_token)

        self._change(take)
        return turn - now

    def settle(self, reserved: int, used: int) -> None:
        """Correct what a request was thought to use by what it did."""
        if self._per_token and reserved != used:
            self._change(lambda moments: replace(moments, tokens=moments.tokens + (used - reserved) * self._per_token))

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so long: the server has said so to one, and means all."""
        until = time.monotonic() + seconds
        self._change(lambda moments: replace(moments, held=max(moments.held, until)))

    def held(self) -> bool:
        """Whether the server has asked for patience, and that time is not over."""
        until = 0.0

        def look(moments: _Moments) -> _Moments:
            nonlocal until
            until = moments.held
            return moments

        self._change(look)
        return until > time.monotonic()

    def exhaust(self, sentence: str) -> None:
        """Let nobody ask any more: the account is exhausted."""
        write_whole(self._exhausted, sentence)

    def exhausted(self) -> str:
        """Why nobody may ask any more, or empty."""
        try:
            return self._exhausted.read_text("utf-8")
        except FileNotFoundError:
            return ""

    def _change(self, change: Callable[[_Moments], _Moments]) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = file.read()
            after = change(_Moments(*json.loads(before)) if before else _Moments())
            file.seek(0)
            # One length but for absurd moments: a process killed in between leaves no end of a longer text behind.
            file.write(f"[{after.requests:20.6f}, {after.tokens:20.6f}, {after.held:20.6f}]")
            file.truncate()
