"""What has been paid for is not paid for again, and what was not an answer is asked again."""

import re

import pytest
from scripted_server import (
    EMPTY,
    SERVER_ERROR,
    STALL,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    by_question,
    computing,
    in_turn,
)

from .pool import PROVIDER, SCREEN, SOLVE, THREE_CALLS, VALUE, VERIFY, Pool, wait_until

WRONG = avoiding(VALUE)
STRONG = "      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}\n"


def test_a_second_run_asks_nothing(pool: Pool, server: ScriptedServer, workers: int) -> None:
    pool.add("case-1")
    pool.add("case-2")
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": WRONG, "agent-model": computing(VALUE)})
    first = pool.run("-v", workers=workers)
    assert "reused)" not in first.out
    assert "4 model calls and agent runs made, 0 reused" in first.summary
    server.forget()

    second = pool.run("-v", workers=workers)
    assert server.count == 0
    assert second.verdicts == first.verdicts == {"case-1": "accepted solve", "case-2": "accepted solve"}
    assert len(re.findall(r"ACCEPTED \(reused\)", second.out)) == 2
    assert "0 model calls and agent runs made, 4 reused" in second.summary
    assert all(case.properties["reused"] == "2" for case in second.cases.values())
    assert pool.rows("SELECT count(*) AS n FROM replies") == [{"n": 2}]
    assert pool.rows("SELECT count(*) AS n FROM outcomes") == [{"n": 4}]

    pool.run("--toolgate-fresh", workers=workers)
    assert server.count == 6


def test_new_screens_and_settings_are_asked_and_old_ones_are_not(pool: Pool, server: ScriptedServer) -> None:
    """B07; and an edited answer, script or tag does not make a paid reply stale, an edited question does."""
    pool.add("first")
    server.script = WRONG

    def asked(*parts: str) -> list[str]:
        server.forget()
        pool.configure(PROVIDER, *parts, url=server.base_url)
        pool.run("--toolgate-gates=screen")
        return [request.model for request in server.requests]

    assert asked(SCREEN) == ["screen-model"]
    assert asked(SCREEN + STRONG) == ["strong-model"]
    assert asked(SCREEN.replace("samples: 1", "samples: 1, reasoning: low") + STRONG) == ["screen-model"]
    assert server.requests[0].body["reasoning"] == {"effort": "low"}
    assert asked(SCREEN + STRONG) == []
    pool.add("first", "import scipy\nprint('ANSWER: 0.061291')", answer="D", tags=["new"])
    assert asked(SCREEN + STRONG) == []
    pool.add("first", question="What else?")
    assert asked(SCREEN) == ["screen-model"]


def test_an_edited_answer_grades_recorded_replies_again(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = lambda asked: WRONG(asked)
    pool.run("--toolgate-gates=screen")
    [reply] = pool.rows("SELECT chosen FROM replies")
    pool.add("first", answer=reply["chosen"])
    session = pool.run("--toolgate-gates=screen")
    assert session.verdicts == {"first": "rejected screen too-easy"}
    assert server.count == 1


def test_a_failure_is_not_kept_as_a_reply(pool: Pool, server: ScriptedServer) -> None:
    """B09."""
    pool.add("case-down")
    pool.add("case-empty")
    pool.configure(PROVIDER.replace("attempts: 2", "attempts: 1"), SCREEN, url=server.base_url)
    server.script = by_question({"case-down": always(SERVER_ERROR)}, always(EMPTY))
    assert set(pool.run("--toolgate-gates=screen").verdicts.values()) == {
        "error screen provider",
        "error screen inconclusive",
    }
    prompts = sorted(asked.prompt for asked in server.requests)
    server.forget()
    server.script = WRONG
    assert set(pool.run("--toolgate-gates=screen").verdicts.values()) == {"provisional screen"}
    assert sorted(asked.prompt for asked in server.requests) == prompts


@pytest.mark.parametrize(("reject_at", "more"), [(1, 1), (2, 0)], ids=["undecided", "decided"])
def test_a_killed_run_goes_on_where_it_was(pool: Pool, server: ScriptedServer, reject_at: int, more: int) -> None:
    """H03: two of three replies recorded; the third is asked for only if it can still matter."""
    pool.add("first")
    pool.configure(PROVIDER, THREE_CALLS.replace("reject_at: 2", f"reject_at: {reject_at}"), url=server.base_url)
    server.script = in_turn([WRONG, WRONG, always(STALL)])
    with pool.started("--toolgate-gates=screen") as process:
        wait_until(lambda: server.count == 3)
        process.kill_group()
    assert pool.rows("SELECT call_index FROM replies ORDER BY call_index") == [
        {"call_index": 0},
        {"call_index": 1},
    ]

    server.script = WRONG
    session = pool.run("--toolgate-gates=screen", "-v")
    assert session.verdicts == {"first": "provisional screen"}
    assert server.count == 3 + more
    assert session.cases["first"].properties["reused"] == "2"
    if more:
        assert "(partly reused)" in session.out
        assert server.requests[3].prompt == server.requests[2].prompt
        rows = pool.rows("SELECT call_index, presentation FROM replies ORDER BY call_index")
        assert [row["call_index"] for row in rows] == [0, 1, 2]


def test_another_seed_is_another_presentation(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = WRONG
    prompts = []
    for seed in ("0", "1"):
        server.forget()
        pool.run("--toolgate-gates=screen", f"--toolgate-seed={seed}")
        prompts.append([asked.prompt for asked in server.requests])
    assert len(prompts[0]) == len(prompts[1]) == 3
    assert prompts[0] != prompts[1]
