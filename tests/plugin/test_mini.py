"""mini-swe-agent itself, asking a model that follows a script."""

import json
import sys

import pytest
from agent_server import KEY, LIMITED, AgentServer, Run, Say, turns

from .agent_cases import GATE, PASS, RIGHT, WRONG, Cases, judged
from .pool import Pool, processes
from .programs import MINI

pytestmark = pytest.mark.slow

PROVIDER = """
    providers:
      fake: {api: chat, base_url: "<url>", api_key_env: AGENT_KEY, retries: {attempts: 2, max_wait: 1}}
"""
SOLVE = (
    f"solve: {{agent: mini, program: {MINI}, provider: fake, model: agent-model, reasoning: low, "
    "max_output_tokens: 500, time_limit: 60, max_turns: 4}\n"
)
SHOWING = f"{RIGHT}; python -c 'import sys; print(sys.executable)'"
DONE = Run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
CASES: Cases = {
    "solves": (turns(Run(SHOWING), DONE), PASS),
    "wrong": (turns(Run(WRONG), DONE), "review solve wrong"),
    "silent": (turns(Say("I do not know.")), "review solve no-answer"),
    "loops": (turns(Run(f"{RIGHT}; yes | head -c 3000000")), PASS),
    "limited": (turns(LIMITED), "error solve provider"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


def test_what_mini_leaves_is_judged(pool: Pool, model: AgentServer) -> None:
    session, rows = judged(pool, model, CASES, PROVIDER, SOLVE)
    assert rows["loops"]["turns"] == 4
    system, user, asked, output, *_, end = json.loads(rows["solves"]["transcript"])
    assert (system["role"], user["role"], asked["commands"], end["role"]) == ("system", "user", [SHOWING], "end")
    assert output["role"] == "tool"
    assert sys.executable in output["text"], "its commands have the domain's Python, not its own"
    assert "a model that calls no tool" in session.line_about("case-silent")
    assert "slow down" in session.line_about("case-limited")
    sent = [(asked.model, asked.effort, asked.cap) for asked in model.requests]
    assert set(sent) == {("agent-model", "low", 500)}
    assert {tool["function"]["name"] for asked in model.requests for tool in asked.body["tools"]} == {"bash"}
    assert not processes("mini_swe.py")


def test_a_program_that_is_something_else(pool: Pool, model: AgentServer) -> None:
    pool.add("case-solves")
    pool.configure(PROVIDER, SOLVE.replace(str(MINI), "/bin/true"), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-solves": "error solve agent"}
    assert "/bin/true is not the `mini` of mini-swe-agent" in session.line_about("case-solves")
