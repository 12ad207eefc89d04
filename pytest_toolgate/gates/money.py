"""What calls cost, and whether another one may be made."""

from ..config import EMBEDDED, ProviderSettings
from ..providers import Tokens
from ..store.spending import spent
from .result import GateResult, error
from .workbench import Workbench


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


def may_pay(bench: Workbench, attempt_id: str, provider: ProviderSettings) -> GateResult | None:
    """None when the next call to a provider may be made, else the result that ends the gate.

    To be asked when the call's place is held: while it waited, another process may have spent the last of it.
    """
    if provider.kind == EMBEDDED:
        return None
    if stopped := bench.paid_work_stopped():
        return error("not-run", f"paid work of this run was stopped: {stopped}")
    budget = bench.settings.budget
    for cap, whose, attempt in (
        (budget.usd, "the run", None),
        (budget.usd_per_candidate, "the candidate", attempt_id),
    ):
        if cap is None:
            continue
        paid = spent(bench.store, bench.run.id, attempt)
        if paid.usd >= cap:
            return error("budget", f"{whose} has spent its budget of {cap:g} USD")
        if paid.unknown:
            calls = "call" if paid.unknown == 1 else "calls"
            return error(
                "budget", f"{whose} has made {paid.unknown} {calls} whose cost is unknown, so no budget can be kept"
            )
    return None
