"""An agent with a program of its own that is as plain as one can be: it follows a script, and asks nobody."""

import json
import os
import textwrap
from collections.abc import Mapping

import pytest

from .pool import Pool

SOLVE = "solve: {agent: plain, provider: fake, model: agent-model, time_limit: 20}\n"
_MODULE = '''
import json
from pathlib import Path

from pytest_toolgate.agents.external import ExternalAgent, Invocation, Story
from pytest_toolgate.sandbox.profile import HOME

_PROGRAM = """
import json, os, sys
problem = json.load(open("problem.json"))
options = problem["options"]
right, wrong = (next(k for k, v in options.items() if v == text) for text in ("0.060723", "0.058996"))
def write(content):
    with open("answer.txt", "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
exec(compile(open(os.environ["HOME"] + "/script.py").read(), "script.py", "exec"))
"""


def invoke(task):
    scripts = json.loads(Path(__file__).with_name("scripts.json").read_text())
    [script] = [script for name, script in scripts.items() if f"{name}?" in task.question]
    files = {"agent.py": _PROGRAM.encode(), "script.py": script.encode()}
    return Invocation((str(task.interpreter.python), f"{HOME}/agent.py"), files=files)


def read(stdout, stderr):
    return Story(({"role": "output", "text": stdout.decode("utf-8", "replace")[-100_000:]},))


AGENT = ExternalAgent(invoke, read, lambda settings: "1")
'''


def install(pool: Pool, monkeypatch: pytest.MonkeyPatch, scripts: Mapping[str, str], *, add: bool = True) -> None:
    """Make the agent `plain` known.

    Args:
        pool: The repository.
        monkeypatch: For the environment of its sessions.
        scripts: Name of a candidate -> what its agent does; `right`, `wrong` and `write` are defined.
        add: Add a candidate of each name.
    """
    pool.write("site/plain_agent_of_the_tests.py", _MODULE)
    pool.write("site/scripts.json", json.dumps({name: textwrap.dedent(script) for name, script in scripts.items()}))
    pool.write("site/plain-1.dist-info/METADATA", "Name: plain\nVersion: 1\n")
    entry = "[pytest_toolgate.agents]\nplain = plain_agent_of_the_tests:AGENT\n"
    pool.write("site/plain-1.dist-info/entry_points.txt", entry)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))
    for name in scripts if add else ():
        pool.add(name)
