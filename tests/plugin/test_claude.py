"""Claude Code itself, asking a model that follows a script."""

import json
from pathlib import Path

import pytest
from agent_server import KEY, AgentServer, Fault, Run, Say, turns

from .agent_cases import GATE, PASS, RIGHT, WRONG, Cases, judged
from .pool import Pool, processes
from .programs import CLAUDE

pytestmark = pytest.mark.slow

PROVIDER = """
    providers:
      fake: {api: messages, base_url: "<url>", api_key_env: AGENT_KEY, retries: {attempts: 2, max_wait: 1}}
"""
SOLVE = (
    f"solve: {{agent: claude, program: {CLAUDE}, provider: fake, model: agent-model, reasoning: high, "
    "time_limit: 60, max_turns: 4}\n"
)
CANARY = "canary-of-the-host-9b1d"
DONE = Say("Done.")
LIMITED = Fault(429, {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}})
REFUSED = Fault(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}})
CASES: Cases = {
    "solves": (turns(Run(f"id; {RIGHT}"), DONE), PASS),
    "wrong": (turns(Run(WRONG), DONE), "review solve wrong"),
    "silent": (turns(Say("I do not know.")), "review solve no-answer"),
    "loops": (turns(Run("true")), "review solve no-answer"),
    "loops-after": (turns(Run(RIGHT)), PASS),
    "floods": (turns(Run(f"{RIGHT}; yes | head -c 3000000"), DONE), PASS),
    "limited": (turns(LIMITED), "error solve provider"),
    "refused": (turns(REFUSED), "error solve provider"),
    "environment": (turns(Run(f"{RIGHT}; env"), DONE), PASS),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


def test_what_claude_leaves_is_judged(
    pool: Pool, model: AgentServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With instructions of the host's in every place where they might be looked for, which have no part in it."""
    for place in (tmp_path / ".claude", pool.root, pool.root.parent):
        place.mkdir(exist_ok=True)
        (place / "CLAUDE.md").write_text(f"Remember {CANARY}.", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    session, rows = judged(pool, model, CASES, PROVIDER, SOLVE)
    assert rows["loops"]["turns"] == 4
    assert "it used up its 4 turns" in session.line_about("case-loops")
    assert rows["solves"]["agent_version"].endswith("(Claude Code)")
    command, said, end = json.loads(rows["solves"]["transcript"])
    assert (command["tool"], said["text"], end["role"]) == ("Bash", "Done.", "end")
    assert "uid=" in command["stdout"]
    assert "uid=0" not in command["stdout"]
    assert "slow down" in session.line_about("case-limited")
    assert "prompt is too long" in session.line_about("case-refused")
    assert KEY not in json.dumps([row["transcript"] for row in rows.values()])
    assert_how_it_asks(pool, model)
    assert CANARY not in json.dumps([asked.body for asked in model.requests])
    assert not processes("stream-json")


def assert_how_it_asks(pool: Pool, model: AgentServer) -> None:
    """One model, one effort, and no tool but those that run commands and edit files."""
    tools = {tool["name"] for asked in model.requests for tool in asked.body["tools"]}
    assert tools == {"Bash", "Edit", "Read", "Write"}
    assert {asked.model for asked in model.requests} == {"agent-model"}
    assert {asked.body["output_config"]["effort"] for asked in model.requests} == {"high"}
    assert {asked.headers["x-api-key"] for asked in model.requests} == {KEY}
    assert all(asked.headers["anthropic-version"] for asked in model.requests)
    [tried] = pool.rows("SELECT * FROM preflights")
    assert (tried["status"], json.loads(tried["settings"])["reasoning"]) == ("complete", "high")


def test_time_over_is_a_review_whatever_lies_there(pool: Pool, model: AgentServer) -> None:
    pool.add("case-hangs")
    pool.configure(PROVIDER, SOLVE.replace("time_limit: 60", "time_limit: 8"), url=model.base_url)
    model.script = turns(Run(f"{RIGHT}; sleep 71.2"), DONE)
    assert pool.run(GATE).verdicts == {"case-hangs": "review solve timeout"}
    assert not processes("stream-json")
    assert not processes("sleep 71.2")


def test_an_effort_that_it_does_not_know(pool: Pool, model: AgentServer) -> None:
    pool.add("case-solves")
    pool.configure(PROVIDER, SOLVE.replace("high", "minimal"), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-solves": "error solve agent"}
    efforts = "Claude Code knows the efforts low, medium, high, xhigh, max, not `minimal`"
    assert efforts in session.line_about("case-solves")
    assert not model.requests
