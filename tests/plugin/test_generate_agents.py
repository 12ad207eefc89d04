"""Every agent of gate 3 can be the generator: the real programs, asking a model that follows a script."""

import json
from collections.abc import Mapping

import pytest
from agent_server import KEY, LIMITED, AgentServer, Run, Say, Script, Step, outputs, turns
from exchange import Asked
from scripted_server import ScriptedServer

from .agent_cases import MARK
from .pool import VERIFY, Pool, processes
from .programs import CLAUDE, CODEX, MINI
from .workshop import Workshop, candidate

pytestmark = pytest.mark.slow

PROVIDER = """
    domain: scipy
    providers:
      fake: {api: <api>, base_url: "<url>", api_key_env: AGENT_KEY, retries: {attempts: 1}}
"""
AGENTS: Mapping[str, tuple[str, str, Step]] = {
    "codex": ("responses", f"agent: codex, program: {CODEX}", Say("Done.")),
    "claude": ("messages", f"agent: claude, program: {CLAUDE}", Say("Done.")),
    "mini": ("chat", f"agent: mini, program: {MINI}", Run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


@pytest.fixture
def shop(pool: Pool, server: ScriptedServer) -> Workshop:
    return Workshop(pool, server)


def writing(seed: int, **keys: object) -> Run:
    """Try the software, and write the file."""
    text = json.dumps(candidate(seed, **keys))
    return Run(f"python -c 'import scipy.special' && cat > candidate.yaml <<'END'\n{text}\nEND\n")


def configure(shop: Workshop, model: AgentServer, agent: str, more: str = "") -> None:
    api, called, _ = AGENTS[agent]
    generate = f"generate: {{{called}, provider: fake, model: agent-model, time_limit: 60{more}}}\n"
    shop.pool.configure(PROVIDER, VERIFY, generate, url=model.base_url, api=api)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_program_of_somebody_elses_generates(shop: Workshop, model: AgentServer, agent: str) -> None:
    configure(shop, model, agent)
    model.script = turns(writing(1), AGENTS[agent][2])
    done = shop.generate("--rounds", 1)
    assert (done.code, shop.rounds()) == (0, ["provisional"]), done.out
    assert shop.file(1) == candidate(1)
    [proposal] = shop.pool.rows("SELECT * FROM proposals")
    assert (proposal["agent"], json.loads(proposal["used"]), proposal["turns"]) == (agent, ["scipy"], 2)
    assert proposal["agent_version"]
    [begun] = shop.pool.rows("SELECT * FROM rounds")
    told = json.dumps(model.requests[0].body)
    assert json.dumps(begun["prompt"])[1:-1] in told  # word for word
    replies = shop.pool.rows("SELECT * FROM agent_replies")
    assert [(row["attempt_id"], row["solver"]) for row in replies] == [(begun["id"], "generator")] * 2


def test_codex_generates_round_after_round(shop: Workshop, model: AgentServer) -> None:
    """Proposals of every kind, a fault of the server among them; the next run takes up what has no verdict."""
    told: list[str] = []
    steps = [
        writing(1),
        writing(2, solution='import scipy\nprint("ANSWER: 5")\n'),
        Say("I could not think of anything."),
        LIMITED,
        writing(1),
        Run("ln -s /etc/passwd candidate.yaml"),
        writing(7),
    ]

    def script(asked: Asked) -> Run | Say:
        if outputs(asked):
            return Say("Done.")
        told.append(json.dumps(asked.body))
        return steps[len(told) - 1]  # type: ignore[return-value]

    configure(shop, model, "codex")
    model.script = script
    assert shop.generate("--rounds", 7).code == 1
    assert shop.rounds() == [
        "provisional",
        "rejected verify mismatch",
        "rejected generate no-candidate",
        "open",
        "rejected lint duplicate",
        "rejected generate no-candidate",
        "provisional",
    ]
    steps.append(writing(8))
    assert shop.generate("--rounds", 7).code == 0
    assert shop.rounds()[3] == "provisional"
    assert "Round 1: provisional" in told[1]
    assert "rejected at verify: mismatch" in told[2]


@pytest.mark.parametrize("agent", ["codex", "builtin"])
def test_a_generator_sees_nothing_of_the_repository(
    shop: Workshop, model: AgentServer, server: ScriptedServer, agent: str
) -> None:
    """Neither what was accepted, nor the database, nor earlier proposals, nor the token of the run."""
    words = str(candidate(1)["solution"]).splitlines()[1][2:40]  # which no prompt holds
    code = (
        "import os, pathlib\n"
        "found = []\n"
        "for top in ('/root', '/home', '/tmp', '/work', '/check', '/proc'):\n"
        "    for folder, _, files in os.walk(top):\n"
        "        for name in files if top != '/proc' else {'environ', 'cmdline'} & set(files):\n"
        "            path = pathlib.Path(folder, name)\n"
        "            try:\n"
        "                data = path.read_bytes() if path.stat().st_size < 1 << 24 else b''\n"
        "            except OSError:\n"
        "                continue\n"
        f"            if {words[:10]!r}.encode() + {words[10:]!r}.encode() in data or b'TOOLGATE_' + b'SEAL' in data:\n"
        "                found.append(str(path))\n"
        "print('FOUND', found)\n"
    )
    if agent == "codex":
        configure(shop, model, "codex")
        script: Script = turns(
            Run(f"cat > s.py <<'END'\n{code}END\npython s.py", {"yield_time_ms": 30_000}), Say("Done.")
        )
        model.script = turns(writing(1), Say("Done."))
    else:
        shop.configure()
        shop.play(f"```yaml\n{json.dumps(candidate(1))}\n```")
    shop.generate("--rounds", 1)
    assert shop.rounds() == ["provisional"]
    if agent == "codex":
        model.script = script
    else:
        shop.play(f"```python\n{code}```", "I am done.")
    shop.generate("--rounds", 2)
    [proposal] = shop.pool.rows("SELECT * FROM proposals ORDER BY time DESC LIMIT 1")
    assert "FOUND []" in proposal["transcript"]
    assert shop.rounds()[1] == "rejected generate no-candidate"


def test_a_generator_that_hangs_loses_its_round_and_leaves_nothing(shop: Workshop, model: AgentServer) -> None:
    configure(shop, model, "codex", ", name: slow")
    file = shop.pool.root / "toolgate.yaml"
    file.write_text(file.read_text("utf-8").replace("time_limit: 60", "time_limit: 6"), "utf-8")
    model.script = turns(Run(f"setsid sleep {MARK} & sleep {MARK}"), Say("Done."))
    assert shop.generate("--rounds", 1).code == 0
    assert shop.rounds() == ["rejected generate timeout"]
    assert not processes(MARK)


def test_a_command_generates_without_any_model(shop: Workshop) -> None:
    text = json.dumps(candidate(1))
    command = ["python", "-c", f"open('candidate.yaml', 'w').write({text!r})".replace("{", "{{").replace("}", "}}")]
    generate = {"agent": "command", "provider": "fake", "model": "none", "command": command}
    shop.pool.configure(PROVIDER, VERIFY, f"generate: {json.dumps(generate)}\n", url="http://127.0.0.1:1", api="chat")
    assert shop.generate("--rounds", 1).code == 0
    assert shop.rounds() == ["provisional"]
