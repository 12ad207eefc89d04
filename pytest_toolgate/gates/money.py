"""What calls cost, and whether another one may be made."""

from ..config import EMBEDDED, ProviderSettings
from ..providers import Tokens
from ..store.reuse import spent
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


def may_pay(bench: Workbench, attempt_id: str, pending: float = 0.0) -> GateResult | None:
    """None when the next call may be made, else the result that ends the gate.

    Args:
        bench: The workbench.
        attempt_id: The attempt that would pay.
        pending: USD it has spent on calls that are not recorded yet.
    """
    if stopped := bench.paid_work_stopped():
        return error("not-run", f"paid work of this run was stopped: {stopped}")
    budget = bench.settings.budget
    if budget.usd is not None and spent(bench.store, bench.run.id) + pending >= budget.usd:
        return error("budget", f"the run has spent its budget of {budget.usd:g} USD")
    cap = budget.usd_per_candidate
    if cap is not None and spent(bench.store, bench.run.id, attempt_id) + pending >= cap:
        return error("budget", f"the candidate has spent its budget of {cap:g} USD")
    return None
