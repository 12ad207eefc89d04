"""Sealed: an agent that searches for what it must not know finds none of it, and one that knows it is void."""

import json
import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from agent_server import KEY, AgentServer, Run, Say, by_question, turns
from scripted_server import ScriptedServer, running, saying
from scripted_server import by_question as chat_by_question

from . import plain_agent
from .pool import PROVIDER, SCRIPT, Pool, wait_until
from .programs import CODEX

pytestmark = pytest.mark.slow

GATE = "--toolgate-gates=solve"
SEARCHER = Path(__file__).with_name("searcher.py").read_text()
# What another solve does meanwhile: it has canaries wherever a process can have them, for as long as a search takes.
_NEIGHBOUR = """
import os, socket, subprocess, sys, time
open("<workspace>", "w").write("<workspace>")
open(os.environ["HOME"] + "/x", "w").write("<workspace>")
open("/dev/shm/x", "w").write("<workspace>")
hold = "import time; x = '<neighbour>'; time.sleep(15)"
child = subprocess.Popen([sys.executable, "-c", hold], env={**os.environ, "X": "<neighbour>"})
try:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\\0<neighbour>")
    server.listen()
except PermissionError:
    pass  # scripts have no sockets
child.wait()
"""


@dataclass
class Canaries:
    """Strings that are nowhere else; each says where it was put."""

    made: dict[str, str] = field(default_factory=dict)

    def of(self, place: str) -> str:
        """The canary of a place."""
        return self.made.setdefault(place, f"TGC{place}-{secrets.token_hex(8)}")


@dataclass(frozen=True)
class Scene:
    """A repository with a canary wherever an agent must not look.

    Attributes:
        also: Paths of the host that a searcher is told.
        ports: Where something listens on the host.
    """

    pool: Pool
    canaries: Canaries
    also: tuple[str, ...]
    ports: tuple[int, ...]

    def order(self, **changes: object) -> str:
        """What a searcher is told to do."""
        return json.dumps({"roots": ["/"], "also": self.also, "processes": None, "ports": [], **changes})

    @property
    def neighbour(self) -> str:
        """The script of another solve."""
        text = _NEIGHBOUR
        for name in ("workspace", "neighbour"):
            text = text.replace(f"<{name}>", self.canaries.of(name))
        return text


@pytest.fixture
def scene(pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Scene]:
    canaries = Canaries()
    home = tmp_path / "home"
    for name, path in {
        "codex-home": ".codex/AGENTS.md",
        "skills": ".agents/skills/x/SKILL.md",
        "claude-home": ".claude/CLAUDE.md",
        "config": ".config/x/config",
        "cache": ".cache/x",
        "history": ".bash_history",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(canaries.of(name))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SECRET_OF_PYTEST", canaries.of("environment"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    for name in ("case-search", "case-neighbour"):
        pool.add(
            name,
            f"# {canaries.of('script')}\n{SCRIPT}",
            distractors={"A": canaries.of("distractor")},
            metadata={"note": canaries.of("metadata"), "canary": canaries.of("candidate")},
        )
    pool.write("candidates/notes.md", canaries.of("beside"))
    beyond = pool.root.parent / f"beyond-{secrets.token_hex(4)}"
    beyond.write_text(canaries.of("parent"))
    left_over = pool.temporary / "left-over"
    left_over.write_text(canaries.of("temporary"))
    _commit(pool, canaries.of("git"))
    assert pool.run("--toolgate-gates=lint").code == 0
    with closing(sqlite3.connect(pool.database)) as connection, connection:
        connection.execute("INSERT INTO run_events VALUES ('x', 't', 'r', 'closed', ?)", [canaries.of("database")])
    also = (pool.root, home, beyond, pool.temporary, pool.database)
    with _listening(canaries.of("port").encode()) as port:
        yield Scene(pool, canaries, tuple(map(str, also)), (port,))
    beyond.unlink()


def _commit(pool: Pool, canary: str) -> None:
    """A commit with a file that is there no more, and a message."""
    pool.write("gone.txt", canary)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (["init", "-q"], ["add", "gone.txt"], [*who, "commit", "-qm", canary], ["rm", "-q", "gone.txt"]):
        subprocess.run(["git", "-C", pool.root, *words], check=True)


class _listening:  # noqa: N801 - used like a function
    """A server of the host that says something to everybody."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._server = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> int:
        threading.Thread(target=self._serve, daemon=True).start()
        port: int = self._server.getsockname()[1]
        return port

    def __exit__(self, *error: object) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                connection.sendall(self._words)


def as_script(order: str) -> str:
    """The searcher as the text of a script."""
    return f"import sys\nsys.argv = ['searcher', {order!r}]\n{SEARCHER}"


def as_command(script: str) -> str:
    """A script as a command of a shell."""
    return f"python - <<'END-OF-SCRIPT'\n{script}\nEND-OF-SCRIPT"


def result(text: str) -> dict[str, Any]:
    """What a searcher said."""
    line = next(line for line in text.splitlines() if line.startswith("SEARCH {"))
    found: dict[str, Any] = json.JSONDecoder().raw_decode(line.removeprefix("SEARCH "))[0]
    return found


def said(pool: Pool, name: str) -> str:
    """What the commands of a solve printed."""
    [row] = [row for row in pool.recorded("agent_runs") if row["name"] == name]
    entries = json.loads(row["transcript"])
    return "\n".join(str(entry.get("stdout", "")) + str(entry.get("text", "")) for entry in entries)


def _prepare(agent: str, scene: Scene, monkeypatch: pytest.MonkeyPatch, url: Mapping[str, str]) -> None:
    if agent == "plain":
        scripts = {"case-search": as_script(scene.order()), "case-neighbour": scene.neighbour}
        plain_agent.install(scene.pool, monkeypatch, scripts, add=False)
        scene.pool.configure(PROVIDER, plain_agent.SOLVE.replace("20", "60"), url="http://127.0.0.1:9")
        return
    model = (
        "agent-model, time_limit: 60, max_turns: 3"
        if agent == "builtin"
        else f"agent-model, program: {CODEX}, time_limit: 60"
    )
    solve = f"solve: {{agent: {agent}, provider: fake, model: {model}}}\n"
    scene.pool.configure(PROVIDER, solve, url=url[agent])


@pytest.mark.parametrize("agent", ["plain", "builtin", "codex"])
def test_a_search_finds_nothing(
    scene: Scene, agent: str, server: ScriptedServer, model: AgentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    if agent == "codex":
        monkeypatch.setenv("CANARY_KEY", KEY)
    _prepare(agent, scene, monkeypatch, {"builtin": server.base_url, "codex": model.base_url})
    search = as_script(scene.order())
    server.script = chat_by_question(
        {"case-search?": running(search, "I give up."), "case-neighbour?": running(scene.neighbour, "I give up.")},
        saying(""),
    )
    model.script = by_question({
        "case-search": turns(Run(as_command(search)), Say("I give up.")),
        # The command goes on in the background when Codex looks back at its model.
        "case-neighbour": turns(Run(as_command(scene.neighbour)), Run("sleep 8"), Run("sleep 8"), Say("I give up.")),
    })  # fmt: skip
    # The name of a plugin that there is not is in the arguments of all processes.
    session = scene.pool.run(GATE, "-p", f"no:{scene.canaries.of('arguments')}", workers=2)

    assert session.verdicts == dict.fromkeys(("case-search", "case-neighbour"), "review solve no-answer"), session.out
    search_result = result(said(scene.pool, "case-search"))
    assert search_result["found"] == []
    assert search_result["files"] > 50
    assert search_result["processes"] >= 2
    [neighbour] = [row for row in scene.pool.recorded("agent_runs") if row["name"] == "case-neighbour"]
    ended = datetime.fromisoformat(neighbour["time"]).timestamp()
    assert ended - neighbour["wall"] < search_result["began"] < search_result["ended"] < ended
    assert neighbour["wall"] > 14


def test_the_same_search_outside_of_a_sandbox_finds_everything(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    _prepare("plain", scene, monkeypatch, {})
    arguments = [GATE, "-p", f"no:{scene.canaries.of('arguments')}", "-k", "neighbour"]
    with scene.pool.started(*arguments, workers=2) as session:
        runs = "toolgate-run-*/agent-*/TGC*"
        wait_until(lambda: list(Path(tempfile.gettempdir()).glob(runs)) or list(scene.pool.temporary.glob(runs)))
        order = scene.order(roots=scene.also, also=(), processes=_group(session.process.pid), ports=scene.ports)
        search = [sys.executable, "-c", SEARCHER, order]
        printed = subprocess.run(search, cwd=scene.pool.root, stdout=subprocess.PIPE, text=True, check=True).stdout
    missing = scene.canaries.made.keys() - set(result(printed)["found"])
    # An abstract socket is the network's, and those of two sandboxes differ; the rest is a process's own.
    assert missing <= (set() if os.geteuid() == 0 else {"neighbour"})


def _group(leader: int) -> list[int]:
    """The processes of a session, those in its sandboxes included."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {leader}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


# --- tripwires ----------------------------------------------------------------------------------------------

CANARY = "5e0c1d2a-93b7-4f18-a6e4-0c9b7d21f3aa"
SHOWN: Mapping[str, tuple[str, str]] = {
    "stdout": ("print(CANARY); write(right)", "in the stdout of its program"),
    "stderr": ("print(CANARY.upper(), file=sys.stderr); write(right)", "in the stderr of its program"),
    "long-ago": ("print(CANARY[::-1], 'x' * 200_000); write(right)", "in reverse was seen in the stdout"),
    "base64": ("import base64; print(base64.b64encode(b'x' + CANARY.encode())); write(right)", "in base64 was seen"),
    "answer": ("write(CANARY)", "in the answer file"),
    "answer-hex": ("write(CANARY.encode().hex())", "in hexadecimal was seen in the answer file"),
    "no-answer": ("print(CANARY); sys.exit(1)", "in the stdout of its program"),
    "time-over": ("print(CANARY, flush=True); import time; time.sleep(60)", "in the stdout of its program"),
}  # fmt: skip


def test_whoever_shows_the_canary_of_a_candidate_is_void(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {f"case-{name}": f"CANARY = {CANARY!r}\n{script}" for name, (script, _) in SHOWN.items()}
    scripts["case-innocent"] = "write(right)"
    plain_agent.install(pool, monkeypatch, scripts, add=False)
    for name in scripts:
        pool.add(name, metadata={"canary": CANARY})
    pool.configure(PROVIDER, plain_agent.SOLVE.replace("20", "5"), url="http://127.0.0.1:9")
    session = pool.run(GATE, workers=2)
    verdicts = dict.fromkeys(scripts, "error solve sandbox") | {"case-innocent": "provisional solve"}
    assert session.verdicts == verdicts, session.out
    for name, (_, where) in SHOWN.items():
        line = session.line_about(f"case-{name}")
        assert "the canary of this candidate" in line
        assert where in line
    rows = {row["name"]: row for row in pool.recorded("agent_runs")}
    assert CANARY in rows["case-stdout"]["transcript"]
    assert rows["case-answer"]["answer"] == CANARY
    # Nothing of this is a verdict, so all but one are asked again.
    again = pool.run(GATE, workers=2)
    assert again.verdicts == verdicts
    assert len(pool.recorded("agent_runs")) == 2 * len(SHOWN) + 1


def test_a_canary_that_everybody_is_shown_is_none(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_agent.install(pool, monkeypatch, {"case-shown": "print(problem); write(right)"}, add=False)
    pool.add("case-shown", metadata={"canary": "the value of case-shown"})
    pool.configure(PROVIDER, plain_agent.SOLVE, url="http://127.0.0.1:9")
    assert pool.run(GATE).verdicts == {"case-shown": "provisional solve"}


def test_a_request_that_holds_a_tripwire_is_not_sent(pool: Pool, server: ScriptedServer) -> None:
    pool.add("case-prints", metadata={"canary": CANARY})
    pool.add("case-writes", metadata={"canary": CANARY})
    pool.configure(
        PROVIDER,
        "solve: {agent: builtin, provider: fake, model: m, time_limit: 20, max_turns: 3}\n",
        url=server.base_url,
    )
    server.script = chat_by_question(
        {"case-prints?": running(f"print('{CANARY}')"), "case-writes?": saying(f"I know {CANARY}.")}, saying("")
    )
    session = pool.run(GATE)
    assert set(session.verdicts.values()) == {"error solve sandbox"}
    assert "in the stdout of a command" in session.line_about("case-prints")
    assert "in a request to its model" in session.line_about("case-writes")
    assert server.count == 2
    assert all(CANARY in row["transcript"] for row in pool.recorded("agent_runs"))


def test_a_request_of_a_program_is_not_sent_either(
    pool: Pool, model: AgentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    pool.add("case-codex", metadata={"canary": CANARY})
    solve = f"solve: {{agent: codex, program: {CODEX}, provider: fake, model: agent-model, time_limit: 40}}\n"
    pool.configure(PROVIDER, solve, url=model.base_url)
    model.script = turns(Run(f"python -c 'print(bytes.fromhex(\"{CANARY.encode().hex()}\").decode())'"), Say("Done."))
    session = pool.run(GATE)
    assert session.verdicts == {"case-codex": "error solve sandbox"}
    assert len(model.requests) == 1


_LEAKS = """
import os
from pathlib import Path
from pytest_toolgate.agents import AgentRun

def leaks(task):
    run = task.workspace.parent
    [file] = [file for file in (Path.cwd() / ".toolgate").iterdir() if ".seal-" in file.name]
    tokens = {os.environ["TOOLGATE_SEAL"], (run / "seal").read_text(), file.read_text()}
    (task.workspace / "answer.txt").write_text(next(k for k, v in task.options.items() if v == "0.060723"))
    return AgentRun("finished", tuple({"role": "x", "text": token[::-1]} for token in tokens))
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_every_run_has_a_token_that_nobody_is_shown(pool: Pool, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    plain_agent.install(pool, monkeypatch, {"first": ""})
    pool.write("site/leaking_agent.py", _LEAKS)
    pool.write("site/plain-1.dist-info/entry_points.txt", "[pytest_toolgate.agents]\nleaks = leaking_agent:leaks\n")
    pool.configure(PROVIDER, "solve: {agent: leaks, provider: fake, model: m}\n", url="http://127.0.0.1:9")
    tokens = []
    for _ in range(2):
        session = pool.run(GATE, workers=workers)
        assert session.verdicts == {"first": "error solve sandbox"}, session.out
        assert "the token of this run in reverse was seen in entry 1 of the transcript" in session.line_about("first")
        [token] = pool.rows("SELECT seal FROM runs ORDER BY time DESC LIMIT 1")
        assert len(token["seal"]) == 32
        assert token["seal"] not in session.out + session.err
        tokens.append(token["seal"])
    assert tokens[0] != tokens[1]
    # It lay in the same words in three places, of which none is left.
    assert all(len(json.loads(row["transcript"])) == 1 for row in pool.recorded("agent_runs"))
    assert not [path for path in (pool.root / ".toolgate").iterdir() if ".seal-" in path.name]
