"""What collecting candidates costs, against what pytest needs for as many one-line Python tests.

Prints both times and their ratio: `python bench/collect.py [files] [rounds]`. Both directories are collected
in turns, so that a busy machine is busy for both; the fastest round of each counts.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CANDIDATE = {
    "domain": "scipy",
    "question": "What is the value of number {}?",
    "options": {"A": "0.1", "B": "0.2", "C": "0.3", "D": "0.4"},
    "answer": "B",
    "solution": "import scipy\nprint('ANSWER: 0.2')\n",
}
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio")


def main(files: int = 2000, rounds: int = 3) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="toolgate-bench-") as directory:
        root = Path(directory)
        (root / "pytest.ini").write_text("[pytest]\n")
        for name in ("candidates", "tests", "none"):
            (root / name).mkdir()
        for number in range(files):
            text = json.dumps(CANDIDATE).replace("{}", str(number))
            (root / "candidates" / f"item-{number:05}.yaml").write_text(text)
            (root / "tests" / f"test_{number:05}.py").write_text("def test_it(): pass\n")
        _collect(root, "tests", files)  # once before, so that compiled files are there
        seconds: dict[str, float] = {}
        for _ in range(rounds):
            for name, count in {"candidates": files, "tests": files, "none": 0}.items():
                seconds[name] = min(seconds.get(name, float("inf")), _collect(root, name, count))
    start = seconds["none"]
    print(f"pytest alone                {start:7.2f} s")
    print(f"{files} candidates           {seconds['candidates']:8.2f} s")
    print(f"{files} one-line Python tests{seconds['tests']:8.2f} s")
    print(f"ratio                       {seconds['candidates'] / seconds['tests']:7.2f}")
    print(f"ratio beyond pytest's start {(seconds['candidates'] - start) / (seconds['tests'] - start):7.2f}")


def _collect(root: Path, name: str, count: int) -> float:
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *QUIET, name],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - begun
    if done.stdout.count("::") != count:
        raise SystemExit(f"{name}: {count} items should have been collected\n{done.stdout[-2000:]}{done.stderr}")
    return seconds


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
