"""Providers that fail: quota, rate limits, no key, and what that does to the other candidates."""

import time

from scripted_server import (
    QUOTA,
    Reply,
    ScriptedServer,
    always,
    avoiding,
    by_question,
    choosing,
    in_turn,
    rate_limited,
)

from .pool import PROVIDER, SCREEN, THREE_CALLS, VALUE, Pool

ONE = "--toolgate-gates=screen"


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


def test_an_exhausted_account_is_asked_once(pool: Pool, server: ScriptedServer, workers: int) -> None:
    """D09: one request in all, and every candidate still has its testcase."""
    for name in ("case-1", "case-2", "case-3"):
        pool.add(name)
    pool.add("case-4", answer="E")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = always(QUOTA)
    session = pool.run(ONE, workers=workers)
    # Each worker may have had a request under way when the first was refused.
    assert 1 <= server.count <= max(1, workers)
    assert session.verdicts == {
        "case-1": "error screen not-run",
        "case-2": "error screen not-run",
        "case-3": "error screen not-run",
        "case-4": "rejected lint bad-answer",
    }
    assert "You exceeded your current quota" in session.line_about("case-3")
    server.script = avoiding(VALUE)
    assert pool.run(ONE).verdicts["case-1"] == "provisional screen"


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
    pool.configure(PROVIDER.rstrip() + "\n    " + prices, SCREEN, "budget: {usd: 1}\n", url=server.base_url)
    server.script = avoiding(VALUE)
    session = pool.run(ONE)
    assert session.verdicts == {"case-1": "provisional screen", "case-2": "error screen budget"}
    assert server.count == 1
    assert "cost 1.1000 USD" in session.summary
