"""The outcomes as the terminal, the exit code, JUnit and the database show them."""

import re

import pytest
from scripted_server import (
    SERVER_ERROR,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    by_question,
    choosing,
    computing,
)

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

VERDICTS = {
    "a-good": "accepted solve",
    "b-form": "rejected lint bad-answer",
    "c-other": "rejected verify mismatch",
    "d-easy": "rejected screen too-easy",
    "e-hard": "review solve wrong",
    "f-down": "error screen provider",
}


def _play(pool: Pool, server: ScriptedServer) -> None:
    for name in VERDICTS:
        pool.add(name)
    pool.add("b-form", answer="E")
    pool.add("c-other", 'import scipy\nprint("ANSWER: 0.060074")')
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model(
        {
            "screen-model": by_question({"d-easy": choosing(VALUE), "f-down": always(SERVER_ERROR)}, avoiding(VALUE)),
            "agent-model": by_question({"e-hard": computing("0.058996")}, computing(VALUE)),
        }
    )


def test_one_outcome_per_candidate_everywhere(pool: Pool, server: ScriptedServer, workers: int) -> None:
    _play(pool, server)
    session = pool.run("-v", workers=workers)

    assert session.code == 1
    assert session.verdicts == VERDICTS
    assert {name: case.tag for name, case in session.cases.items()} == {
        "a-good": "passed",
        "b-form": "failure",
        "c-other": "failure",
        "d-easy": "failure",
        "e-hard": "failure",
        "f-down": "error",
    }
    for name, case in session.cases.items():
        if case.tag != "passed":
            head, reason = case.verdict.rsplit(" ", 1)
            assert re.fullmatch(rf"{head.replace(' ', ' at ')}: {reason}: \S.+", case.headline), case.text
            assert case.headline in session.line_about(name)
        assert "Traceback" not in case.text

    for name, word in {
        "a-good": "ACCEPTED",
        "d-easy": "REJECTED too-easy",
        "f-down": "ERROR provider",
    }.items():
        assert re.search(rf"{name}.*{word}|{word}.*{name}", session.out), session.out
    assert re.search(r"4 failed, 1 passed, 1 error", session.out)
    assert re.search(r"lint +6 in +5 passed +1 rejected \(1 bad-answer\)", session.summary)
    assert re.search(r"verify +5 in +4 passed +1 rejected \(1 mismatch\)", session.summary)
    assert re.search(r"screen +4 in +2 passed +1 rejected \(1 too-easy\) +1 without verdict", session.summary)
    assert re.search(r"solve +2 in +1 passed +1 review \(1 wrong\)", session.summary)

    [run] = pool.rows("SELECT id FROM runs")
    fingerprints = {row["path"]: row["fingerprint"] for row in pool.rows("SELECT path, fingerprint FROM attempts")}
    for name, case in session.cases.items():
        assert case.properties["run"] == run["id"]
        assert case.properties["fingerprint"] == (fingerprints[f"candidates/{name}.yaml"] or "")
    recorded = pool.rows(
        "SELECT path, outcome, gate, reason FROM outcomes JOIN attempts ON attempts.id = outcomes.attempt_id"
    )
    assert {row["path"]: " ".join(filter(None, (row["outcome"], row["gate"], row["reason"]))) for row in recorded} == {
        f"candidates/{name}.yaml": verdict for name, verdict in VERDICTS.items()
    }
    assert pool.accepted() == ["a-good"]
    assert not list(pool.temporary.iterdir())


@pytest.mark.parametrize("gates", ["lint", "lint,verify"])
def test_passing_some_of_the_gates_is_provisional(pool: Pool, gates: str) -> None:
    pool.add("first")
    session = pool.run("--toolgate-gates", gates)
    assert session.code == 0
    assert session.verdicts == {"first": f"provisional {gates.split(',')[-1]}"}
    assert session.cases["first"].tag == "passed"
    assert pool.accepted() == []


def test_passing_what_is_configured_is_provisional_when_that_is_not_all(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, VERIFY, SCREEN, url=server.base_url)
    server.script = avoiding(VALUE)
    assert pool.run().verdicts == {"first": "provisional screen"}


def test_errors_alone_do_not_exit_with_zero(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = always(SERVER_ERROR)
    session = pool.run("--toolgate-gates=screen")
    assert session.code == 1
    assert session.verdicts == {"first": "error screen provider"}
    assert session.cases["first"].tag == "error"
