"""What a careful contributor would write instead: run each script, look at its answer. Nothing stops a script.

`bench/verify.py` copies this beside the scripts, as a test file for pytest and xdist. BENCH_FORMS names a directory of
compiled forms for all scripts; when it is empty each script has a new one. Times go to the directory BENCH_TIMES.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_ANSWERS: dict[str, str] = json.loads((_HERE / "answers.json").read_text("utf-8"))


@pytest.mark.parametrize("name", _ANSWERS)
def test_script(name: str) -> None:
    begun = time.time()
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "XDG_CACHE_HOME": os.environ["BENCH_FORMS"] or f"{directory}/cache"}
        command = [sys.executable, str(_HERE / f"{name}.py")]
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == 0, done.stderr
    answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER:")]
    assert answers == [f"ANSWER: {_ANSWERS[name]}"]
    (Path(os.environ["BENCH_TIMES"]) / name).write_text(json.dumps([begun, time.time()]))
