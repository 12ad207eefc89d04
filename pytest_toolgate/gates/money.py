"""What calls cost, and whether another one may be made."""

import dataclasses
import fcntl
import json
import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..config import EMBEDDED, ProviderSettings, ScreenSettings, SolveSettings
from ..locking import locked
from ..providers import Response, Tokens
from ..store import new_id
from ..store.spending import dearest_call, spent
from .result import GateResult, error
from .workbench import Workbench

_PAUSE = 0.05
# How much dearer than any before a call may turn out: the length of replies differs as much, with reasoning above all.
_HEADROOM = 16


def cost(provider: ProviderSettings, model: str, tokens: Tokens) -> float | None:
    """USD that a call cost; None when a price or a count that it needs is unknown, which is not 0."""
    if provider.kind == EMBEDDED:
        return 0.0
    prices = provider.prices.get(model)
    if prices is None or prices.input is None or prices.output is None or tokens.input is None or tokens.output is None:
        return None
    cached = min(tokens.cached or 0, tokens.input)
    cached_price = prices.input if prices.cached is None else prices.cached
    total = (tokens.input - cached) * prices.input + cached * cached_price + tokens.output * prices.output
    return total / 1e6


def tokens_and_cost(provider: ProviderSettings, model: str, tokens: Tokens) -> dict[str, Any]:
    """The columns of calls in the database that say what they have used."""
    counts = {f"{name}_tokens": count for name, count in dataclasses.asdict(tokens).items()}
    return {**counts, "cost": cost(provider, model, tokens)}


def what_it_took(provider: ProviderSettings, model: str, response: Response) -> dict[str, Any]:
    """The columns of a call in the database that say who answered it, and what that took."""
    return {
        "model_served": response.model_served,
        **tokens_and_cost(provider, model, response.tokens),
        "requests": response.requests,
        "latency": round(response.latency, 3),
    }


def unheard_cost(bench: Workbench, user: SolveSettings, size: int, requests: int) -> float | None:
    """USD that requests may have cost whose reply nobody waited for; None when nobody knows.

    A server works for them, and is paid. That is as much as their replies could have, or, where no cap says how much
    that is, as much as the dearest call of the run to that model.

    Args:
        bench: The run.
        user: Who asked.
        size: Bytes of one of them; a token has three at least.
        requests: How many there were.
    """
    provider = bench.settings.providers[user.provider]
    if provider.kind == EMBEDDED:
        return 0.0
    asked = cost(provider, user.model, Tokens(size // 3, 0, 0))
    if user.max_output_tokens is None:
        replied = dearest_call(bench.store, bench.run.id, user.provider, user.model, user.reasoning, None)
    else:
        replied = cost(provider, user.model, Tokens(0, 0, user.max_output_tokens))
    return None if asked is None or replied is None else requests * (asked + replied)


def _caps(bench: Workbench, attempt_id: str | None) -> list[tuple[float, str, str | None]]:
    """USD of each cap, whose it is, and the attempt it is for."""
    budget = bench.settings.budget
    caps: list[tuple[float | None, str, str | None]] = [(budget.usd, "the run", None)]
    if attempt_id is not None:
        caps.append((budget.usd_per_candidate, "the candidate", attempt_id))
    return [(usd, whose, attempt) for usd, whose, attempt in caps if usd is not None]


def budget_spent(bench: Workbench, attempt_id: str | None = None) -> GateResult | None:
    """None while there is money left for the run, and for an attempt if one is given; else what ends the gate."""
    for cap, whose, attempt in _caps(bench, attempt_id):
        paid = spent(bench.store, bench.run.id, attempt)
        if paid.usd >= cap:
            return error("budget", f"{whose} has spent its budget of {cap:g} USD")
        if paid.unknown:
            calls = "call" if paid.unknown == 1 else "calls"
            return error(
                "budget", f"{whose} has made {paid.unknown} {calls} whose cost is unknown, so no budget can be kept"
            )
    return None


@contextmanager
def paying(bench: Workbench, attempt_id: str, user: ScreenSettings | SolveSettings) -> Iterator[GateResult | None]:
    """Yields None when a call may be made, to be made and recorded inside; else the result that ends the gate.

    Calls under way in other processes count as well: where a budget is set, a call that might be one too many waits
    until they are paid. So a cap is passed by no more than the last call that was begun below it, unless several at
    once are many times dearer than any before.
    """
    entry = Admission(bench, attempt_id, user)
    try:
        yield entry.admit()
    finally:
        entry.release()


class Admission:
    """The leave to make one call."""

    def __init__(self, bench: Workbench, attempt_id: str, user: ScreenSettings | SolveSettings) -> None:
        self._bench = bench
        self._attempt_id = attempt_id
        self._user = user
        self._directory = bench.run.directory / "under-way"
        self._held: tuple[Path, int] | None = None
        self._over = False
        self._changing = threading.Lock()

    def admit(self) -> GateResult | None:
        """None when the call may be made; else why not."""
        if self._bench.settings.providers[self._user.provider].kind == EMBEDDED:
            return None
        while True:
            if refusal := self._bench.refusal():
                return refusal
            if self._over:
                return error("not-run", "nobody waits for this call any more")
            if not self._bench.settings.budget.capped:
                return None
            self._directory.mkdir(exist_ok=True)
            with locked(self._directory / "lock"):
                # In this order a call that ends in between counts twice; the other way round it would not count at all.
                others = self._under_way()
                stop = budget_spent(self._bench, self._attempt_id)
                if stop is not None or self._fits(others):
                    return stop
            time.sleep(_PAUSE)

    def release(self) -> None:
        """The call is over, and what it cost is in the database."""
        with self._changing:
            held, self._held = self._held, None
        if held is not None:
            path, descriptor = held
            path.unlink(missing_ok=True)
            os.close(descriptor)

    def end(self) -> None:
        """No further call is admitted, in whatever thread it may still be waited for."""
        with self._changing:
            self._over = True
        self.release()

    def _fits(self, others: Sequence[tuple[str, float]]) -> bool:
        """Whether the call fits under the caps beside those under way; if so, it is under way from now on."""
        user = self._user
        setting = user.provider, user.model, user.reasoning, user.max_output_tokens
        known = dearest_call(self._bench.store, self._bench.run.id, *setting)
        # As long as nobody knows what a call costs, the first goes alone.
        usd = math.inf if known is None else known
        for cap, _, attempt in _caps(self._bench, self._attempt_id):
            # More may be known by now than when they began.
            beside = [max(cost, usd) for whose, cost in others if attempt is None or whose == attempt]
            paid = spent(self._bench.store, self._bench.run.id, attempt).usd
            if beside and paid + _HEADROOM * (sum(beside) + usd) > cap:
                return False
        with self._changing:
            if self._over:
                return False
            path = self._directory / f"{new_id()}.json"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            self._held = path, descriptor
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps([self._attempt_id, usd]).encode())
        return True

    def _under_way(self) -> list[tuple[str, float]]:
        """Attempt and expected cost of the calls that others are making; those of dead processes are forgotten."""
        calls = []
        for path in self._directory.glob("*.json"):
            try:
                with path.open() as file:
                    try:
                        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    except BlockingIOError:
                        attempt, usd = json.loads(file.read())
                        calls.append((attempt, usd))
                    else:
                        path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue  # it has just ended
        return calls
