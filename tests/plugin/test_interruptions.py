"""Ctrl-C, SIGTERM, killed and crashing workers: nothing that was finished is lost."""

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_server import STALL, ScriptedServer, always, avoiding, by_question, running

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, Pool, processes, wait_until

GATE = "--toolgate-gates=screen"
WRONG = avoiding(VALUE)
PASSED = "provisional screen"
# Leaves the process of each item in a file, and does the worst to one that is named so.
CONFTEST = """
    import os, signal
    import pytest

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(item):
        with open(item.config.rootpath / f"{item.name}.pid", "w") as file:
            file.write(str(os.getpid()))
        if "exits" in item.name:
            os._exit(3)
"""


def _outcomes(pool: Pool) -> dict[str, list[str]]:
    """Name -> its outcomes and reasons in the database, in order."""
    found: dict[str, list[str]] = {}
    for row in pool.recorded("outcomes"):
        found.setdefault(row["name"], []).append(f"{row['outcome']} {row['reason']}".strip())
    return found


@pytest.mark.parametrize("way", ["ctrl-c", "sigterm"])
def test_a_stopped_run_keeps_what_was_finished(pool: Pool, server: ScriptedServer, way: str, workers: int) -> None:
    for name in ("a-done", "b-hangs", "c-hangs", "d-waits"):
        pool.add(name)
    pool.configure(PROVIDER.replace("timeout: 5", "timeout: 60"), SCREEN, url=server.base_url)
    server.script = by_question({"hangs": always(STALL)}, WRONG)
    with pool.started(GATE, workers=workers) as run:
        wait_until(lambda: server.count >= 1 + max(1, workers))
        time.sleep(0.5)
        run.signal_group(signal.SIGINT) if way == "ctrl-c" else run.signal(signal.SIGTERM)
        assert run.wait() == 2

    cases = pool.junit()
    assert cases["a-done"].verdict == PASSED
    assert _outcomes(pool)["a-done"] == ["provisional"]
    output = run.output.read_text("utf-8")
    assert "candidates/d-waits.yaml: error: not-run" in output
    assert "INTERNALERROR" not in output
    assert pool.rows("SELECT kind FROM run_events") == [{"kind": "closed"}]
    assert not _left_over(pool)
    assert not list(pool.temporary.iterdir())

    server.forget()
    server.script = WRONG
    session = pool.run(GATE, workers=workers)
    assert set(session.verdicts.values()) == {PASSED}
    assert session.cases["a-done"].properties["reused"] == "1"
    assert not [asked for asked in server.requests if "a-done" in asked.prompt]


@pytest.mark.parametrize("way", ["killed", "exits"])
def test_a_worker_that_dies_takes_one_candidate_with_it(pool: Pool, server: ScriptedServer, way: str) -> None:
    """H05: an error for that one, each candidate reported once, the others judged."""
    names = ["a-first", f"b-{way}", "c-third", "d-fourth"]
    for name in names:
        pool.add(name)
    pool.write("conftest.py", CONFTEST)
    patient = PROVIDER.replace("timeout: 5", "timeout: 15").replace("attempts: 2", "attempts: 1")
    pool.configure(patient, SCREEN, url=server.base_url)
    server.script = by_question({"b-killed": always(STALL)}, WRONG)
    with pool.started(GATE, workers=2) as run:
        if way == "killed":
            wait_until(lambda: any("b-killed" in asked.prompt for asked in server.requests))
            wait_until((pool.root / "b-killed.pid").exists)
            pool.add("aa-late")  # the worker that takes over collects again, and must not be misled
            os.kill(int((pool.root / "b-killed.pid").read_text()), signal.SIGKILL)
        assert run.wait() == 1

    cases = pool.junit()
    assert sorted(cases) == names
    assert {name: case.verdict for name, case in cases.items() if name != names[1]} == {
        "a-first": PASSED, "c-third": PASSED, "d-fourth": PASSED,
    }  # fmt: skip
    lost = cases[names[1]]
    assert lost.tag == "error"
    assert lost.properties["outcome"] == "error"
    assert lost.properties["reason"] == "interrupted"
    assert lost.headline.startswith(f"error at {lost.properties['gate']}: interrupted: the worker process died")
    assert _outcomes(pool)[names[1]][-1] == "error interrupted"
    # What the dead worker had judged and not yet reported is judged again.
    assert {name: set(outcomes) for name, outcomes in _outcomes(pool).items() if name != names[1]} == {
        "a-first": {"provisional"}, "c-third": {"provisional"}, "d-fourth": {"provisional"},
    }  # fmt: skip
    output = run.output.read_text("utf-8")
    assert "3 judged, 1 without verdict" in output
    assert f"candidates/{names[1]}.yaml: error at" in output


def test_a_killed_session_leaves_no_script_behind(pool: Pool) -> None:
    pool.add("first", "import subprocess, scipy\nsubprocess.run(['sleep', '617.3051'])")
    with pool.started() as run:
        wait_until(lambda: processes("sleep 617.3051"))
        run.signal(signal.SIGKILL)
        wait_until(lambda: not processes("sleep 617.3051"), 10)


def test_the_backstop_is_later_than_the_gates_own_deadlines(pool: Pool) -> None:
    """H07: a short `--timeout` of the thread kind neither kills the session nor loses the verdict."""
    pool.add("a-quick")
    pool.add("b-sleeps", "import time\ntime.sleep(60)")
    pool.configure("verify: {time_limit: 3, repeats: 1}")
    session = pool.run("--timeout=1", "--timeout-method=thread")
    assert session.verdicts == {"a-quick": "provisional verify", "b-sleeps": "rejected verify timeout"}
    assert _outcomes(pool) == {"a-quick": ["provisional"], "b-sleeps": ["rejected timeout"]}


def _left_over(pool: Pool) -> list[str]:
    """Processes that still work in this repository."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and (process / "cwd").resolve() == pool.root:
                found.append(process.name)
        except OSError:
            continue
    return found


def test_the_next_run_closes_one_that_was_killed(pool: Pool) -> None:
    """By an appended event; and the private directory that it left behind goes."""
    pool.add("first", "import subprocess, scipy\nsubprocess.run(['sleep', '617.3051'])")
    with pool.started() as run:
        wait_until(lambda: processes("sleep 617.3051"))
        run.signal(signal.SIGKILL)
        wait_until(lambda: not processes("sleep 617.3051"), 10)
    [killed] = pool.rows("SELECT id, machine FROM runs")
    directory = Path(json.loads(killed["machine"])["directory"])
    assert directory.is_dir()
    assert pool.rows("SELECT * FROM run_events") == []

    pool.add("first")
    pool.run()
    assert not directory.exists()
    kinds = {row["run_id"]: row["kind"] for row in pool.rows("SELECT run_id, kind FROM run_events")}
    assert kinds.pop(killed["id"]) == "killed"
    assert list(kinds.values()) == ["closed"]


def test_a_killed_agent_has_left_what_was_paid_for(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    server.script = running("import subprocess\nsubprocess.run(['sleep', '617.3052'])")
    with pool.started("--toolgate-gates=solve") as run:
        wait_until(lambda: processes("sleep 617.3052"))
        run.signal(signal.SIGKILL)
        wait_until(lambda: not processes("sleep 617.3052"), 10)
    [reply] = pool.rows("SELECT number, status, text, output_tokens FROM agent_replies")
    assert (reply["number"], reply["status"], reply["output_tokens"]) == (1, "complete", 10)
    assert "617.3052" in reply["text"]


def test_workers_of_a_killed_session_buy_nothing_more(pool: Pool, server: ScriptedServer) -> None:
    """Only the controlling process is killed; its workers find out by themselves."""
    for number in range(12):
        pool.add(f"case-{number:02}")
    pool.configure(PROVIDER.rstrip() + "\n        max_concurrency: 2\n", SCREEN, url=server.base_url)
    server.script = lambda asked: replace(WRONG(asked), delay=0.5)
    with pool.started(GATE, workers=2) as run:
        wait_until(lambda: server.count >= 3)
        run.signal(signal.SIGKILL)
        time.sleep(0.5)
        at_work = server.count
        time.sleep(3)
        assert server.count == at_work
    assert at_work < 12
    assert "internal" not in {row["reason"] for row in pool.rows("SELECT reason FROM outcomes")}
