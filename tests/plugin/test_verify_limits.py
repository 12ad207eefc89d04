"""Verify: limits, signals, and what is missing on the machine rather than in the script."""

import re
import time
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from pytest_toolgate.gates.evidence import size

from .pool import SCRIPT, Pool


class Limit(NamedTuple):
    """A script, what becomes of it, what its headline says of limit and what was reached, and its last words."""

    script: str
    verdict: str
    sentence: str
    last: str = ""


_MIB = r"\d+(\.\d)? MiB"
LIMITS: Mapping[str, Limit] = {
    "memory": Limit(
        "block = bytearray(600 << 20)\nprint(len(block))",
        "rejected verify memory-limit",
        f"the script exceeded its memory limit of 256 MiB: it held {_MIB}",
    ),
    "memory-error": Limit(
        "print('before', flush=True)\nraise MemoryError",
        "rejected verify memory-limit",
        f"the script ran out of memory under its limit of 256 MiB, when it held {_MIB}: MemoryError",
        "    MemoryError",
    ),
    "disk": Limit(
        "with open('x', 'wb') as file:\n    for _ in range(64): file.write(bytes(1 << 20))",
        "rejected verify disk-limit",
        f"the script exceeded its disk limit of 16 MiB: it had written {_MIB}(; .*)?",
    ),
    "disk-shm": Limit(
        "open('/dev/shm/x', 'wb').write(bytes(1 << 20))\nraise OSError(28, 'No space left on device')",
        "rejected verify disk-limit",
        f"the script ran out of disk under its limit of 16 MiB, when it had written {_MIB}: OSError: .Errno 28. No .*",
        "    OSError: [Errno 28] No space left on device",
    ),
    "files": Limit(
        "n = 0\nwhile True:\n    open(f'{n}', 'w').close()\n    n += 1",
        "rejected verify disk-limit",
        r"the script exceeded its disk limit of 20000 files: it had made [2-9]\d{4}",
    ),
    "output": Limit(
        "import sys\nfor _ in range(16): sys.stdout.write('x' * (1 << 20))",
        "rejected verify output-limit",
        f"the script exceeded its output limit of 8 MiB: it wrote {_MIB} to stdout",
        "    " + "x" * 197 + "...",
    ),
    "time": Limit(
        "print('ANSWER: 0.060723', flush=True)\nwhile True: pass",
        "rejected verify timeout",
        r"the script did not finish within its time limit of 3 s: it was ended after [3-5]\.\d s, [0-3]\.\d s of it on "
        "a processor; an answer had been printed before",
        "    ANSWER: 0.060723",
    ),
    "signal": Limit(
        "import os, sys\nprint('x', file=sys.stderr, flush=True)\nos.kill(os.getpid(), 11)",
        "rejected verify killed",
        r"the script was killed by signal 11 \(SIGSEGV\): x",
        "    x",
    ),
    "status": Limit(
        "print('step 7 of 9')\nraise ValueError(chr(27) + '[2J did not converge')",
        "rejected verify exit-status",
        r"the script exited with status 1: ValueError: \\x1b\[2J did not converge",
        "    step 7 of 9",
    ),
    "no-answer": Limit(
        "print('step 9 of 9')", "rejected verify no-answer", "no line of stdout starts with .*", "    step 9 of 9"
    ),
    "children": Limit(
        "import subprocess, scipy\nsubprocess.Popen(['sleep', '60'])\n" + SCRIPT, "provisional verify", ""
    ),
    "stderr-only": Limit("import sys\nsys.stderr.write('x' * (16 << 20))\n" + SCRIPT, "provisional verify", ""),
}
_FIGURES = re.compile(
    r"  (\d+\.\d\d) s of wall time, (\d+\.\d\d) s of CPU time, \S+ (?:bytes|[KM]iB) of memory, "
    r"\S+ (?:bytes|[KM]iB) on disk, (\S+ \w+) of stdout, (\S+ \w+) of stderr"
)


def test_each_limit_has_its_reason_and_its_evidence(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 3, repeats: 1, memory: 268435456, disk: 16777216}")
    for name, limit in LIMITS.items():
        pool.add(name, limit.script)
    begun = time.monotonic()
    session = pool.run(workers=2)
    assert session.verdicts == {name: limit.verdict for name, limit in LIMITS.items()}
    assert time.monotonic() - begun < 60
    counted = {run["name"]: run for run in pool.recorded("script_runs")}  # the last run of each
    for name, limit in LIMITS.items():
        if not limit.sentence:
            continue
        headline, heading, figures, *words = session.cases[name].text.splitlines()
        assert re.search(rf": {limit.sentence}$", headline), headline
        assert len(headline) < 600
        answered = "it answered `0.060723`" if name == "time" else "it printed no answer"
        assert heading.startswith("run 1 of 1, hash seed 0, 1 thread, in /sandbox/work")
        assert heading.endswith(f": {answered}")
        # The figures are those of the record.
        found = _FIGURES.fullmatch(figures)
        assert found, figures
        run = counted[name]
        assert (float(found[1]), float(found[2])) == pytest.approx((run["wall"], run["cpu"]), abs=0.006)
        assert (found[3], found[4]) == (size(run["stdout_bytes"]), size(run["stderr_bytes"]))
        assert f", {size(run['peak_memory'])} of memory, {size(run['disk_used'])} on disk" in figures
        assert limit.last in words or not limit.last, words
        assert all(len(line) <= 204 + len(r"\x1b") for line in words)
        assert "\x1b" not in session.cases[name].text
    assert counted["output"]["stdout_bytes"] > 8 << 20
    assert counted["stderr-only"]["stderr_bytes"] == 16 << 20
    assert counted["files"]["files_made"] > 20_000
    assert 3 <= counted["time"]["wall"] < 6
    # The whole evidence is in the record too.
    [outcome] = [row for row in pool.recorded("outcomes") if row["name"] == "status"]
    assert outcome["sentence"].splitlines()[1:] == session.cases["status"].text.splitlines()[1:]


def test_a_script_that_loops_takes_no_other_with_it(pool: Pool) -> None:
    """E11."""
    pool.configure("verify: {time_limit: 2, repeats: 1}")
    pool.add("a-first")
    pool.add("b-loops", "while True: pass")
    pool.add("c-last")
    assert pool.run().verdicts == {
        "a-first": "provisional verify",
        "b-loops": "rejected verify timeout",
        "c-last": "provisional verify",
    }
    assert [row["name"] for row in pool.recorded("outcomes")] == ["a-first", "b-loops", "c-last"]


def test_an_interpreter_that_does_not_run_is_an_error(pool: Pool) -> None:
    pool.configure("domains: {scipy: {python: /bin/false}}")
    pool.add("first")
    pool.add("misformed", answer="E")
    session = pool.run()
    assert session.verdicts == {"first": "error verify sandbox", "misformed": "rejected lint bad-answer"}
    assert "/bin/false" in session.cases["first"].headline
