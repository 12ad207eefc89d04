"""After a solve the same is done where the software is missing: solved there too, it was not needed."""

import json

import pytest
from scripted_server import (
    QUOTA,
    SERVER_ERROR,
    Asked,
    Reply,
    Script,
    ScriptedServer,
    avoiding,
    by_model,
    by_question,
    computing,
    running,
    saying,
)

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, Pool

GATE = "--toolgate-gates=solve"
CONTROL = SOLVE.replace("max_turns: 3", "max_turns: 3, control: true")
STRICT = SOLVE.replace("max_turns: 3", "max_turns: 3, control: true, reject_if_control_solves: true")
WITHOUT = """
import json
import numpy
options = json.load(open("problem.json"))["options"]
letter = next(letter for letter, text in options.items() if text == "0.060723")
open("answer.txt", "w").write(letter)
"""
WITH_SOFTWARE, WITHOUT_SOFTWARE = running(f"import scipy.special\nscipy.special.j0(0)\n{WITHOUT}"), running(WITHOUT)


def failing_as_control(solves: Script, reply: Reply) -> Script:
    """A model that does as it should in its first conversation, and then fails."""
    conversations: list[str] = []

    def script(asked: Asked) -> Reply:
        conversations.append(asked.prompt)
        return solves(asked) if asked.prompt == conversations[0] else reply

    return script


def needed(pool: Pool) -> dict[str, str | None]:
    """Id of each accepted item -> whether the software was needed."""
    return {
        name: json.loads((pool.root / f"accepted/{name}.json").read_text("utf-8"))["record"]["needed"]
        for name in pool.accepted()
    }


def test_whether_the_software_was_needed_is_on_the_record(pool: Pool, server: ScriptedServer, workers: int) -> None:
    for name in ("case-needed", "case-not", "case-failed"):
        pool.add(name)
    pool.configure(PROVIDER, SCREEN, "verify: {repeats: 1}\n", CONTROL, url=server.base_url)
    agent = by_question({"case-needed?": WITH_SOFTWARE, "case-not?": WITHOUT_SOFTWARE}, computing("0.058996"))
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": agent})
    session = pool.run(workers=workers)
    assert session.verdicts == {
        "case-needed": "accepted solve",
        "case-not": "accepted solve",
        "case-failed": "review solve wrong",
    }
    assert needed(pool) == {"case-needed": "yes", "case-not": "no"}
    assert "warning: solved without the software being there" in session.line_about("case-not")
    assert "case-needed." not in session.summary
    assert "control runs of `builtin`: 1 needed the software, 1 did not" in session.summary
    rows = [(row["name"], row["control"], row["outcome"], row["used"]) for row in pool.recorded("agent_runs")]
    assert rows == [
        ("case-failed", 0, "review", '["scipy"]'),
        ("case-needed", 0, "passed", '["scipy"]'),
        ("case-needed", 1, "review", "[]"),
        ("case-not", 0, "passed", "[]"),
        ("case-not", 1, "passed", "[]"),
    ]

    server.forget()
    session = pool.run(workers=workers)
    assert server.count == 0
    assert needed(pool) == {"case-needed": "yes", "case-not": "no"}
    assert "control runs of `builtin`: 1 needed the software, 1 did not" in session.summary


def test_what_needs_no_software_can_be_rejected(pool: Pool, server: ScriptedServer, workers: int) -> None:
    pool.add("case-needed")
    pool.add("case-not")
    pool.configure(PROVIDER, STRICT, url=server.base_url)
    server.script = by_question({"case-needed?": WITH_SOFTWARE}, WITHOUT_SOFTWARE)
    session = pool.run(GATE, workers=workers)
    assert session.verdicts == {"case-needed": "provisional solve", "case-not": "rejected solve tool-not-needed"}
    assert session.cases["case-not"].tag == "failure"
    sentence = "the agent `builtin` solved it also where `scipy` could not be imported"
    assert session.cases["case-not"].headline == f"rejected at solve: tool-not-needed: {sentence}"
    assert "1 rejected (1 tool-not-needed)" in session.summary


def test_the_same_agent_sees_other_letters_and_no_software(pool: Pool, server: ScriptedServer) -> None:
    for number in range(4):
        pool.add(f"case-{number}")
    pool.configure(PROVIDER, CONTROL, url=server.base_url)
    look = "import json, importlib.util\nprint('THERE', importlib.util.find_spec('scipy') is not None)"
    server.script = running(f"{look}\n{WITHOUT}")
    pool.run(GATE)
    rows = pool.recorded("agent_runs")
    solves, controls = ([row for row in rows if row["control"] == which] for which in (0, 1))
    assert [row["presentation"] for row in solves] != [row["presentation"] for row in controls]
    assert {row["reuse_key"] for row in solves} & {row["reuse_key"] for row in controls} == set()
    for row in rows:
        [command] = [entry for entry in json.loads(row["transcript"]) if entry["role"] == "command"]
        assert command["stdout"].strip() == f"THERE {not row['control']}"
    for name in ("settings", "seed", "agent", "solver"):
        assert {row[name] for row in solves} == {row[name] for row in controls}


@pytest.mark.parametrize(
    ("solve", "verdict", "needs"),
    [(CONTROL, "provisional solve", "unknown"), (STRICT, "error solve provider", None)],
    ids=["reported", "rejecting"],
)
def test_a_control_run_that_fails_is_no_verdict(
    pool: Pool, server: ScriptedServer, solve: str, verdict: str, needs: str | None
) -> None:
    pool.add("first")
    pool.configure(PROVIDER, solve, url=server.base_url)
    server.script = failing_as_control(WITH_SOFTWARE, SERVER_ERROR)
    session = pool.run(GATE)
    assert session.verdicts == {"first": verdict}
    assert "whether the software was needed is not known: the agent's model failed" in session.line_about("first")
    assert "1 unknown" in session.summary
    # The solve is not paid for again; the control run is.
    server.forget()
    server.script = WITH_SOFTWARE
    session = pool.run(GATE)
    assert session.verdicts == {"first": "provisional solve"}
    assert "1 model calls and agent runs made, 1 reused" in session.summary


def test_control_runs_count_for_the_budget(pool: Pool, server: ScriptedServer) -> None:
    """One reply has 100 tokens in and 10 out, which is 0.2 USD: after the solve there is nothing left."""
    pool.add("first")
    prices = "        prices: {agent-model: {input: 1000, output: 10000}}\n"
    pool.configure(PROVIDER + prices, STRICT, "budget: {usd_per_candidate: 0.1}\n", url=server.base_url)
    server.script = WITH_SOFTWARE
    session = pool.run(GATE)
    assert session.verdicts == {"first": "error solve budget"}
    assert [(row["control"], row["outcome"]) for row in pool.recorded("agent_runs")] == [(0, "passed")]
    server.forget()
    pool.configure(PROVIDER + prices, STRICT, "budget: {usd_per_candidate: 10}\n", url=server.base_url)
    assert pool.run(GATE).verdicts == {"first": "provisional solve"}
    paid = pool.rows("SELECT cost FROM agent_replies WHERE control")
    assert [round(row["cost"], 3) for row in paid] == [0.2] * server.count


def test_an_exhausted_account_in_a_control_run_stops_all_that_is_paid(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, STRICT, url=server.base_url)
    server.script = failing_as_control(WITH_SOFTWARE, QUOTA)
    session = pool.run(GATE)
    assert session.verdicts["first"].startswith("error solve ")
    assert "paid work of this run was stopped" in session.summary


def test_where_nothing_can_be_hidden_a_control_run_is_an_error_and_no_result(
    pool: Pool, server: ScriptedServer
) -> None:
    pool.add("first")
    server.script = WITHOUT_SOFTWARE
    for solve, verdict in ((STRICT, "error solve sandbox"), (CONTROL, "provisional solve")):
        pool.configure("sandbox: none\n", PROVIDER, solve, url=server.base_url)
        session = pool.run(GATE)
        assert session.verdicts == {"first": verdict}
        told = (
            "the software of the domain `scipy` cannot be hidden from a control run: the package `scipy` is still there"
        )
        assert f"whether the software was needed is not known: {told}; control runs need `sandbox:" in session.summary
    assert [row["control"] for row in pool.recorded("agent_runs")] == [0]


def test_control_runs_are_foretold_and_explained(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, CONTROL, url=server.base_url)
    session = pool.run("--toolgate-dry-run", GATE)
    assert "control of agent `builtin` (fake, agent-model): at most 1 run, 0 runs reused" in session.summary
    assert "at most 0 calls and 2 agent runs" in session.summary
    server.script = saying("Hm.")
    pool.run(GATE)
    session = pool.run("--toolgate-dry-run", GATE)
    assert "control of agent `builtin` (fake, agent-model): at most 0 runs, 0 runs reused" in session.summary
