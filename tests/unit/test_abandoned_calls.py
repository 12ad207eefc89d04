"""A call that a solver has no time left for is paid all the same, and counts into the budget."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_server import HANG, INPUT, KEY, OUTPUT, AgentServer, Fault, Say, turns

from pytest_toolgate.config import Budget, Prices, ProviderSettings, Retries, Settings, SolveSettings
from pytest_toolgate.gates import Workbench
from pytest_toolgate.gates.agent_calls import AgentCalls
from pytest_toolgate.gates.money import Admission, budget_spent
from pytest_toolgate.providers import Call, Message, Request
from pytest_toolgate.store.spending import dearest_call, spent

from .benches import workbench

# In USD per million.
PRICES = Prices(1.0, None, 10.0)
ENOUGH = 1_000_000.0
BODY = json.dumps({"model": "m", "input": [{"role": "user", "content": "What is it?" * 100}]}).encode()
ASKED = len(BODY) // 3 * 1.0 / 1e6
Open = Callable[[SolveSettings], tuple[Workbench, AgentCalls]]


@pytest.fixture
def open_calls(model: AgentServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("AGENT_KEY", KEY)

    def opened(solver: SolveSettings) -> tuple[Workbench, AgentCalls]:
        lab = ProviderSettings("lab", "openai", base_url=model.base_url, api_key_env="AGENT_KEY",
                               prices={"m": PRICES}, retries=Retries(1, 1.0))  # fmt: skip
        bench = workbench(tmp_path, Settings(providers={"lab": lab}, budget=Budget(ENOUGH)))
        admission = Admission(bench, "a", solver)
        return bench, AgentCalls(
            bench.provider("lab"), bench, "a", solver, admission, False, lambda data, where="": None
        )

    return opened


def solver(cap: int | None = None) -> SolveSettings:
    return SolveSettings(provider="lab", model="m", max_output_tokens=cap)


def call(deadline: float) -> Call:
    return Call("responses", "responses", BODY, {"content-type": "application/json"}, "m", deadline)


def statuses(bench: Workbench) -> list[tuple[str, float | None]]:
    rows = bench.store.query("SELECT status, cost FROM agent_replies ORDER BY number")
    return [(row["status"], row["cost"]) for row in rows]


def test_with_a_cap_it_costs_what_the_reply_could_have(open_calls: Open, model: AgentServer) -> None:
    model.script = turns(HANG)
    bench, calls = open_calls(solver(cap=2000))
    assert calls.pass_on(call(0.3)).response.status == "failed"
    [(status, usd)] = statuses(bench)
    assert status == "abandoned"
    assert usd == pytest.approx(ASKED + 2000 * 10.0 / 1e6)
    assert spent(bench.store, bench.run.id).usd > ASKED
    assert budget_spent(bench) is None
    # It is no measure of what a call costs.
    assert dearest_call(bench.store, bench.run.id, "lab", "m", None, 2000) is None


def test_without_one_it_costs_as_much_as_the_dearest(open_calls: Open, model: AgentServer) -> None:
    bench, calls = open_calls(solver())
    model.script = turns(Say("B"))
    calls.pass_on(call(20))
    model.script = turns(HANG)
    calls.pass_on(call(0.3))
    [(_, known), (status, usd)] = statuses(bench)
    assert known is not None
    assert known > (INPUT * 0.5 + OUTPUT * 10.0) / 1e6
    assert status == "abandoned"
    assert usd == pytest.approx(ASKED + known)


def test_where_nobody_knows_no_budget_can_be_kept(open_calls: Open, model: AgentServer) -> None:
    model.script = turns(HANG)
    bench, calls = open_calls(solver())
    calls.pass_on(call(0.3))
    assert statuses(bench) == [("abandoned", None)]
    stop = budget_spent(bench)
    assert stop is not None
    assert "1 call whose cost is unknown" in stop.sentence


def test_it_holds_for_the_built_in_agent(open_calls: Open, model: AgentServer) -> None:
    model.script = turns(HANG)
    bench, calls = open_calls(solver(cap=2000))
    calls.ask(Request("m", (Message("user", "What is it?"),), max_output_tokens=2000, deadline=0.3))
    [(status, usd)] = statuses(bench)
    assert status == "abandoned"
    assert usd is not None
    assert 0.02 < usd < 0.021


def test_a_call_that_the_server_answers_with_an_error_costs_nothing(open_calls: Open, model: AgentServer) -> None:
    model.script = turns(Fault(500, {"error": {"message": "no"}}))
    bench, calls = open_calls(solver())
    calls.pass_on(call(20))
    assert statuses(bench) == [("failed", None)]
    assert budget_spent(bench) is None
