"""Verify under load: a script that others held up is no timeout, and one that does nothing is."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest
from scripted_server import Reply, ScriptedServer

from .pool import PROVIDER, Pool, wait_until

pytestmark = pytest.mark.slow

# A fifth of the limit below on a processor of its own, and three times what the load leaves of one.
_WORKS = """
    import scipy, time
    while time.process_time() < 1.0:
        pass
    print("ANSWER: 0.060723")
"""
# Each process in a session of its own: a kernel that shares processors among sessions would count them as one.
_LOAD = """
    import os, sys
    parent = os.getpid()
    for _ in range(12 * os.cpu_count()):
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == parent:
                pass
            os._exit(0)
    print("busy", flush=True)
    sys.stdin.read()
"""
_SLEEPS = """
    import sys, time
    print("begun", flush=True)
    sys.stderr.write("waiting for a licence\\n")
    time.sleep(1e6)
"""
_TIMED = """
    import scipy, time
    print("begun", time.monotonic(), flush=True)
    time.sleep({seconds})
    print("ended", time.monotonic())
    print("ANSWER: 0.060723")
"""


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Keep every core so busy that nothing gets more than a thirteenth of one."""
    command = [sys.executable, "-c", textwrap.dedent(_LOAD)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"busy\n"
            yield
        finally:
            process.kill()


def number_of(pool: Pool, what: str) -> int:
    try:
        return len(pool.rows(f"SELECT 1 FROM {what}"))
    except sqlite3.OperationalError:
        return 0  # there is no database yet


def test_a_script_that_the_load_held_up_is_judged_by_a_run_alone(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 5, repeats: 1}")
    pool.add("works", _WORKS)
    with pool.started() as session:
        wait_until(lambda: number_of(pool, "attempts"))
        with load():
            wait_until(lambda: number_of(pool, "script_runs WHERE ended = 'timeout'"), 120)
        assert session.wait() == 0, session.output.read_text()
    assert pool.junit()["works"].verdict == "provisional verify"
    first, second = pool.recorded("script_runs")
    assert (first["alone"], first["ended"], first["matched"]) == (0, "timeout", None)
    assert first["cpu"] < 0.8 * first["wall"]
    assert (second["alone"], second["ended"], second["matched"]) == (1, "exited", "B")
    assert first["number"] == second["number"] == 0
    assert first["presentation"] == second["presentation"]


def test_a_script_that_sleeps_is_a_timeout_with_the_evidence_of_its_run_alone(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 2}")
    pool.add("sleeps", _SLEEPS)
    session = pool.run()
    assert session.verdicts == {"sleeps": "rejected verify timeout"}
    headline, heading, figures, *words = session.cases["sleeps"].text.splitlines()
    assert "its time limit of 2 s: it was ended after 2.0 s, 0.0 s of it on a processor" in headline
    assert heading.startswith("run 1 of 2, hash seed 0, 1 thread, in /sandbox/work, alone after a timeout with little")
    assert heading.endswith(": it printed no answer")
    assert "6 bytes of stdout, 22 bytes of stderr" in figures
    assert words[:4] == [
        "  last lines of stdout:",
        "    begun",
        "  last lines of stderr:",
        "    waiting for a licence",
    ]
    assert [(run["alone"], run["ended"]) for run in pool.recorded("script_runs")] == [(0, "timeout"), (1, "timeout")]


def test_one_that_keeps_a_processor_busy_is_not_run_again(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 2, repeats: 1}")
    # So many that they have a core between them, whatever else this machine is doing.
    pool.add("busy", "import os\nfor _ in range(5):\n    if os.fork() == 0: os.setsid()\nwhile True: pass")
    session = pool.run()
    assert session.verdicts == {"busy": "rejected verify timeout"}
    assert [run["alone"] for run in pool.recorded("script_runs")] == [0]


def test_no_other_script_of_the_run_runs_beside_one_that_is_alone(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 2, repeats: 1}")
    pool.add("a-sleeps", _TIMED.format(seconds=1e6))
    for number in range(8):
        pool.add(f"b-{number}", _TIMED.format(seconds=0.5))
    pool.add("c-sleeps", _TIMED.format(seconds=1e6))
    session = pool.run(workers=2)
    assert set(session.verdicts.values()) == {"rejected verify timeout", "provisional verify"}
    alone: list[tuple[float, float, str]] = []
    others: list[tuple[float, float, str]] = []
    for run in pool.recorded("script_runs"):
        words = run["stdout"].split()
        begun = float(words[1])
        (alone if run["alone"] else others).append((begun, begun + run["wall"] - 0.5, run["name"]))
    assert sorted(name for _, _, name in alone) == ["a-sleeps", "c-sleeps"]
    for begun, ended, name in alone:
        beside = [other for other in others + alone if other[2] != name and other[0] < ended and begun < other[1]]
        assert beside == []


def test_neither_does_a_script_of_an_agent(pool: Pool, server: ScriptedServer) -> None:
    """One that is solved in the other worker, with a script in each turn, and goes on afterwards."""
    turns = 8
    solve = f"solve: {{provider: fake, model: m, max_turns: {turns}, time_limit: 60}}\n"
    pool.configure("verify: {time_limit: 2, repeats: 1}\n", PROVIDER, solve, url=server.base_url)
    server.script = lambda asked: Reply(f"```python\n{textwrap.dedent(_TIMED).format(seconds=0.7)}# {asked.turn}\n```")
    pool.add("sleeps", _TIMED.format(seconds=1e6))
    pool.add("solved")
    session = pool.run(workers=2)
    assert session.verdicts == {"sleeps": "rejected verify timeout", "solved": "review solve no-answer"}
    [run] = [run for run in pool.recorded("script_runs") if run["alone"]]
    begun = float(run["stdout"].split()[1])
    ended = begun + run["wall"] - 0.5
    [agent] = pool.recorded("agent_runs")
    texts = [entry["stdout"].split() for entry in json.loads(agent["transcript"]) if entry["role"] == "command"]
    times = [(float(words[1]), float(words[3])) for words in texts]
    assert len(times) == turns
    assert times[0][0] < begun
    assert times[-1][1] > ended
    assert [script for script in times if script[0] < ended and begun < script[1]] == []


def test_the_record_tells_the_two_runs_apart(pool: Pool) -> None:
    """In the accepted form too, which is what people get to see."""
    pool.configure("verify: {time_limit: 1, repeats: 1}")
    pool.add("sleeps", _SLEEPS)
    pool.run()
    shown = pool.pytester.run(
        sys.executable, "-c", "from pytest_toolgate.cli.main import main; main()", "db", "show", "sleeps"
    )
    runs = json.loads(str(shown.stdout))["record"]["script_runs"]
    assert [(run["number"], run["alone"]) for run in runs] == [(0, 0), (0, 1)]
