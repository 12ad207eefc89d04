"""Several solvers: asked in their order until the outcome is decided, each recorded under its name."""

import json

import pytest
from scripted_server import SERVER_ERROR, Script, ScriptedServer, always, by_model, by_question, computing, saying

from .pool import PROVIDER, VALUE, Pool

pytestmark = pytest.mark.slow

GATE = "--toolgate-gates=solve"
FIRST = "      - {name: first, provider: fake, model: first-model, time_limit: 20, max_turns: 3}\n"
SECOND = "      - {name: second, provider: fake, model: second-model, time_limit: 20, max_turns: 3}\n"
TWO = f"    solve:\n{FIRST}{SECOND}"
SOLVES, FAILS = computing(VALUE), computing("0.058996")
DOWN = always(SERVER_ERROR)


def split(first: dict[str, Script], second: dict[str, Script]) -> Script:
    """What each solver's model does about each candidate."""
    return by_model({"first-model": by_question(first, FAILS), "second-model": by_question(second, FAILS)})


def test_each_rule_and_every_way_it_can_go(pool: Pool, server: ScriptedServer, workers: int) -> None:
    """Rows: what the first does, what the second does, and what becomes of it by each rule."""
    cases = {
        "both": (SOLVES, SOLVES, "provisional solve", "provisional solve"),
        "first": (SOLVES, FAILS, "provisional solve", "review solve wrong"),
        "second": (FAILS, SOLVES, "provisional solve", "review solve wrong"),
        "none": (FAILS, FAILS, "review solve wrong", "review solve wrong"),
        "down-solved": (DOWN, SOLVES, "provisional solve", "error solve provider"),
        "down-failed": (DOWN, FAILS, "error solve provider", "review solve wrong"),
        "failed-down": (FAILS, DOWN, "error solve provider", "review solve wrong"),
        "solved-down": (SOLVES, DOWN, "provisional solve", "error solve provider"),
    }
    for name in cases:
        pool.add(f"case-{name}")
    server.script = split(
        {f"case-{name}?": first for name, (first, *_) in cases.items()},
        {f"case-{name}?": second for name, (_, second, *_) in cases.items()},
    )
    for rule, column in (("any", 2), ("all", 3), ("2", 3)):
        pool.forget()
        pool.configure(PROVIDER, TWO, f"accept: {rule}\n", url=server.base_url)
        session = pool.run(GATE, workers=workers)
        assert session.verdicts == {f"case-{name}": case[column] for name, case in cases.items()}, rule


def test_only_who_can_change_something_is_asked(pool: Pool, server: ScriptedServer, workers: int) -> None:
    pool.add("case-solved")
    pool.add("case-failed")
    server.script = split({"case-solved?": SOLVES}, {"case-solved?": SOLVES, "case-failed?": SOLVES})
    pool.configure(PROVIDER, TWO, url=server.base_url)
    session = pool.run(GATE, workers=workers)
    asked = [(row["name"], row["solver"], row["agent"], row["control"]) for row in pool.recorded("agent_runs")]
    assert asked == [
        ("case-failed", "first", "builtin", 0),
        ("case-failed", "second", "builtin", 0),
        ("case-solved", "first", "builtin", 0),
    ]
    assert "solver `first`: 1 of 2 solved" in session.summary
    assert "solver `second`: 1 of 1 solved" in session.summary
    assert "`second` solved 1; of these `first` was asked 1 and solved 0" in session.summary
    assert "`first` solved" not in session.summary  # nobody else was asked about it

    server.forget()
    session = pool.run(GATE, "--toolgate-all-screens", workers=workers)
    assert {asked.model for asked in server.requests} == {"second-model"}
    assert session.verdicts == dict.fromkeys(("case-solved", "case-failed"), "provisional solve")
    assert "`first` solved 1; of these `second` was asked 1 and solved 1" in session.summary
    assert "`second` solved 2; of these `first` was asked 2 and solved 1" in session.summary

    server.forget()
    assert "0 model calls and agent runs made, 4 reused" in pool.run(GATE, "--toolgate-all-screens").summary
    assert server.count == 0


def test_a_review_names_each_solver_in_its_line(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    server.script = split({"first": SOLVES}, {"first": saying("Hm.")})
    pool.configure(PROVIDER, TWO, "accept: all\n", url=server.base_url)
    session = pool.run(GATE)
    line = "1 of 2 solvers solved it, 2 needed: `first` solved it; `second` no-answer: the agent left no answer.txt"
    assert session.cases["first"].headline.startswith(f"review at solve: no-answer: {line}")


def test_each_sees_an_order_of_its_own_and_is_on_the_record(pool: Pool, server: ScriptedServer) -> None:
    for number in range(4):
        pool.add(f"case-{number}")
    server.script = by_model({"first-model": SOLVES, "second-model": SOLVES})
    pool.configure(PROVIDER, TWO, "accept: all\n", url=server.base_url)
    pool.run(GATE)
    rows = pool.recorded("agent_runs")
    orders = {name: [row["presentation"] for row in rows if row["solver"] == name] for name in ("first", "second")}
    assert orders["first"] != orders["second"]
    assert [row["solver"] for row in pool.recorded("agent_replies")].count("second") == 8
    assert {json.loads(row["settings"])["name"] for row in rows} == {"first", "second"}
    assert [use["correct"] for use in pool.rows("SELECT correct FROM uses")] == [1] * 8


def test_an_edited_answer_is_graded_again_for_every_solver(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    server.script = split({"first": SOLVES}, {"first": FAILS})
    pool.configure(PROVIDER, TWO, url=server.base_url)
    pool.run(GATE, "--toolgate-all-screens")
    server.forget()
    pool.add("first", answer="A")
    session = pool.run(GATE)
    assert session.verdicts == {"first": "provisional solve"}
    assert server.count == 0
    assert "solver `second`: 1 of 1 solved" in session.summary


def test_one_agent_that_breaks_does_not_take_the_others_with_it(
    pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.write("site/broken_agent.py", "def solve(task):\n    raise ZeroDivisionError('its own mistake')\n")
    pool.write("site/broken-1.dist-info/METADATA", "Name: broken\nVersion: 1\n")
    pool.write("site/broken-1.dist-info/entry_points.txt", "[pytest_toolgate.agents]\nbroken = broken_agent:solve\n")
    monkeypatch.setenv("PYTHONPATH", str(pool.root / "site"), prepend=":")
    pool.add("first")
    broken = "      - {agent: broken, provider: fake, model: first-model}\n"
    pool.configure(PROVIDER, f"    solve:\n{broken}{SECOND}", url=server.base_url)
    server.script = by_model({"second-model": SOLVES})
    assert pool.run(GATE).verdicts == {"first": "provisional solve"}
    server.script = by_model({"second-model": FAILS})
    pool.add("first", question="Something else?")
    session = pool.run(GATE)
    assert session.verdicts == {"first": "error solve internal"}
    assert "`broken` internal: ZeroDivisionError" in session.line_about("first")


def test_two_of_one_name_are_refused_before_anything_is_asked(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, f"    solve:\n{FIRST}{FIRST}", url=server.base_url)
    session = pool.run(GATE)
    assert session.code == 4
    assert "`solve[1].name` `first` is the name of another solver too; give each a `name` of its own" in session.err


def test_a_dry_run_counts_all_and_explain_tells_of_each(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, TWO, url=server.base_url)
    server.script = by_model({"first-model": SOLVES})
    assert "at most 0 calls and 2 agent runs" in pool.run("--toolgate-dry-run", GATE).summary
    pool.run(GATE)
    session = pool.run("--toolgate-dry-run", GATE)
    assert "solver `first` (fake, first-model): at most 0 runs, 1 run reused" in session.summary
    assert "solver `second` (fake, second-model): at most 0 runs, 0 runs reused" in session.summary
    assert "and 1 agent run," in pool.run("--toolgate-dry-run", "--toolgate-all-screens", GATE).summary
