"""Codex CLI itself, asking a model that follows a script."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent_server import (
    HANG,
    INPUT,
    KEY,
    REASONING,
    AgentServer,
    Run,
    Say,
    outputs,
    turns,
)
from exchange import Asked

from .agent_cases import GATE, MARK, PASS, RIGHT, WRONG, Cases, add, judged, play
from .pool import VALUE, VERIFY, Pool, processes, wait_until
from .programs import CODEX

PROVIDER = """
    providers:
      fake: {api: responses, base_url: "<url>", api_key_env: AGENT_KEY, retries: {attempts: 2, max_wait: 1}}
"""
SOLVE = f"solve: {{agent: codex, program: {CODEX}, provider: fake, model: agent-model, time_limit: 40}}\n"
IN_A_HURRY = SOLVE.replace("40", "5")
TIMEOUT = "review solve timeout"
DONE = Say("Done.")
CONNECT = 'python -c \'import socket; socket.create_connection(("127.0.0.1", {port}), 3); print("CONNEC" + "TED")\''
OUTSIDE = {"sandbox_permissions": "require_escalated", "justification": "it is needed"}
CASES: Cases = {
    "solves": (turns(Run(RIGHT), DONE), PASS),
    "wrong": (turns(Run(WRONG), DONE), "review solve wrong"),
    "silent": (turns(Say("I do not know.")), "review solve no-answer"),
    "floods": (turns(Run(f"{RIGHT}; yes | head -c 3000000"), DONE), PASS),
    "flees": (turns(Run(f"{RIGHT}; {CONNECT.format(port=8080)}", OUTSIDE), Run(WRONG), DONE), "review solve wrong"),
    "fills": (turns(Run("dd if=/dev/zero of=/dev/x bs=1M count=300; sleep 2"), DONE), "error solve agent"),
}
# Within five seconds.
SLOW: Cases = {
    "loops": (turns(Run("echo once more")), TIMEOUT),
    "sleeps": (turns(Run(f"{RIGHT}; setsid sleep {MARK} & sleep {MARK}")), TIMEOUT),
    "stalls-later": (turns(Run("true"), HANG), TIMEOUT),
    "stalls-at-once": (turns(HANG), "error solve provider"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)


@pytest.fixture(autouse=True)
def _nothing_is_left(pool: Pool) -> Iterator[None]:
    """No process, no mount, and no file of a run."""
    mounts = Path("/proc/mounts").read_text()
    yield
    assert not processes(MARK)
    assert Path("/proc/mounts").read_text() == mounts
    assert not list(pool.temporary.glob("toolgate-*"))


def about(model: AgentServer, name: str) -> list[Asked]:
    """The requests about a candidate."""
    return [asked for asked in model.requests if f"{name}?" in json.dumps(asked.body)]


def test_what_codex_leaves_is_judged(pool: Pool, model: AgentServer) -> None:
    session, rows = judged(pool, model, CASES, PROVIDER, SOLVE, VERIFY.replace("}", ", disk: 200000000}"))
    assert rows["solves"]["reasoning_tokens"] == 2 * REASONING
    assert rows["solves"]["agent_version"] == "codex-cli 0.171.0"
    *_, command, said, end = json.loads(rows["solves"]["transcript"])
    assert [entry["role"] for entry in (command, said, end)] == ["command", "assistant", "end"]
    assert 50e6 < end["peak_memory"] < 250e6
    replies = [row for row in pool.recorded("agent_replies") if row["name"] == "case-solves"]
    assert [row["input_tokens"] for row in replies] == [INPUT, INPUT]
    assert "answer.txt" in replies[0]["text"]
    # What is too much is cut, by Codex for its model and by us for the record.
    assert len(rows["floods"]["transcript"]) < 20_000
    # It may not leave its sandbox, whatever its model asks for.
    assert "CONNECTED" not in rows["flees"]["transcript"]
    assert any("reject" in outputs(asked)[0] for asked in about(model, "case-flees") if outputs(asked))
    assert "disk-limit" in session.cases["case-fills"].headline

    # What was judged is judged no second time, unless by another version.
    model.requests.clear()
    again = pool.run(GATE)
    assert again.verdicts == session.verdicts
    assert {name for name in session.verdicts if about(model, name)} == {"case-fills"}
    other = pool.write("other/codex", '#!/bin/sh\n[ "$1" = --version ] && echo codex-cli 9.9.9\n')
    other.chmod(0o755)
    pool.configure(PROVIDER, SOLVE.replace(str(CODEX), str(other)), url=model.base_url)
    assert pool.run(GATE, "candidates/case-solves.yaml").verdicts == {"case-solves": "error solve sandbox"}


@pytest.mark.slow
def test_its_time_is_limited(pool: Pool, model: AgentServer) -> None:
    expected = play(pool, model, SLOW)
    pool.configure(PROVIDER, IN_A_HURRY, url=model.base_url)
    session = pool.run(GATE, workers=2)
    assert session.verdicts == expected, session.out
    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    assert rows["loops"]["turns"] > 2
    assert rows["sleeps"]["value"] == VALUE  # what it had left is on the record, and no answer
    # A model that stalls keeps nobody for longer than that.
    assert all(row["wall"] < 12 for row in rows.values()), {name: row["wall"] for name, row in rows.items()}
    stalled = [row for row in pool.recorded("agent_replies") if row["name"] == "case-stalls-later"]
    assert [row["status"] for row in stalled] == ["complete", "abandoned"]


def test_what_it_is_given_and_what_not(pool: Pool, model: AgentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", "/nonexistent")
    look = "env; ls -la /sandbox/home; touch ~/.cache/x ~/.config/x ~/.local/x /dev/shm/x /tmp/x && echo WRITTEN; "
    port = model.base_url.split(":")[2].split("/")[0]
    tries = [CONNECT.format(port=8080), CONNECT.format(port=port), "exec 3<>/dev/tcp/127.0.0.1/8080 && echo CONNECTED"]
    add(pool, "case")
    pool.configure(
        PROVIDER,
        SOLVE.replace("model: agent-model", "model: agent-model, reasoning: high, max_output_tokens: 900"),
        url=model.base_url,
    )
    model.script = turns(Run(look), *(Run(f"bash -c {json.dumps(attempt)}") for attempt in tries), Run(RIGHT), DONE)
    session = pool.run(GATE)

    assert session.verdicts == {"case": PASS}, session.out
    first, last = model.requests[0], model.requests[-1]
    assert [tool["name"] for tool in first.body["tools"]] == [
        "exec_command",
        "write_stdin",
        "request_user_input",
        "view_image",
    ]
    assert first.effort == "high"
    assert {asked.body["max_output_tokens"] for asked in model.requests} == {900}
    assert 20_000 < len(json.dumps(first.body)) < 40_000
    assert first.headers["authorization"] == f"Bearer {KEY}"
    seen, *attempts, _ = outputs(last)
    environment = dict(line.split("=", 1) for line in json.loads(seen).splitlines() if "=" in line)
    assert environment["HOME"] == "/sandbox/home"
    assert environment["CODEX_HOME"] == "/sandbox/home/.codex"
    assert all(environment[f"XDG_{kind}_HOME"].startswith("/sandbox/home/") for kind in ("CACHE", "CONFIG", "DATA"))
    assert not [name for name in environment if "KEY" in name]
    assert "WRITTEN" in seen
    assert KEY not in json.dumps(last.body)
    assert len(attempts) == len(tries)
    assert not [attempt for attempt in attempts if "CONNECTED" in attempt]
    recorded = pool.database.read_bytes()
    assert KEY.encode() not in recorded


@pytest.mark.slow
def test_a_codex_that_is_killed_says_nothing_of_the_candidate(pool: Pool, model: AgentServer) -> None:
    add(pool, "case")
    pool.configure(PROVIDER, SOLVE, url=model.base_url)
    model.script = turns(HANG)
    with pool.started(GATE) as started:
        wait_until(lambda: model.requests)
        for process in processes(MARK):
            os.kill(int(process), signal.SIGKILL)
        killed = time.monotonic()
        started.wait()
    assert pool.junit()["case"].verdict == "error solve agent"
    assert "signal 9" in pool.junit()["case"].headline
    assert time.monotonic() - killed < 20  # of the forty that the call had left
    [reply] = pool.recorded("agent_replies")
    assert (reply["status"], reply["cost"]) == ("abandoned", None)


@pytest.mark.slow
def test_where_it_cannot_make_its_own_sandbox_it_is_not_asked(pool: Pool, model: AgentServer) -> None:
    add(pool, "case")
    pool.write("conftest.py", NO_USER_NAMESPACES)
    pool.configure(PROVIDER, SOLVE, url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case": "error solve sandbox"}
    if os.geteuid() == 0:  # else our own cannot be made either
        assert "Codex cannot make its own sandbox within ours" in session.cases["case"].headline
    assert not model.requests


def test_it_needs_the_strongest_tier(pool: Pool, model: AgentServer) -> None:
    add(pool, "case")
    pool.configure("sandbox: none\n", PROVIDER, SOLVE, url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case": "error solve sandbox"}
    assert "the agent `codex` needs `sandbox: bubblewrap`" in session.cases["case"].headline


def test_where_it_is_missing_it_is_said_how_it_is_installed(
    pool: Pool, model: AgentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(pool, "case")
    pool.configure(PROVIDER, SOLVE.replace(f"program: {CODEX}, ", ""), url=model.base_url)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    session = pool.run(GATE)
    assert session.verdicts == {"case": "error solve agent"}
    assert "npm install -g @openai/codex" in session.cases["case"].headline


# To wait for a place is not to work: two that need three seconds each, on a machine with a place for one.
@pytest.mark.slow
def test_waiting_for_others_costs_no_time(pool: Pool, model: AgentServer) -> None:
    expected = play(pool, model, {name: (turns(Run("sleep 3"), Run(RIGHT), DONE), PASS) for name in ("a", "b")})
    pool.configure(PROVIDER, SOLVE.replace("40", "8"), url=model.base_url)
    with one_core():
        session = pool.run(GATE, workers=2)
    assert session.verdicts == expected, session.out


@contextmanager
def one_core() -> Iterator[None]:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


# As on a machine whose kernel, or container, lets nobody make user namespaces.
NO_USER_NAMESPACES = """
    import ctypes, platform, struct

    LOAD, EQUAL, ANY, RETURN, FINE, EPERM = 0x20, 0x15, 0x45, 0x06, 0x7FFF0000, 0x50001
    clone, unshare = {"x86_64": (56, 272), "aarch64": (220, 97)}[platform.machine()]
    steps = [
        (LOAD, 0, 0, 0), (EQUAL, 0, 1, 435), (RETURN, 0, 0, 0x50026),
        (EQUAL, 1, 0, clone), (EQUAL, 0, 3, unshare),
        (LOAD, 0, 0, 16), (ANY, 0, 1, 0x10000000), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, FINE),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    filter = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()
"""
