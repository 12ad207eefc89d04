"""Domains and agents of other packages are found by entry point, and their faults are not the candidate's."""

import os

import pytest
from scripted_server import ScriptedServer

from .pool import PROVIDER, Pool

_AGENTS = """
    from pytest_toolgate.agents import AgentError, AgentRun

    def answers(task):
        letter = next(letter for letter, text in task.options.items() if text == "0.060723")
        (task.workspace / "answer.txt").write_text(letter)
        return AgentRun("finished", used=("scipy",))

    def breaks(task):
        raise ZeroDivisionError("the agent's own mistake")

    def gives_up(task):
        raise AgentError("the command `solver` is not installed")
"""
_DOMAIN = """
    from pytest_toolgate.domains import Domain

    JSON = Domain(name="jsonish", title="JSON", packages=("json",), distributions=())
"""
_ENTRY_POINTS = """\
    [pytest_toolgate.agents]
    answers = extension_agents:answers
    breaks = extension_agents:breaks
    gives-up = extension_agents:gives_up
    missing = extension_agents:not_there
    [pytest_toolgate.domains]
    jsonish = extension_domain:JSON
"""


@pytest.fixture
def extended(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A repository in whose environment an extension is installed."""
    pool.write("site/extension_agents.py", _AGENTS)
    pool.write("site/extension_domain.py", _DOMAIN)
    pool.write("site/extension-1.dist-info/METADATA", "Name: extension\nVersion: 1\n")
    pool.write("site/extension-1.dist-info/entry_points.txt", _ENTRY_POINTS)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))
    return pool


@pytest.mark.parametrize(
    ("agent", "verdict", "words"),
    [
        ("answers", "provisional solve", ""),
        ("breaks", "error solve internal", "ZeroDivisionError"),
        ("gives-up", "error solve agent", "`solver` is not installed"),
        ("missing", "error solve agent", "not_there"),
    ],
)
def test_an_agent_of_another_package(
    extended: Pool, server: ScriptedServer, agent: str, verdict: str, words: str
) -> None:
    extended.add("first")
    extended.configure(PROVIDER, f"solve: {{agent: {agent}, provider: fake, model: m}}\n", url=server.base_url)
    session = extended.run("--toolgate-gates=solve")
    assert session.verdicts == {"first": verdict}
    assert words in session.line_about("first")
    [outcome] = extended.recorded("outcomes")
    assert f"{outcome['outcome']} {outcome['gate']} {outcome['reason']}".strip() == verdict
    assert server.count == 0


def test_a_control_run_that_used_the_software_is_no_result(extended: Pool, server: ScriptedServer) -> None:
    extended.add("first")
    extended.configure(
        PROVIDER, "solve: {agent: answers, provider: fake, model: m, control: true}\n", url=server.base_url
    )
    session = extended.run("--toolgate-gates=solve")
    assert session.verdicts == {"first": "provisional solve"}
    told = "the control run had the software all the same: it used `scipy`"
    assert f"whether the software was needed is not known: {told}" in session.line_about("first")
    rows = extended.recorded("agent_runs")
    assert [(row["control"], row["outcome"], row["reason"]) for row in rows] == [
        (0, "passed", ""),
        (1, "error", "sandbox"),
    ]


def test_a_domain_of_another_package(extended: Pool) -> None:
    extended.add("first", domain="jsonish")
    assert extended.run("--toolgate-gates=lint").verdicts == {"first": "provisional lint"}
