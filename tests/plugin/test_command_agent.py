"""Any command as an agent: real programs, judged by the file they leave, by their time and never by what they print."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from agent_server import KEY, LIMITED, AgentServer, Fault, Say, by_question, turns

from .pool import OPTIONS, Pool, processes

GATE = "--toolgate-gates=solve"
PROVIDER = """
    providers:
      fake: {api: chat, base_url: "<url>", api_key_env: AGENT_KEY, retries: {attempts: 1, max_wait: 1}}
"""
PASS = "provisional solve"
# Finds out which candidate it works on by the question, as a real agent does, and does what is said of it.
_AGENT = f"""\
#!/usr/bin/env python3
import json, os, signal, subprocess, sys, time, urllib.request

arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
prompt = open(arguments["--question"]).read()
name = prompt.partition("value of case-")[2].partition("?")[0]
options = json.load(open("problem.json"))["options"]
right = next(letter for letter, text in options.items() if text == "{OPTIONS["B"]}")
wrong = next(letter for letter, text in options.items() if text == "{OPTIONS["A"]}")

def leave(letter):
    with open(arguments["--answer"], "w") as file:
        file.write(letter)

def ask(last=None):
    body = dict(model=arguments["--model"], messages=[dict(role="user", content=prompt)],
                tools=[dict(type="function", function=dict(name="bash"))])
    request = urllib.request.Request(
        arguments["--url"] + "/chat/completions", json.dumps(body).encode(),
        {{"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]

def survivor():
    if os.fork() == 0:
        os.setsid()
        subprocess.run([sys.executable, "-c", "import time; time.sleep(4); open('answer.txt', 'w').write('B')", "late"])
        os._exit(0)

"""
# What the command does, and what becomes of the candidate.
CASES: Mapping[str, tuple[str, str]] = {
    "solves": ("import scipy; print(ask()['content']); leave(right)", PASS),
    "wrong": ("leave(wrong)", "review solve wrong"),
    # G01
    "stdin": ("sys.stdin.read(); leave(right)", PASS),
    # G03
    "nothing": ("", "review solve no-answer"),
    "fails": ("import scipy; ask(); sys.exit('no idea')", "error solve agent"),
    "limited": ("sys.exit('error 429: slow down')", "error solve provider"),
    "unauthorised": ("print('HTTP 401'); sys.exit(1)", "error solve provider"),
    "fails-after": ("leave(right); sys.exit(1)", PASS),
    "dies-after": ("leave(right); os.kill(os.getpid(), 11)", PASS),
    # G17
    "says-otherwise": ("leave(right); print('ANSWER:', wrong)", PASS),
    "floods": ("leave(right); sys.stdout.write('x' * 3_000_000)", PASS),
    "other-model": ("arguments['--model'] = 'dearer'; ask()", "error solve agent"),
    "loops": ("leave(right)\n    while True: ask()", PASS),
    "environment": ("print(dict(os.environ)); leave(right)", PASS),
    "arguments": ("print(json.dumps(sys.argv[1:])); leave(right)", PASS),
}
# G07 and G09
LATE = {"survivor": "survivor(); time.sleep(60)", "still-working": "leave(right); time.sleep(60)"}
_BODIES = {name: body for name, (body, _) in CASES.items()} | LATE
_MAIN = "".join(f"if name == {name!r}:\n    {body or 'pass'}\n" for name, body in _BODIES.items())
COMMAND = (
    '[<agent>, --question, "{prompt_file}", --answer, "{answer_file}", --url, "{base_url}", --model, "{model}", '
    '--rest, "{workspace} {reasoning} {time_limit} {seed} {{literal}}"]'
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of somebody else's, outside of the repository."""
    return program(tmp_path_factory.mktemp("agent") / "answerer", _AGENT + _MAIN)


def program(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


def solve(command: str, *more: str) -> str:
    keys = ["agent: command", f"command: {command}", "provider: fake", "model: agent-model", *more]
    return f"solve: {{{', '.join(keys)}}}\n"


def test_what_a_command_leaves_is_judged(pool: Pool, model: AgentServer, agent: Path) -> None:
    for name in CASES:
        pool.add(f"case-{name}")
    more = ("reasoning: low", "time_limit: 30", "max_turns: 2")
    pool.configure(PROVIDER, solve(COMMAND.replace("<agent>", str(agent)), *more), url=model.base_url)
    model.script = turns(Say("Compute it."))
    session = pool.run(GATE, workers=2)

    verdicts = {name.removeprefix("case-"): verdict for name, verdict in session.verdicts.items()}
    assert verdicts == {name: verdict for name, (_, verdict) in CASES.items()}, session.out
    assert "warning: the agent's program ended with exit status 1" in session.line_about("case-fails-after")
    assert "warning: the agent's program was ended by signal 11" in session.line_about("case-dies-after")
    assert "exit status" not in session.line_about("case-wrong")
    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    said = {name: json.loads(row["transcript"]) for name, row in rows.items()}
    assert said["solves"][0] == {"role": "stdout", "text": "Compute it.\n"}
    assert (rows["solves"]["turns"], rows["solves"]["used"]) == (1, '["scipy"]')
    assert len(said["floods"][0]["text"]) == 32_000
    assert rows["loops"]["turns"] == 2
    failed = rows["fails"]
    assert (failed["turns"], failed["used"], failed["called"]) == (1, '["scipy"]', rows["solves"]["called"])
    assert rows["solves"]["agent_version"].startswith("sha256:")
    assert KEY not in json.dumps(said)
    arguments = json.loads(said["arguments"][0]["text"])
    assert arguments[-1] == "/sandbox/work low 30 0 {literal}"
    environment = said["environment"][0]["text"]
    assert "'OPENAI_BASE_URL': 'http://127.0.0.1:8080/v1'" in environment
    assert "'ANTHROPIC_BASE_URL': 'http://127.0.0.1:8080'" in environment

    again = pool.run(GATE)
    assert again.verdicts["case-fails-after"] == PASS
    assert "exit status 1" in again.line_about("case-fails-after"), "a warning is reused with its run"


@pytest.mark.slow
def test_time_over_is_a_review_whatever_lies_there(pool: Pool, model: AgentServer, agent: Path) -> None:
    for name in LATE:
        pool.add(f"case-{name}")
    more = ("reasoning: low", "time_limit: 3")
    pool.configure(PROVIDER, solve(COMMAND.replace("<agent>", str(agent)), *more), url=model.base_url)
    assert set(pool.run(GATE, workers=2).verdicts.values()) == {"review solve timeout"}
    rows = {row["name"]: row["answer"] for row in pool.recorded("agent_runs")}
    assert rows["case-survivor"] is None
    assert rows["case-still-working"] in OPTIONS
    assert not processes("write('B')")


@pytest.mark.slow
def test_what_its_model_cannot_do_is_no_verdict(pool: Pool, model: AgentServer, agent: Path) -> None:
    for name in ("solves", "loops"):
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, solve(COMMAND.replace("<agent>", str(agent)), "reasoning: low"), url=model.base_url)
    refusal = Fault(400, {"error": {"message": "this prompt is too long"}})
    model.script = by_question({"case-solves": turns(LIMITED), "case-loops": turns(refusal)})
    session = pool.run(GATE)
    assert session.verdicts == {"case-solves": "error solve provider", "case-loops": PASS}
    assert "slow down" in session.line_about("case-solves")
    assert "warning: the agent's program ended with exit status 1" in session.line_about("case-loops")


def test_a_python_is_the_domains_and_what_is_shown_can_be_read(
    pool: Pool, model: AgentServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shown = tmp_path_factory.mktemp("shown")
    shown.chmod(0o755)
    (shown / "words").write_text("RIGHT = '0.060723'", "utf-8")
    (shown / "answerer.py").write_text(
        "import json, pathlib, sys, scipy\n"
        "here = pathlib.Path(sys.argv[0]).parent\n"
        "exec((here / 'words').read_text())\n"
        "options = json.load(open('problem.json'))['options']\n"
        "open('answer.txt', 'w').write(next(k for k, v in options.items() if v == RIGHT))\n"
        "print(sys.executable, sorted(map(str, here.parent.iterdir())))\n",
        "utf-8",
    )
    pool.add("case-first")
    relative = os.path.relpath(shown, pool.root)
    pool.configure(PROVIDER, solve(f"[python, {shown}/answerer.py]", f"show: [{relative}]"), url=model.base_url)
    assert pool.run(GATE).verdicts == {"case-first": PASS}
    [row] = pool.recorded("agent_runs")
    assert json.loads(row["transcript"])[0]["text"] == f"{sys.executable} {[str(shown)]}\n"
    assert row["used"] == '["scipy"]'


@pytest.mark.slow
def test_a_program_has_the_environment_that_it_is_installed_in(
    pool: Pool, model: AgentServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Named by its Python, and by a link to what pip has installed; its own commands have the domain's Python."""
    place = tmp_path_factory.mktemp("installed")
    place.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    [site] = (place / "venv" / "lib").glob("python*/site-packages")
    (site / "answering.py").write_text(
        "import subprocess\n"
        "def main():\n"
        "    code = \"import json, scipy; o = json.load(open('problem.json'))['options']; \"\n"
        "    code += \"open('answer.txt', 'w').write(next(k for k, v in o.items() if v == '0.060723'))\"\n"
        "    subprocess.run(['python', '-c', code], check=True)\n",
        "utf-8",
    )
    python = place / "venv" / "bin" / "python"
    program(place / "venv" / "bin" / "answering", f"#!{python}\nimport answering\nanswering.main()\n")
    (place / "answering").symlink_to(place / "venv" / "bin" / "answering")
    (place / "linked").symlink_to(place / "venv")
    pool.add("case-first")
    entry = "  - {{name: {}, agent: command, command: {}, provider: fake, model: agent-model}}\n"
    by_python = entry.format("python", f"[{place}/linked/bin/python, -c, 'import answering; answering.main()']")
    by_link = entry.format("link", f"[{place}/answering]")
    pool.configure(PROVIDER, f"solve:\n{by_python}{by_link}accept: all\n", url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-first": PASS}, session.out
    assert [row["used"] for row in pool.recorded("agent_runs")] == ['["scipy"]'] * 2


@pytest.mark.slow
def test_a_control_run_of_a_program_that_shares_the_python_of_the_domain(pool: Pool, model: AgentServer) -> None:
    """What is hidden in that Python is no reason not to show what scripts see of it anyway."""
    code = (
        "import json, importlib.util; print(importlib.util.find_spec('scipy') is None); "
        "o = json.load(open('problem.json'))['options']; "
        "open('answer.txt', 'w').write(next(k for k, v in o.items() if v == '0.060723'))"
    )
    command = json.dumps([sys.executable, "-c", code])
    pool.add("case-first")
    pool.configure(PROVIDER, solve(command, "control: true"), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-first": PASS}, session.out
    rows = pool.recorded("agent_runs")
    assert [(row["control"], row["outcome"]) for row in rows] == [(0, "passed"), (1, "passed")], session.out
    assert [json.loads(row["transcript"])[0]["text"] for row in rows] == ["False\n", "True\n"]


@pytest.mark.parametrize("named", ["candidates", "<root>/.."])
def test_nothing_hidden_is_shown(pool: Pool, model: AgentServer, agent: Path, named: str) -> None:
    pool.add("case-solves")
    named = named.replace("<root>", str(pool.root))
    more = ("reasoning: low", f"show: [{named}]")
    pool.configure(PROVIDER, solve(COMMAND.replace("<agent>", str(agent)), *more), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-solves": "error solve sandbox"}
    assert "no agent may see" in session.line_about("case-solves")
    assert not model.requests


def test_a_command_that_is_not_there(pool: Pool, model: AgentServer) -> None:
    pool.add("case-solves")
    pool.configure(PROVIDER, solve("[nobody-has-this]"), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case-solves": "error solve agent"}
    assert "no `nobody-has-this` in PATH" in session.line_about("case-solves")


def test_an_agent_of_another_package_with_a_program_of_its_own(
    pool: Pool, model: AgentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file and an entry point, as the page on solvers shows it."""
    pool.write("site/shell_agent.py", _OTHER)
    pool.write("site/shell_agent-1.dist-info/METADATA", "Name: shell-agent\nVersion: 1\n")
    pool.write("site/shell_agent-1.dist-info/entry_points.txt", "[pytest_toolgate.agents]\nshell = shell_agent:AGENT\n")
    monkeypatch.setenv("PYTHONPATH", f"{pool.root / 'site'}:{os.environ.get('PYTHONPATH', '')}")
    pool.add("case-first")
    pool.configure(PROVIDER, "solve: {agent: shell, provider: fake, model: agent-model}\n", url=model.base_url)
    assert pool.run(GATE).verdicts == {"case-first": PASS}
    [row] = pool.recorded("agent_runs")
    assert (row["agent"], row["agent_version"]) == ("shell", "1.0")
    assert json.loads(row["transcript"])[0] == {"role": "assistant", "text": "done"}
    assert row["input_tokens"] == row["output_tokens"] == 0, "its own count is not taken where ours is known"


_OTHER = f"""
    from pytest_toolgate.agents.external import ExternalAgent, Invocation, Story, prompt
    from pytest_toolgate.providers import Tokens

    def invoke(task):
        letter = next(letter for letter, text in task.options.items() if text == "{OPTIONS["B"]}")
        script = f"test -s ~/prompt && printf %s {{letter}} > answer.txt; echo done"
        return Invocation(("/bin/sh", "-c", script), files={{"prompt": prompt(task).encode()}})

    def read(stdout, stderr):
        return Story(({{"role": "assistant", "text": stdout.decode().strip()}},), tokens=Tokens(10**9, 0, 10**9))

    AGENT = ExternalAgent(invoke, read, lambda settings: "1.0")
"""
