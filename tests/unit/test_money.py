"""What calls cost, and whether another one may be made."""

from collections.abc import Callable

import pytest

from pytest_toolgate.config import Prices, ProviderSettings
from pytest_toolgate.gates import Workbench
from pytest_toolgate.gates.money import Admission, budget_spent, cost, paying
from pytest_toolgate.providers import Tokens

from .benches import LAB, LIGHT, LOCAL, MODEL, OWN, Make, record


def record_preflight(own: Workbench, usd: float) -> None:
    """A request that only tried out the server."""
    own.store.append("preflights", {
        "run_id": own.run.id, "provider": "lab", "base_url": "u", "settings": {}, "status": "complete", "text": "",
        "note": "", "cost": usd, "requests": 1, "latency": 0.1,
    })  # fmt: skip


def record_turn(own: Workbench, usd: float, attempt: str = "a") -> None:
    """A reply of an agent's model."""
    own.store.append("agent_replies", {
        "attempt_id": attempt, "run_id": own.run.id, "number": 1, "provider": "lab", "base_url": "u",
        "model_asked": MODEL, "status": "complete", "text": "", "note": "", "cost": usd, "requests": 1, "latency": 0.1,
    })  # fmt: skip


# --- what a call costs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prices", "tokens", "usd"),
    [
        (Prices(1, None, 4), Tokens(1_000_000, None, 500_000), 3.0),
        (Prices(1, 0.1, 4), Tokens(1_000_000, 1_000_000, 0), 0.1),
        (Prices(1, None, 4), Tokens(1_000_000, 400_000, 0), 1.0),
        (Prices(1, 0, 4), Tokens(1_000_000, 2_000_000, 0), 0.0),
        (Prices(0, None, 0), Tokens(5, None, 5), 0.0),
        (Prices(1, None, None), Tokens(5, None, 5), None),
        (Prices(None, 1, 1), Tokens(5, None, 5), None),
        (Prices(1, None, 1), Tokens(None, None, 5), None),
        (Prices(1, None, 1), Tokens(5, None, None), None),
    ],
)
def test_the_cost_follows_prices_and_tokens_and_unknown_is_not_nothing(
    prices: Prices, tokens: Tokens, usd: float | None
) -> None:
    assert cost(ProviderSettings("lab", prices={MODEL: prices}), MODEL, tokens) == usd


def test_a_model_without_a_price_costs_nobody_knows_what_and_the_embedded_one_nothing() -> None:
    assert cost(LAB, "other", Tokens(5, None, 5)) is None
    assert cost(OWN, "any", Tokens()) == 0.0


# --- whether another call may be made -----------------------------------------------------------------------


def test_without_a_budget_nothing_is_kept_and_nobody_waits(make: Make) -> None:
    own = make()
    record(own, usd=None)
    entries = [Admission(own, f"a{number}", LIGHT) for number in range(20)]
    assert [entry.admit() for entry in entries] == [None] * 20
    assert not (own.run.directory / "under-way").exists()
    for entry in entries:
        entry.release()


@pytest.mark.parametrize("caps", [{}, {"usd": 5}])
def test_once_paid_work_is_stopped_no_call_is_made(make: Make, caps: dict[str, float]) -> None:
    own = make(**caps)
    own.stop_paid_work("provider `lab`: the account is empty")
    with paying(own, "a", LIGHT) as stop:
        assert stop is not None
        assert (stop.verdict, stop.reason) == ("error", "not-run")
        assert stop.sentence == "paid work of this run was stopped: provider `lab`: the account is empty"


def test_the_embedded_model_is_asked_whatever_was_spent(make: Make) -> None:
    own = make(usd=0, per_candidate=0)
    own.stop_paid_work("the account is empty")
    assert Admission(own, "a", LOCAL).admit() is None


@pytest.mark.parametrize("pay", [record, record_turn, record_preflight])
def test_all_that_is_paid_counts_into_the_budget_of_the_run(make: Make, pay: Callable[..., None]) -> None:
    own = make(usd=1)
    pay(own, usd=0.5)
    assert budget_spent(own) is None
    pay(own, usd=0.5)
    stop = budget_spent(own)
    assert stop is not None
    assert (stop.reason, stop.sentence) == ("budget", "the run has spent its budget of 1 USD")
    assert budget_spent(own, "whoever") == stop


def test_a_candidate_pays_for_its_own_calls_alone(make: Make) -> None:
    own = make(per_candidate=0.5)
    record(own, "a", 0.25)
    record_turn(own, 0.25, "a")
    record(own, "b", 0.25)
    record_preflight(own, 100)
    stop = budget_spent(own, "a")
    assert stop is not None
    assert stop.sentence == "the candidate has spent its budget of 0.5 USD"
    assert budget_spent(own, "b") is None
    assert budget_spent(own) is None


def test_another_run_in_the_database_begins_at_zero(make: Make) -> None:
    own = make(usd=1)
    record(own, usd=100, run_id="earlier")
    assert budget_spent(own) is None


def test_a_call_of_unknown_cost_ends_the_paying_and_a_failed_one_does_not(make: Make) -> None:
    own = make(usd=1)
    record(own, usd=None, status="failed")
    assert budget_spent(own) is None
    record(own, usd=None, status="wrong-form")
    stop = budget_spent(own)
    assert stop is not None
    assert (stop.reason, "whose cost is unknown" in stop.sentence) == ("budget", True)
