"""The plugin where namespaces were taken away: nothing runs unless the user has chosen with what isolation.

As root without CAP_SYS_ADMIN and as an ordinary user, both under a filter that refuses what makes namespaces.
"""

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from plugin.pool import OPTIONS, PROVIDER, SCREEN, SCRIPT, SOLVE, VALUE, Case, read_junit
from scripted_server import KEY, ScriptedServer, avoiding, by_model, by_question, computing, running, saying

from .elsewhere import WHO, Elsewhere, somebody
from .test_landlock import abi, needs_landlock
from .test_landlock import running as running_with

VERIFY = "verify: {time_limit: 60, repeats: 1}\n"


@dataclass(frozen=True, slots=True)
class Session:
    """A finished session."""

    code: int
    out: str
    cases: Mapping[str, Case]


@dataclass(frozen=True, slots=True)
class Pool:
    """A repository of candidates in somebody's home."""

    user: Elsewhere

    @property
    def root(self) -> Path:
        """Its directory."""
        return self.user.home / "bench"

    def write(self, path: str, text: str) -> Path:
        """Write a file."""
        file = self.root / path
        for folder in reversed(file.parents):
            if folder.is_relative_to(self.root) and not folder.exists():
                folder.mkdir()
                self.user.give(folder)
        file.write_text(textwrap.dedent(text), "utf-8")
        return self.user.give(file)

    def add(self, name: str, solution: str = SCRIPT) -> Path:
        """Write a candidate."""
        content = {
            "domain": "scipy",
            "question": f"What is the value of {name}?",
            "options": OPTIONS,
            "answer": "B",
            "solution": textwrap.dedent(solution),
        }
        return self.write(f"candidates/{name}.json", json.dumps(content))

    def configure(self, *parts: str, url: str = "") -> None:
        """Write `toolgate.yaml`."""
        text = "".join(textwrap.dedent(part) for part in parts)
        self.write("toolgate.yaml", text.replace("<url>", url).replace("<api>", "responses"))

    def run(self, *arguments: str) -> Session:
        """Run pytest as this user."""
        self.write("pytest.ini", "[pytest]\n")
        quiet = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:cacheprovider")
        done = subprocess.run(
            self.user.command(sys.executable, "-m", "pytest", *quiet, "--junitxml=junit.xml", *arguments),
            cwd=self.root,
            env={**self.user.environment(), "CANARY_KEY": KEY, "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=200,
            check=False,
        )
        return Session(done.returncode, done.stdout.decode(), read_junit(self.root / "junit.xml"))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        with closing(sqlite3.connect(f"file:{self.root / '.toolgate/toolgate.db'}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY time")]


@pytest.fixture(params=WHO)
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with somebody(request.param) as user:
        yield Pool(user)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as started:
        yield started


def test_by_default_nothing_runs_and_the_remedy_is_said(pool: Pool) -> None:
    pool.add("good", f"open({str(pool.root / 'ran')!r}, 'w')\n{SCRIPT}")
    pool.configure(VERIFY)
    session = pool.run()
    assert session.code != 0
    case = session.cases["good"]
    assert (case.tag, case.verdict) == ("error", "error verify sandbox")
    assert re.search(r"Bubblewrap cannot build a sandbox here \(bwrap: .+\); (type|start|root needs|names)", case.text)
    assert case.headline.endswith("or, with less isolation, set `sandbox: landlock` or `sandbox: none`")
    assert not (pool.root / "ran").exists()
    assert pool.rows("script_runs") == []
    assert "warning: sandbox" not in session.out


def test_an_agent_is_not_begun_either(pool: Pool, server: ScriptedServer) -> None:
    pool.add("good")
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    server.script = computing(VALUE)
    session = pool.run("--toolgate-gates=solve")
    assert session.cases["good"].verdict == "error solve sandbox"
    assert server.count == 0


@needs_landlock
@pytest.mark.parametrize("workers", [0, 2])
def test_landlock_verifies_solves_and_is_recorded(pool: Pool, server: ScriptedServer, workers: int) -> None:
    pool.add("first")
    pool.configure("sandbox: landlock\n", PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing(VALUE)})
    session = pool.run(f"-n{workers}")
    assert session.cases["first"].verdict == "accepted solve", session.out
    [header, summary] = [line for line in session.out.splitlines() if "warning: sandbox `landlock`" in line]
    assert header.startswith("toolgate ")
    assert summary.startswith("warning: sandbox `landlock`: scripts share ")
    record = json.loads((pool.root / "accepted/first.json").read_text())["record"]
    assert [run["sandbox"] for run in record["script_runs"]] == ["landlock"]
    assert [run["environment"]["sandbox"] for run in record["agent_runs"]] == ["landlock"]
    assert record["run"]["settings"]["sandbox"] == "landlock"


@needs_landlock
def test_landlock_can_hide_no_software_so_a_control_run_is_an_error(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    solve = SOLVE.replace("max_turns: 3", "max_turns: 3, control: true, reject_if_control_solves: true")
    pool.configure("sandbox: landlock\n", PROVIDER, solve, url=server.base_url)
    server.script = computing(VALUE)
    case = pool.run("--toolgate-gates=solve").cases["first"]
    assert case.verdict == "error solve sandbox"
    assert "whether the software was needed is not known: " in case.headline
    assert "of which the tier `landlock` can hide no part" in case.headline


@needs_landlock
def test_landlock_keeps_a_hostile_script_from_the_machine(pool: Pool) -> None:
    secret = pool.user.home / ".secret"
    secret.write_text("sk-canary-home")
    pool.user.give(secret)
    pool.add("other")
    mark = uuid.uuid4().hex
    neighbour = subprocess.Popen(pool.user.command("/bin/sleep", "120"), env=pool.user.environment())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        attack = f"""
            import os, scipy, signal, socket, subprocess, sys, time
            subprocess.Popen(["sh", "-c", "sleep 300"], start_new_session=True, env={{"MARK": {mark!r}}})
            if os.fork() == 0:
                os.setsid()
                if os.fork():
                    os._exit(0)
                time.sleep(300)
            harm = []
            def attempt(name, what):
                try:
                    what()
                    harm.append(name)
                except OSError:
                    pass
            attempt("home", lambda: open({str(secret)!r}).read())
            attempt("candidate", lambda: open({str(pool.root / "candidates/other.json")!r}).read())
            attempt("candidates", lambda: os.listdir({str(pool.root / "candidates")!r}))
            attempt("database", lambda: open({str(pool.root / ".toolgate/toolgate.db")!r}, "rb").read(1))
            attempt("network", lambda: socket.create_connection({listener.getsockname()!r}, timeout=5))
            attempt("signal", lambda: os.kill({neighbour.pid}, signal.SIGKILL))
            attempt("parent", lambda: os.kill(os.getppid(), signal.SIGKILL))
            attempt("write", lambda: open({str(pool.root / "planted")!r}, "w"))
            attempt("environment", lambda: open("/proc/{neighbour.pid}/environ").read())
            os.chmod({str(pool.root)!r}, 0)
            print(harm)
            print("ANSWER: {VALUE}" if not harm else "ANSWER: 1")
        """
        pool.add("attack", attack)
        pool.configure("sandbox: landlock\n", VERIFY)
        try:
            session = pool.run()
            assert neighbour.poll() is None
        finally:
            neighbour.kill()
            neighbour.wait()
        listener.settimeout(0.1)
        with pytest.raises(TimeoutError):
            listener.accept()
    assert {name: case.verdict for name, case in session.cases.items()} == {
        "attack": "provisional verify",
        "other": "provisional verify",
    }, session.out
    assert not (pool.root / "planted").exists()
    assert pool.root.stat().st_mode & 0o700 == 0o700
    assert running_with(mark) == []


def test_none_runs_and_the_record_says_so(pool: Pool) -> None:
    pool.add("good")
    pool.configure("sandbox: none\n", VERIFY)
    session = pool.run()
    assert session.cases["good"].verdict == "provisional verify", session.out
    assert [row["sandbox"] for row in pool.rows("script_runs")] == ["none"]
    warnings = [line for line in session.out.splitlines() if "warning: sandbox `none`" in line]
    assert [line.startswith("toolgate ") for line in warnings] == [True, False]


def test_an_agent_run_with_less_isolation_is_not_reused_with_more(server: ScriptedServer) -> None:
    """It might have looked up the answer. What was done with more isolation is not reused with less either."""
    with somebody(WHO[0]) as user:
        pool = Pool(user)
        pool.add("good")
        server.script = computing(VALUE)
        runs = []
        for tier in ("none", "landlock", "none") if abi() >= 6 else ("none", "none"):
            pool.configure(f"sandbox: {tier}\n", PROVIDER, SOLVE, url=server.base_url)
            session = pool.run("--toolgate-gates=solve")
            assert session.cases["good"].verdict == "provisional solve", session.out
            runs.append(tier)
        tiers = [json.loads(row["environment"])["sandbox"] for row in pool.rows("agent_runs")]
    assert tiers == list(dict.fromkeys(runs))


def test_a_tier_that_is_none_of_them_ends_the_session(pool: Pool) -> None:
    pool.add("good")
    pool.configure("sandbox: docker\n")
    session = pool.run()
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "toolgate.yaml:1: `sandbox` must be one of bubblewrap, landlock, none, not `docker`" in session.out


@needs_landlock
def test_an_agent_in_landlock_cannot_look_the_answer_up(pool: Pool, server: ScriptedServer) -> None:
    candidate = pool.add("good")
    look = f"""
import scipy
try:
    print(open({str(candidate)!r}).read())
except OSError as error:
    open("answer.txt", "w").write("no")
"""
    pool.configure("sandbox: landlock\n", PROVIDER, SOLVE, url=server.base_url)
    server.script = by_question({"good?": running(look)}, saying(""))
    session = pool.run("--toolgate-gates=solve")
    assert session.cases["good"].verdict == "review solve bad-answer-file"
    assert os.listdir(pool.user.home) == ["bench"]  # noqa: PTH208
