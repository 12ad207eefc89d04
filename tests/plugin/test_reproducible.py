"""Verify runs a script again under other conditions; an answer that hangs on one of them is not reproducible."""

import json
import platform
import random
import subprocess
import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from .pool import Pool, Session

FIRST = "run 1 of 2, hash seed 0, 1 thread, in /sandbox/work: it answered"
SECOND = "run 2 of 2, hash seed 2718281, 2 threads, in /sandbox/run-again: it answered"


def judged(pool: Pool, script: str, **keys: Any) -> Session:  # noqa: ANN401 - keys of a candidate
    pool.add("case", f"import scipy\n{script}", **keys)
    return pool.run()


def assert_both_are_told(session: Session, first: str, second: str) -> None:
    assert session.verdicts == {"case": "rejected verify not-reproducible"}
    headline, *lines = session.cases["case"].text.splitlines()
    assert f"run 1 answered `{first}`, run 2 answered `{second}`" in headline
    assert f"{FIRST} `{first}`" in lines
    assert f"{SECOND} `{second}`" in lines
    shown = [line.strip() for line in lines if line.startswith("    ANSWER:")]
    assert shown == [f"ANSWER: {first}", f"ANSWER: {second}"]


def test_an_answer_that_hangs_on_the_hash_seed(pool: Pool) -> None:
    """On the order of two names, which the first run happens to have right."""
    other = next(word for word in ("right", "top", "bottom", "front", "back", "inside", "outside") if _changes(word))
    script = f"""
is_less = hash("left") < hash("{other}")
print("ANSWER:", 0.060723 if is_less is {_is_less(other, "0")} else 0.060074)
"""
    assert_both_are_told(judged(pool, script), "0.060723", "0.060074")


def _is_less(word: str, seed: str) -> bool:
    code = f"print(hash('left') < hash('{word}'))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
    return done.stdout == b"True\n"


def _changes(word: str) -> bool:
    return _is_less(word, "0") is not _is_less(word, "2718281")


def test_an_answer_that_hangs_on_the_number_of_threads(pool: Pool) -> None:
    """As many partial sums as threads: floating-point addition is not associative."""
    script = """
import os
from functools import reduce
from operator import add

terms = [1e16, 1.0, -1e16, 1.0]
threads = int(os.environ["OMP_NUM_THREADS"])
share = len(terms) // threads
parts = [reduce(add, terms[n * share : (n + 1) * share]) for n in range(threads)]
print("ANSWER:", reduce(add, parts))
"""
    options = {"A": "0.0", "B": "1.0", "C": "2.0", "D": "3.0"}
    assert_both_are_told(judged(pool, script, options=options), "1.0", "0.0")


def test_an_answer_that_hangs_on_the_working_directory(pool: Pool) -> None:
    values = [f"{random.Random(path).random():.6f}" for path in ("/sandbox/work", "/sandbox/run-again")]
    script = """
import os, random
random.seed(os.getcwd())
print(f"ANSWER: {random.random():.6f}")
"""
    options = {"A": "1.000001", "B": values[0], "C": "1.000002", "D": "1.000003"}
    assert_both_are_told(judged(pool, script, options=options), *values)


@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS"])
def test_every_kind_of_thread_counts(pool: Pool, name: str) -> None:
    pool.configure("verify: {repeats: 3}")
    session = judged(pool, f'import os\nprint("ANSWER:", 0.060723 if os.environ["{name}"] == "1" else 0.060074)')
    assert session.verdicts == {"case": "rejected verify not-reproducible"}
    assert [run["number"] for run in pool.recorded("script_runs")] == [0, 1]


def test_one_run_sees_nothing_of_it(pool: Pool) -> None:
    pool.configure("verify: {repeats: 1}")
    session = judged(pool, 'import os\nprint("ANSWER:", 0.060723 if "work" in os.getcwd() else 0.060074)')
    assert session.verdicts == {"case": "provisional verify"}


def test_what_a_run_was_made_with_is_recorded(pool: Pool) -> None:
    pool.configure("verify: {repeats: 3}")
    assert judged(pool, 'print("ANSWER: 0.060723")').verdicts == {"case": "provisional verify"}
    environments = [json.loads(run["environment"]) for run in pool.recorded("script_runs")]
    assert [(one["hash_seed"], one["threads"], one["directory"]) for one in environments] == [
        ("0", 1, "/sandbox/work"),
        ("2718281", 2, "/sandbox/run-again"),
        ("31415926", 1, "/sandbox/and-once-more"),
    ]
    for one in environments:
        assert (one["python"], one["version"]) == (sys.executable, platform.python_version())
        assert one["implementation"] == platform.python_implementation()
        assert one["packages"] == {name: metadata.version(name) for name in ("scipy", "numpy")}
        assert (one["machine"], one["kernel"]) == (platform.machine(), platform.release())
        assert one["cpu"] == _cpu_model()
        assert set(one["installed"]) == {"scipy", "numpy"}
        for name, found in one["installed"].items():
            [record] = [file for file in metadata.files(name) or [] if file.name == "RECORD"]
            digest = sha256(Path(str(record.locate())).read_bytes()).hexdigest()
            assert found == {"version": metadata.version(name), "record": digest}


def _cpu_model() -> str | None:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return None
