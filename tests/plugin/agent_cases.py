"""What every agent with a program of its own is tried with, and what must be on the record of it."""

import json
import os
from collections.abc import Mapping
from typing import Any

from agent_server import CACHED, INPUT, OUTPUT, AgentServer, Script, by_question

from .pool import Pool, Session

GATE = "--toolgate-gates=solve"
PASS = "provisional solve"
RIGHT = (
    'python -c \'import json, scipy; o = json.load(open("problem.json"))["options"]; '
    'open("answer.txt", "w").write(next(k for k, v in o.items() if v == "0.060723"))\''
)
WRONG = RIGHT.replace("0.060723", "0.058996")
# In the question, and so in the command of each program of these tests that is given it, and of no other's.
MARK = f"1000.{os.getpid()}"
Cases = Mapping[str, tuple[Script, str]]
"""Name -> what the model does, and the verdict that it comes to."""


def add(pool: Pool, name: str) -> None:
    """A candidate whose question bears the mark."""
    pool.add(name, question=f"What is the value of {name}? (Of {MARK}.)")


def play(pool: Pool, model: AgentServer, cases: Cases) -> dict[str, str]:
    """Set the cases up; returns what is expected of each."""
    for name in cases:
        add(pool, f"case-{name}")
    model.script = by_question({f"case-{name}": script for name, (script, _) in cases.items()})
    return {f"case-{name}": verdict for name, (_, verdict) in cases.items()}


def judged(pool: Pool, model: AgentServer, cases: Cases, *configuration: str) -> tuple[Session, dict[str, Any]]:
    """Judge the cases in one session: as expected, with what a solve of two turns and a silent one leave on the record.

    Returns:
        The session, and the agent run of each case by its name.
    """
    expected = play(pool, model, cases)
    pool.configure(*configuration, url=model.base_url)
    session = pool.run(GATE, workers=2)
    assert session.verdicts == expected, session.out
    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    assert json.loads(rows["solves"]["used"]) == ["scipy"]
    assert rows["silent"]["used"] == "[]"
    counts = [rows["solves"][f"{kind}_tokens"] for kind in ("input", "cached", "output")]
    assert counts == [2 * INPUT, 2 * CACHED, 2 * OUTPUT]
    assert rows["solves"]["turns"] == 2
    return session, rows
