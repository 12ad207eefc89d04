"""How the built-in agent's model has scripts run: by a tool where it has tools, by code blocks where it has none."""

import json
from collections.abc import Mapping

import pytest
from scripted_server import Asked, Reply, Script, ScriptedServer, by_question, computing, saying

from .pool import PROVIDER, SOLVE, VALUE, Pool

pytestmark = pytest.mark.slow

GATE = "--toolgate-gates=solve"
PASS = "provisional solve"
COMPUTE = f"import scipy\nprint('RESULT:', '{VALUE}')"
REFUSAL = Reply(status=400, error={"message": "agent-model does not support tools", "type": "invalid_request_error"})


def call(code: str) -> tuple[str, str]:
    return "run_python", json.dumps({"script": code})


def step_by_step(*replies: Reply) -> Script:
    """So many replies, and then the right letter."""
    return lambda asked: replies[asked.turn] if asked.turn < len(replies) else right(asked)


def right(asked: Asked) -> Reply:
    return Reply(f"ANSWER: {asked.letter_of(VALUE)}")


def without_tools(script: Script) -> Script:
    """A server that refuses a request which offers tools."""
    return lambda asked: REFUSAL if asked.tools else script(asked)


COMPUTES = Reply(calls=[call(COMPUTE)])
BLOCK = Reply(f"```python\n{COMPUTE}\n```")
MODELS: Mapping[str, Script] = {
    "calls": step_by_step(COMPUTES),
    "talks-and-calls": step_by_step(Reply("I compute it.", calls=[call(COMPUTE)])),
    "fails-first": step_by_step(Reply(calls=[call("raise ValueError('no such spline')")]), COMPUTES),
    "malformed": step_by_step(
        Reply(calls=[("run_python", "import scipy")]), Reply(calls=[("run_python", "{}")]), COMPUTES
    ),
    "invents": step_by_step(Reply(calls=[("bash", '{"command": "ls"}')]), COMPUTES),
    "two-at-once": step_by_step(Reply(calls=[call("open('first', 'w')"), call("open('second', 'w')")]),
                                Reply(calls=[call(f"import os\nassert os.listdir().count('second') == 0\n{COMPUTE}")])),
    "mixes": step_by_step(Reply(calls=[call("print('nothing yet')")]), BLOCK, BLOCK),
    "blocks": step_by_step(BLOCK),
    "refused": without_tools(step_by_step(BLOCK)),
}  # fmt: skip


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_whatever_way_the_model_takes(pool: Pool, server: ScriptedServer, api: str) -> None:
    for name in MODELS:
        pool.add(f"case-{name}")
    pool.configure(
        PROVIDER,
        SOLVE.replace("time_limit: 20, max_turns: 3", "time_limit: 90, max_turns: 5"),
        url=server.base_url,
        api=api,
    )
    server.script = by_question({f"case-{name}?": script for name, script in MODELS.items()}, saying(""))
    session = pool.run(GATE, workers=2)
    assert session.verdicts == {f"case-{name}": PASS for name in MODELS}

    asked = {name: [each for each in server.requests if f"case-{name}?" in each.prompt] for name in MODELS}
    offered = {name: [bool(each.tools) for each in requests] for name, requests in asked.items()}
    assert offered["calls"] == [True, True]
    assert offered["mixes"] == [True, True, False, False]
    assert offered["blocks"] == [True, False]
    assert offered["refused"] == [True, False, False]
    assert f"RESULT: {VALUE}" in asked["calls"][1].last
    assert "ValueError: no such spline" in asked["fails-first"][1].last
    assert "turns left.)" in asked["fails-first"][1].last
    assert "not JSON" in asked["malformed"][1].last
    assert "no text `script`" in asked["malformed"][2].last
    assert "no tool `bash`" in asked["invents"][1].last
    assert "One call at a time" in asked["two-at-once"][1].last
    rest = json.dumps(asked["mixes"][-1].messages)
    assert "nothing yet" in rest
    assert "tool_call" not in rest
    assert "function_call" not in rest

    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    assert {name: json.loads(row["used"]) for name, row in rows.items()} == {name: ["scipy"] for name in MODELS}
    transcript = json.loads(rows["calls"]["transcript"])
    assert [entry["role"] for entry in transcript] == ["assistant", "command", "tool", "assistant"]
    assert transcript[0]["calls"][0]["name"] == "run_python"
    assert "does not support tools" in json.loads(rows["refused"]["transcript"])[0]["text"]
    assert (rows["refused"]["turns"], rows["refused"]["input_tokens"]) == (2, 200)
    assert "[run_python" in pool.rows("SELECT group_concat(text) AS text FROM agent_replies")[0]["text"]


def test_a_way_that_is_asked_for_is_kept(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    offers: dict[str, str] = {}
    for tools in ("blocks", "functions"):
        pool.configure(PROVIDER, SOLVE.replace("max_turns: 3", f"max_turns: 3, tools: {tools}"), url=server.base_url)
        for name, script in {"block": computing(VALUE), "refused": without_tools(computing(VALUE))}.items():
            server.forget()
            server.script = script
            session = pool.run(GATE, "--toolgate-fresh")
            offered = "".join("T" if asked.tools else "-" for asked in server.requests)
            offers[f"{tools} {name}"] = f"{offered} {session.verdicts['first']}"
    assert offers == {
        "blocks block": f"-- {PASS}",
        "blocks refused": f"-- {PASS}",
        "functions block": f"TT {PASS}",
        "functions refused": "T error solve provider",
    }
    assert "does not support tools" in session.line_about("first")


def test_runs_with_and_without_tools_are_told_apart(pool: Pool, server: ScriptedServer) -> None:
    """A run by code blocks is found again where code blocks are asked for, and nowhere else."""
    pool.add("first")
    blocks = SOLVE.replace("max_turns: 3", "max_turns: 3, tools: blocks")
    server.script = computing(VALUE)
    made = []
    for solve in (blocks, SOLVE, blocks, SOLVE):
        server.forget()
        pool.configure(PROVIDER, solve, url=server.base_url)
        assert pool.run(GATE).verdicts == {"first": PASS}
        made.append(server.count)
    assert made == [2, 2, 0, 0]


def test_hints_are_told_only_if_configured_and_recorded(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    server.script = computing(VALUE)
    for hints in ("", ", hints: true"):
        pool.configure(PROVIDER, SOLVE.replace("max_turns: 3", f"max_turns: 3{hints}"), url=server.base_url)
        assert pool.run(GATE).verdicts == {"first": PASS}
    told = ["SciPy and NumPy are installed" in asked.messages[0]["content"] for asked in server.requests]
    assert told == [False, False, True, True]
    assert all("You have 20 seconds and 3 turns in all." in asked.messages[0]["content"] for asked in server.requests)
    rows = pool.rows("SELECT settings FROM agent_runs ORDER BY time")
    assert [json.loads(row["settings"])["hints"] for row in rows] == [False, True]
