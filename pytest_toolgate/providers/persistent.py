"""One call, asked again as long as that is worth it: in its turn, patiently, within its deadline."""

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext

from ..config import ProviderSettings
from .pace import Pace
from .protocol import Response
from .retrying import Failure, wait_before_retry


async def persist(
    send: Callable[[float], Awaitable[Response | Failure]],
    settings: ProviderSettings,
    pace: Pace,
    tokens: int,
    deadline: float | None,
    holding_up: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Response:
    """Send a request until there is a reply, or there will be none.

    Args:
        send: Makes one request within so many seconds.
        settings: Of the provider.
        pace: How fast it may be asked.
        tokens: How many the call may use, as far as can be told.
        deadline: Seconds for it all, but for those in which our own limits hold it back; None is no deadline.
        holding_up: Entered for as long as they do.

    Returns:
        The reply, or a `failed` one, with the requests made and the time they took.
    """
    begun = time.monotonic()
    requests = 0
    waited = 0.0

    def ended(response: Response) -> Response:
        return dataclasses.replace(response, latency=time.monotonic() - begun, requests=requests, waited=waited)

    def left() -> float | None:
        return None if deadline is None else deadline + waited - (time.monotonic() - begun)

    while True:
        with holding_up():
            waited += await take_turn(pace, tokens)
        if exhausted := pace.exhausted():
            return ended(Response("failed", error=exhausted, quota=True))
        remaining = left()
        if remaining is not None and remaining <= 0:
            return ended(Response("failed", error="the time for this call is over"))
        requests += 1
        outcome = await send(min(filter(None, (settings.timeout, remaining))))
        if isinstance(outcome, Response):
            if outcome.tokens.input is not None and outcome.tokens.output is not None:
                pace.settle(tokens, outcome.tokens.input + outcome.tokens.output)
            if outcome.quota:
                pace.exhaust(outcome.error)
            return ended(outcome)
        if outcome.retry_after and outcome.retry_after <= settings.retries.max_wait:
            pace.hold(outcome.retry_after)
        if outcome.quota:
            pace.exhaust(outcome.sentence)
        retry = wait_before_retry(outcome, requests, settings.retries)
        remaining = left()
        if retry is None or (remaining is not None and retry >= remaining):
            # An outage refuses nothing: only what the server says of this very request does.
            refused = 300 <= (outcome.status or 0) < 500 and not outcome.transient and not outcome.quota
            return ended(Response("failed", error=outcome.sentence, quota=outcome.quota, refused=refused))
        await asyncio.sleep(retry)


async def take_turn(pace: Pace, tokens: int) -> float:
    """Wait until a request may be made, and return for how many seconds."""
    waited = 0.0
    while True:
        wait = pace.reserve(tokens)
        await asyncio.sleep(wait)
        waited += wait
        if not (wait and pace.held()):
            return waited
        # While it stood in line, the server has asked another for patience: it goes behind that.
        pace.settle(tokens, 0)
