"""Codex CLI, when the server of its model fails, refuses, or wants money."""

import json
from collections.abc import Mapping

import pytest
from agent_server import (
    EXHAUSTED,
    KEY,
    LIMITED,
    UNAUTHORISED,
    AgentServer,
    Fault,
    Run,
    Say,
    Script,
    once,
    turns,
)

from .agent_cases import GATE, MARK, PASS, RIGHT, play
from .pool import Pool, processes
from .test_codex import DONE, PROVIDER, SOLVE, about

pytestmark = pytest.mark.slow

FAILS = "error solve provider"
SOLVES = turns(Run(RIGHT), DONE)
TOO_LONG = Fault(400, {"error": {"message": "too many tokens", "code": "context_length_exceeded"}})
BROKEN = Fault(raw=b'event: response.created\ndata: {"type": "response.created", "response": {"id": "resp_0"}}\n\n')
# What the model does, what becomes of the candidate, how many requests that takes, and what is said.
FAULTS: Mapping[str, tuple[Script, str, int, str]] = {
    "unauthorised": (turns(UNAUTHORISED), FAILS, 1, "the server answered 401: Incorrect API key provided."),
    "forbidden": (turns(Fault(403, {"error": {"message": "not for you"}})), FAILS, 1, "answered 403: not for you"),
    "limited-once": (once(Fault(429, LIMITED.body, {"Retry-After": "1"}), SOLVES), PASS, 3, ""),
    "limited": (turns(LIMITED), FAILS, 2, "answered 429: slow down"),
    "down-once": (once(Fault(500, {"error": {"message": "oops"}}), SOLVES), PASS, 3, ""),
    "reset": (turns(Fault(reset=True)), FAILS, 2, "no connection to"),
    "html": (turns(Fault(raw=b"<html>Sign in</html>")), FAILS, 2, "answered 200 without a reply: <html>Sign in"),
    "broken": (turns(BROKEN), FAILS, 2, "the reply broke off"),
    "broken-once": (once(BROKEN, SOLVES), PASS, 3, ""),
    "another-model": (turns(Say("Done.", model="cheaper-model")), FAILS, 1, "answered by `cheaper-model`"),
    "too-long": (turns(Run("true"), TOO_LONG), FAILS, 2, "refused its request: the server answered 400: too many"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


def test_a_failing_server_is_no_verdict(pool: Pool, model: AgentServer) -> None:
    expected = play(pool, model, {name: (script, verdict) for name, (script, verdict, *_) in FAULTS.items()})
    pool.configure(PROVIDER, SOLVE, url=model.base_url)
    session = pool.run(GATE, workers=2)

    assert session.verdicts == expected, session.out
    assert {name: len(about(model, f"case-{name}")) for name in FAULTS} == {
        name: requests for name, (_, _, requests, _) in FAULTS.items()
    }
    for name, (_, _, _, sentence) in FAULTS.items():
        headline = session.cases[f"case-{name}"].headline
        assert sentence in headline
        assert headline.count(sentence) <= 1 or not sentence
    assert KEY not in session.out
    assert not processes(MARK)


def test_an_exhausted_account_ends_all_paid_work(pool: Pool, model: AgentServer) -> None:
    play(pool, model, dict.fromkeys(("a", "b", "c"), (turns(Run("true"), EXHAUSTED), "")))
    pool.configure(PROVIDER.replace("retries", "max_concurrency: 1, retries"), SOLVE, url=model.base_url)
    session = pool.run(GATE)
    assert sorted(session.verdicts.values()) == ["error solve not-run", "error solve not-run", FAILS]
    assert len(model.requests) == 2


def test_each_call_keeps_to_the_budget(pool: Pool, model: AgentServer) -> None:
    play(pool, model, {"a": (turns(Run("echo once more")), "")})
    provider = PROVIDER.replace("max_wait: 1}}", "max_wait: 1}, prices: {agent-model: {input: 1000, output: 1000}}}")
    pool.configure(provider, SOLVE, "budget: {usd_per_candidate: 0.3}\n", url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-a": "error solve budget"}
    assert "the candidate has spent its budget of 0.3 USD" in session.cases["case-a"].headline
    assert len(model.requests) == 3
    [row] = pool.recorded("agent_runs")
    assert row["cost"] == pytest.approx(0.33)
    roles = [entry["role"] for entry in json.loads(row["transcript"])]
    assert roles == ["error", *["command"] * 3, "end"]  # the first is its complaint about a model that it does not know
