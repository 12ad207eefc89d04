"""Solve: the agent is judged by the file it leaves, by its time, and by nothing that it says."""

import json
import time
from collections.abc import Mapping

import pytest
from scripted_server import (
    SERVER_ERROR,
    Reply,
    Script,
    ScriptedServer,
    always,
    by_question,
    computing,
    in_turn,
    running,
    saying,
)

from .pool import PROVIDER, SOLVE, VALUE, Pool, processes

GATE = "--toolgate-gates=solve"
_RIGHT_LETTER = """
import json, scipy
options = json.load(open("problem.json"))["options"]
letter = next(letter for letter, text in options.items() if text == "0.060723")
"""

_WRITE = f"{_RIGHT_LETTER}open('answer.txt', 'w').write(letter)"
_PASS = "provisional solve"
# What the model does, and what becomes of the candidate.
AGENTS: Mapping[str, tuple[Script, str]] = {
    "solves": (computing(VALUE), _PASS),
    "wrong": (computing("0.058996"), "review solve wrong"),
    "writes-itself": (running(_WRITE), _PASS),
    "writes-value": (running("import scipy\nopen('answer.txt', 'w').write('0.060723\\n')"), _PASS),
    "says-otherwise": (running(f"{_WRITE}\nprint('RESULT: 0.058996')", "ANSWER: A"), _PASS),
    "crashes-after": (running(f"{_WRITE}\nraise SystemExit(3)"), _PASS),
    "talks": (saying("I think this needs more thought."), "review solve no-answer"),
    "only-guesses": (saying("ANSWER: A"), "review solve no-answer"),
    "blank": (running("open('answer.txt', 'w').write(' \\n')"), "review solve no-answer"),
    "link": (running("import os\nos.symlink('/etc/passwd', 'answer.txt')"), "review solve bad-answer-file"),
    "link-to-answer": (
        running(f"{_RIGHT_LETTER}open('x', 'w').write(letter)\nimport os\nos.symlink('x', 'answer.txt')"),
        "review solve bad-answer-file",
    ),
    "fifo": (running("import os\nos.mkfifo('answer.txt')"), "review solve bad-answer-file"),
    "directory": (running("import os\nos.mkdir('answer.txt')"), "review solve bad-answer-file"),
    "huge": (running("open('answer.txt', 'w').write('B' * (16 << 20))"), "review solve bad-answer-file"),
    "binary": (running("open('answer.txt', 'wb').write(b'\\xff\\xfe')"), "review solve bad-answer-file"),
    "two-letters": (running("open('answer.txt', 'w').write('A or B')"), "review solve bad-answer-file"),
    "another-value": (running("open('answer.txt', 'w').write('0.0607')"), "review solve bad-answer-file"),
    "no-permission": (
        running("import os\nopen('answer.txt', 'w').write('B')\nos.chmod('answer.txt', 0)"), "",
    ),
    "down": (always(SERVER_ERROR), "error solve provider"),
    "refuses": (always(Reply(refusal="no")), "error solve agent"),
}  # fmt: skip


def test_the_file_alone_decides(pool: Pool, server: ScriptedServer) -> None:
    for name in AGENTS:
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, SOLVE, url=server.base_url, api="chat")
    server.script = by_question({f"case-{name}?": script for name, (script, _) in AGENTS.items()}, saying(""))
    session = pool.run(GATE, workers=2)

    verdicts = {name.removeprefix("case-"): verdict for name, verdict in session.verdicts.items()}
    # Whether a reader who is root can read such a file is not the question; that nothing breaks is.
    assert verdicts.pop("no-permission").startswith(("review", "provisional"))
    assert verdicts == {name: verdict for name, (_, verdict) in AGENTS.items() if verdict}
    assert "passwd" not in session.line_about("case-link")
    assert "0.058996" in session.line_about("case-wrong")
    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    assert json.loads(rows["solves"]["used"]) == ["scipy"]
    assert rows["solves"]["correct"] == 1
    assert rows["wrong"]["value"] == "0.058996"
    roles = [entry["role"] for entry in json.loads(rows["solves"]["transcript"])]
    assert roles == ["assistant", "command", "user", "assistant"]
    assert (rows["solves"]["turns"], rows["solves"]["input_tokens"], rows["solves"]["output_tokens"]) == (
        2,
        200,
        20,
    )
    assert rows["down"]["outcome"] == "error"
    assert [(rows[name]["turns"], rows[name]["called"]) for name in ("down", "refuses")] == [(1, "[]")] * 2
    assert not list(pool.root.rglob("answer.txt"))


def test_an_answer_without_work_carries_a_warning(pool: Pool, server: ScriptedServer) -> None:
    """G15: it counts, and the record says that the software was not used, or only imported."""
    pool.add("case-work")
    pool.add("case-guess")
    pool.add("case-import")
    pool.add("case-nothing")
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    guess = _RIGHT_LETTER.replace(", scipy", "") + "open('answer.txt', 'w').write(letter)"
    server.script = by_question(
        {"case-work": computing(VALUE), "case-guess": running(guess), "case-import": running(_WRITE)}, saying("Hm.")
    )
    session = pool.run(GATE)
    assert session.verdicts == {
        "case-work": "provisional solve",
        "case-guess": "provisional solve",
        "case-import": "provisional solve",
        "case-nothing": "review solve no-answer",
    }
    assert "warning: solved without running the software" in session.line_about("case-guess")
    assert "warning: solved with the software imported and never called" in session.line_about("case-import")
    assert "warning" not in session.line_about("case-work")
    assert [(row["name"], row["used"], row["called"]) for row in pool.recorded("agent_runs")] == [
        ("case-guess", "[]", "[]"),
        ("case-import", '["scipy"]', "[]"),
        ("case-nothing", "[]", "[]"),
        ("case-work", '["scipy"]', '["scipy"]'),
    ]
    # What is recorded says the same again.
    assert "imported and never called" in pool.run(GATE).line_about("case-import")


_SURVIVOR = """
import os, subprocess, time
subprocess.Popen(["sleep", "61.7305"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    time.sleep(4)
    open("answer.txt", "w").write("B")
    time.sleep(60)
"""


def test_time_over_is_a_review_whatever_lies_there(pool: Pool, server: ScriptedServer) -> None:
    """G07 and G09: an answer that comes late, or that its author was still working on, does not count."""
    for name in ("survivor", "still-working", "never-ends"):
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, SOLVE.replace("time_limit: 20", "time_limit: 3"), url=server.base_url)
    sleep = "import time\ntime.sleep(60)"
    server.script = by_question(
        {
            "case-survivor": running(_SURVIVOR + sleep),
            "case-still-working": running(f"{_WRITE}\n{sleep}"),
            "case-never-ends": running(sleep),
        },
        saying(""),
    )
    begun = time.monotonic()
    session = pool.run(GATE, workers=2)
    assert time.monotonic() - begun < 30
    assert set(session.verdicts.values()) == {"review solve timeout"}
    assert all(case.tag == "failure" for case in session.cases.values())
    rows = {
        row["path"]: row["answer"]
        for row in pool.rows("SELECT path, answer FROM agent_runs JOIN attempts ON attempts.id = attempt_id")
    }
    assert rows["candidates/case-survivor.yaml"] is None
    assert rows["candidates/case-still-working.yaml"] in ("A", "B", "C", "D")
    assert not processes("sleep 61.7305")


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_model_that_hangs_is_not_waited_for(pool: Pool, server: ScriptedServer, api: str) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SOLVE.replace("time_limit: 20", "time_limit: 1"), url=server.base_url, api=api)
    server.script = always(Reply(stall=True))
    begun = time.monotonic()
    # Nothing shows that it is slow rather than dead, and machinery is never a verdict.
    assert pool.run(GATE).verdicts == {"first": "error solve provider"}
    assert time.monotonic() - begun < 20
    server.script = in_turn([running("print(1)"), always(Reply(stall=True))])
    assert pool.run(GATE).verdicts == {"first": "review solve timeout"}


def test_an_agent_sees_other_letters_than_the_file(pool: Pool, server: ScriptedServer) -> None:
    """Over a few candidates the letters must differ; each answer is graded by its value."""
    for number in range(4):
        pool.add(f"case-{number}")
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    server.script = computing(VALUE)
    assert set(pool.run(GATE).verdicts.values()) == {"provisional solve"}
    assert len({asked.letter_of(VALUE) for asked in server.requests}) > 1


def test_no_workspace_outlives_its_solve(pool: Pool, server: ScriptedServer) -> None:
    """A tree deeper than Python's recursion, without permissions, neither stays nor changes the verdict."""
    pool.add("first")
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    code = "import os, scipy\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nos.chmod('.', 0)"
    server.script = in_turn([running(code), computing(VALUE)])
    session = pool.run(GATE)
    assert session.verdicts in ({"first": "provisional solve"}, {"first": "review solve no-answer"})
    assert not list(pool.temporary.glob("toolgate-run-*"))
