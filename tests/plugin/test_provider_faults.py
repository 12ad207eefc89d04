"""Providers that fail: quota, rate limits, no key, and what that does to the other candidates."""

import dataclasses
import itertools
import time
from collections import Counter

import pytest
from scripted_server import (
    GARBAGE,
    QUOTA,
    Asked,
    Reply,
    ScriptedServer,
    always,
    avoiding,
    by_question,
    choosing,
    in_turn,
    rate_limited,
    saying,
)
from wire_faults import EXHAUSTED

from .pool import PROVIDER, SCREEN, THREE_CALLS, VALUE, Pool

pytestmark = pytest.mark.slow

ONE = "--toolgate-gates=screen"
ONE_AT_A_TIME = PROVIDER.rstrip() + "\n        max_concurrency: 1\n"


def test_all_calls_failing_lets_nothing_through(pool: Pool, server: ScriptedServer, workers: int) -> None:
    """D01: the polarity of a screen is treacherous."""
    for name in ("a", "b"):
        pool.add(f"case-{name}")
    pool.configure(PROVIDER.replace("attempts: 2", "attempts: 1"), THREE_CALLS, url="http://127.0.0.1:9/v1")
    session = pool.run(ONE, workers=workers)
    assert session.code == 1
    assert set(session.verdicts.values()) == {"error screen provider"}
    assert pool.accepted() == []


def test_one_failure_stays_with_its_candidate(pool: Pool, server: ScriptedServer, workers: int) -> None:
    """D15."""
    for name in ("case-1", "case-2", "case-3"):
        pool.add(name)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    bad = Reply(status=400, error={"message": "no"})
    server.script = by_question({"case-2": always(bad), "case-3": choosing(VALUE)}, avoiding(VALUE))
    assert pool.run(ONE, workers=workers).verdicts == {
        "case-1": "provisional screen",
        "case-2": "error screen provider",
        "case-3": "rejected screen too-easy",
    }


@pytest.mark.parametrize("found", ["preflight", "call"])
def test_an_exhausted_account_is_asked_once(pool: Pool, server: ScriptedServer, workers: int, found: str) -> None:
    """D09: one request in all, and every candidate still has its testcase."""
    for name in ("case-1", "case-2", "case-3"):
        pool.add(name)
    pool.add("case-4", answer="E")
    pool.configure(ONE_AT_A_TIME, THREE_CALLS, url=server.base_url)
    if found == "preflight":
        server.preflight = always(QUOTA)
    server.script = always(QUOTA)
    session = pool.run(ONE, workers=workers)
    assert (len(server.preflights), server.count) == (1, 0 if found == "preflight" else 1)
    assert session.verdicts == {
        "case-1": "error screen not-run",
        "case-2": "error screen not-run",
        "case-3": "error screen not-run",
        "case-4": "rejected lint bad-answer",
    }
    assert "You exceeded your current quota" in session.line_about("case-3")
    server.preflight = saying("OK")
    server.script = avoiding(VALUE)
    assert pool.run(ONE).verdicts["case-1"] == "provisional screen"


@pytest.mark.parametrize("way", ["429", "200"])
def test_an_account_that_runs_out_on_the_way_stops_the_run(
    pool: Pool, server: ScriptedServer, workers: int, way: str
) -> None:
    """D09: what is under way comes to its end, and nothing else is begun; what was decided stays decided."""
    names = [f"case-{number:02}" for number in range(30)]
    for name in names:
        pool.add(name)
    pool.configure(PROVIDER.rstrip() + "\n        max_concurrency: 4\n", SCREEN, url=server.base_url)
    arrived = itertools.count(1)

    def script(asked: Asked) -> Reply:
        if next(arrived) == 12:
            return EXHAUSTED[way]
        return dataclasses.replace(avoiding(VALUE)(asked), delay=0.05)

    server.script = script
    session = pool.run(ONE, workers=workers)
    # The other three places may each have been between one call and the next.
    assert 12 <= server.count <= 12 + 3
    assert set(session.verdicts) == set(names)
    verdicts = Counter(session.verdicts.values())
    assert verdicts == {
        "provisional screen": server.count - 1,
        "error screen not-run": len(names) - (server.count - 1),
    }
    bought = server.count - 1

    server.forget()
    server.script = avoiding(VALUE)
    assert set(pool.run(ONE, workers=workers).verdicts.values()) == {"provisional screen"}
    assert server.count == len(names) - bought


def test_a_call_that_waits_to_be_made_again_is_not_made_on_an_exhausted_account(
    pool: Pool, server: ScriptedServer
) -> None:
    """D09."""
    for name in ("case-1", "case-2"):
        pool.add(name)
    pool.configure(PROVIDER.replace("max_wait: 1", "max_wait: 20"), SCREEN, url=server.base_url)
    server.script = by_question(
        {
            "case-1": always(dataclasses.replace(rate_limited(3), delay=1)),
            "case-2": always(dataclasses.replace(QUOTA, delay=2)),
        },
        always(GARBAGE),
    )
    session = pool.run(ONE)
    assert server.count == 2
    assert session.verdicts["case-2"] == "error screen not-run"
    assert session.verdicts["case-1"].startswith("error screen ")


def test_a_long_wait_is_not_waited_for_and_a_short_one_is(pool: Pool, server: ScriptedServer) -> None:
    """D11."""
    for name in ("long", "short", "plain"):
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    wrong = avoiding(VALUE)
    server.script = by_question(
        {
            "case-long": in_turn([always(rate_limited(300)), wrong]),
            "case-short": in_turn([always(rate_limited(1)), wrong]),
            "case-plain": in_turn([always(rate_limited()), wrong]),
        },
        wrong,
    )
    begun = time.monotonic()
    session = pool.run(ONE)
    assert time.monotonic() - begun < 20
    assert session.verdicts == {
        "case-long": "error screen provider",
        "case-short": "provisional screen",
        "case-plain": "provisional screen",
    }
    assert "429" in session.line_about("case-long")
    rows = pool.recorded("replies")
    assert [(row["name"], row["status"], row["requests"]) for row in rows] == [
        ("case-long", "failed", 1),
        ("case-plain", "answered", 2),
        ("case-short", "answered", 2),
    ]
    assert rows[2]["latency"] >= 1


def test_a_key_that_is_not_set_is_named(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER.replace("CANARY_KEY", "NO_SUCH_KEY"), SCREEN, url=server.base_url)
    session = pool.run(ONE)
    assert session.verdicts == {"first": "error screen provider"}
    assert "NO_SUCH_KEY" in session.line_about("first")
    assert server.count == 0


def test_a_budget_that_is_spent_stops_the_calls(pool: Pool, server: ScriptedServer) -> None:
    for name in ("case-1", "case-2"):
        pool.add(name)
    prices = "    prices: {screen-model: {input: 10000, output: 10000}}\n"
    pool.configure(PROVIDER.rstrip() + "\n    " + prices, SCREEN, "budget: {usd: 2}\n", url=server.base_url)
    server.script = avoiding(VALUE)
    session = pool.run(ONE)
    assert sorted(session.verdicts.values()) == ["error screen budget", "provisional screen"]
    # Trying the model out costs as much as a call.
    assert (len(server.preflights), server.count) == (1, 1)
    assert "cost 2.2000 USD" in session.summary
