"""Never twice: whatever moment a run is killed at, what was paid for is there and is not paid for again."""

import os
import random

import pytest
from scripted_server import (
    EMPTY,
    GARBAGE,
    REFUSED,
    SERVER_ERROR,
    STALL,
    TRUNCATED,
    ScriptedServer,
    always,
    avoiding,
    by_question,
    choosing,
    in_turn,
)

from .killing import GATES, Moment, Runs
from .pool import PROVIDER, THREE_CALLS, VALUE, Pool, wait_until
from .witness import Witness

KILLS = 100
# Another seed is another hundred moments.
SEED = os.environ.get("KILLED_RUNS_SEED", "1")
RIGHT, WRONG = choosing(VALUE), avoiding(VALUE)
# What is not an answer, by the status it is recorded with.
FAILURES = {
    "failed": SERVER_ERROR,
    "truncated": TRUNCATED,
    "empty": EMPTY,
    "refused": REFUSED,
    "wrong-form": GARBAGE,
}


def _moment(dice: random.Random, number: int, due: int) -> Moment:
    """Three in ten as the run starts, two once every reply that was sent is recorded, five anywhere in between."""
    workers = 2 if number % 7 == 0 else 0
    if number % 10 in (1, 4, 7):
        return Moment(workers, delay=dice.uniform(0.0, 2.0 if workers else 1.0))
    if number % 10 in (3, 9):
        return Moment(workers, answered=dice.randrange(min(due, 8)))
    if due < 8:
        return Moment(workers, request=due + 1, delay=dice.uniform(0.0, 0.4))  # as it ends
    return Moment(workers, request=dice.randint(1, 8), delay=dice.uniform(0.0, 0.08))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_killed_runs_pay_for_nothing_twice(
    pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run asks what is not recorded and still decides something, each call in the order it always has."""
    runs = Runs(pool, Witness(server), monkeypatch)
    kills = number = 0
    while kills < KILLS:
        runs.forget()
        enough = random.Random(f"{SEED} {number} due").choice((0, 0, 4, 8))
        while kills < KILLS and len(runs.due()) > enough:
            number += 1
            moment = _moment(random.Random(f"{SEED} {number}"), number, len(runs.due()))
            alive, faults = runs.kill(moment)
            kills += alive
            assert not faults, f"run {number} (kill {kills}) of seed {SEED}, {moment}: {faults}"
        for which in ("resumed", "further"):
            faults = runs.finish()
            assert not faults, f"the {which} run after run {number} (kill {kills}) of seed {SEED}: {faults}"
        assert not runs.due()
    print(f"{number} runs, {kills} killed: {dict(runs.tally)}")
    assert runs.tally["before any call"] > 0
    assert runs.tally["calls under way"] > 0


def test_the_third_call_of_three_is_all_that_a_killed_run_leaves(
    pool: Pool, server: ScriptedServer, workers: int
) -> None:
    """H03: two replies of three are recorded and decide nothing."""
    pool.add("first")
    pool.configure(PROVIDER.replace("timeout: 5", "timeout: 60"), THREE_CALLS, url=server.base_url)
    server.script = in_turn([RIGHT, WRONG, always(STALL)])
    with pool.started(GATES, workers=workers) as run:
        wait_until(lambda: server.count == 3)
        run.kill_group()
    recorded = pool.rows("SELECT * FROM replies ORDER BY call_index")
    assert [(row["call_index"], row["status"]) for row in recorded] == [(0, "answered"), (1, "answered")]
    asked = [request.prompt for request in server.requests]
    server.forget()

    server.script = WRONG
    assert pool.run(GATES, workers=workers).verdicts == {"first": "provisional screen"}
    assert [request.prompt for request in server.requests] == asked[2:]
    rows = pool.rows("SELECT * FROM replies ORDER BY call_index")
    assert rows[:2] == recorded
    [third] = rows[2:]
    assert third["call_index"] == 2
    server.forget()
    assert pool.run(GATES, workers=workers).verdicts == {"first": "provisional screen"}
    assert [request.prompt for request in server.requests] == []


def test_what_was_no_answer_before_the_kill_is_asked_again_at_its_place(pool: Pool, server: ScriptedServer) -> None:
    """Second calls that fail in every way; the first is not asked again."""
    for status in FAILURES:
        pool.add(status)
    provider = PROVIDER.replace("timeout: 5", "timeout: 60").replace("attempts: 2", "attempts: 1")
    # One right reply rejects, so that the calls of a candidate are made one after the other.
    pool.configure(provider, THREE_CALLS.replace("reject_at: 2", "reject_at: 1"), url=server.base_url)
    server.script = by_question(
        {f"of {status}?": in_turn([WRONG, always(failure), always(STALL)]) for status, failure in FAILURES.items()},
        otherwise=always(STALL),
    )
    with pool.started(GATES) as run:
        wait_until(lambda: server.count == 3 * len(FAILURES))
        run.kill_group()
    asked = {status: _prompts(server, status) for status in FAILURES}
    before = {row["id"]: row for row in pool.recorded("replies")}
    assert sorted((row["name"], row["call_index"], row["status"]) for row in before.values()) == sorted(
        (name, index, status) for name in FAILURES for index, status in [(0, "answered"), (1, name)]
    )
    server.forget()

    server.script = WRONG
    assert set(pool.run(GATES).verdicts.values()) == {"provisional screen"}
    assert {status: _prompts(server, status) for status in FAILURES} == {
        status: prompts[1:] for status, prompts in asked.items()
    }
    after = {row["id"]: row for row in pool.recorded("replies")}
    assert {key: after[key] for key in before} == before
    for status in FAILURES:
        of_second = [row for row in after.values() if (row["name"], row["call_index"]) == (status, 1)]
        assert [row["status"] for row in of_second] == [status, "answered"]
        assert len({(row["presentation"], row["request"], row["reuse_key"]) for row in of_second}) == 1


def _prompts(server: ScriptedServer, name: str) -> list[str]:
    return [asked.prompt for asked in server.requests if f"of {name}?" in asked.prompt]
