"""`verify: {warm: true}`: the same verdicts from copies of a process that has the software loaded."""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from .pool import SCRIPT, Pool, processes, wait_until

MIXED = {
    "good": SCRIPT,
    "hard-coded": 'print("ANSWER: 0.060723")',
    "wrong": 'import scipy\nprint("ANSWER: 0.058996")',
    "silent": "import scipy",
    "raises": "import scipy\nraise ValueError('no such mesh')",
    "sleeps": "import time\ntime.sleep(60)",
    "memory": "block = bytearray(600 << 20)\nprint(len(block))",
    "floods": "while True: print('x' * 1000)",
    "signal": "import os\nos.kill(os.getpid(), 11)",
    "numpy-noise": "import scipy, numpy\nprint('ANSWER:', 'ABCD'[int(numpy.random.rand() * 1e9) % 4])",
    "hash-order": "import scipy\nprint('ANSWER:', sorted(['0.060723', '0.058996'], key=hash)[0])",
    "other-module": "import scipy, no_such_module",
}
WARM = "verify: {warm: true, time_limit: 4, repeats: %d, memory: 402653184}\n"
COLD = WARM.replace("warm: true", "warm: false")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_verdicts_are_those_of_starts_from_nothing(pool: Pool, workers: int) -> None:
    for name, script in MIXED.items():
        if name != "numpy-noise":  # by chance it may come out the same twice
            pool.add(name, script)
    pool.configure(COLD % 2)
    cold = pool.run(workers=workers)
    pool.configure(WARM % 2)
    warm = pool.run(workers=workers)
    assert warm.verdicts == cold.verdicts
    assert {case.headline.split(": ")[1] for case in warm.cases.values() if case.text} >= {"timeout", "tool-unused"}


def test_a_script_without_a_seed_is_found_out(pool: Pool) -> None:
    pool.add("numpy-noise", MIXED["numpy-noise"])
    pool.configure(WARM % 8)
    assert pool.run().verdicts["numpy-noise"] in ("rejected verify not-reproducible", "rejected verify mismatch")


def test_what_a_script_compiled_is_there_for_it_alone_the_next_time(pool: Pool) -> None:
    """Not for its second run in the same session either: that has other conditions, and is to stand for itself."""
    leave = "import os, scipy\nprint(os.path.exists('/run/kept/old'))\nopen('/run/kept/new', 'w').write('%s')\n"
    for name in ("one", "two"):
        pool.add(name, leave % name + 'print("ANSWER: 0.060723")')
    pool.configure(WARM % 2)
    assert pool.run().code == 0
    assert pool.run().code == 0
    said = [run["stdout"].split()[0] for run in pool.recorded("script_runs")]
    assert said == ["False", "False", "True", "True"] * 2
    kept = pool.root / ".toolgate" / "forms"
    assert len(list(kept.iterdir())) == 4
    assert kept.stat().st_mode & 0o077 == 0


def test_the_record_says_so(pool: Pool) -> None:
    pool.add("good")
    pool.configure(WARM % 1)
    pool.run()
    [run] = pool.recorded("script_runs")
    assert json.loads(run["environment"])["start"] == "warm"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_session_that_is_ended(pool: Pool, number: signal.Signals) -> None:
    words = f"sleep 617.40{number:02}"
    pool.add("first", f"import scipy, subprocess\nsubprocess.run({words.split()})")
    pool.configure("verify: {warm: true, repeats: 1}")
    with pool.started(workers=2) as run:
        wait_until(lambda: processes(words))
        ours = zygotes_below(run.process.pid)
        assert ours
        run.signal(number)
        wait_until(lambda: not processes(words), 20)
        wait_until(lambda: not any(map(exists, ours)), 20)


def zygotes_below(ancestor: int) -> set[Path]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = set()
    for process in parents:
        above = process
        while above in parents and above != ancestor:
            above = parents[above]
        with suppress(OSError):
            if above == ancestor and b"inside/zygote.py" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.add(Path(f"/proc/{process}"))
    return found


def exists(process: Path) -> bool:
    with suppress(OSError):
        return b"inside/zygote.py" in (process / "cmdline").read_bytes()
    return False


def test_software_that_cannot_be_loaded_is_no_fault_of_the_script(pool: Pool) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], cwd=pool.root, check=True)
    pool.configure("verify: {warm: true}\n", f"domains: {{scipy: {{python: {pool.root}/bare/bin/python}}}}")
    pool.add("one")
    pool.add("two")
    session = pool.run(workers=2)
    assert {verdict.split()[0] for verdict in session.verdicts.values()} == {"error"}
    assert "scipy" in session.cases["one"].headline
