"""What the controlling process of a run remembers of each candidate, against pytest's own memory of a one-line test.

    python bench/memory.py [candidates] [--gates lint] [--workers 2]

pytest keeps the reports of everything it ran, so its own process grows with every test. Both sessions are sampled in
that process as reports come in. Prints resident memory by number judged, and the growth per candidate and per test over
the last three quarters, when all that is allocated once is there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from collect import CANDIDATE, QUIET

_STEPS = 20
# Loaded by both sessions: a line `number judged, kilobytes` in `samples` for every so many.
_CONFTEST = """
from pathlib import Path


class Sampler:
    def __init__(self, every, samples):
        self.every, self.samples, self.judged = every, samples, 0

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            self.judged += 1
            if self.judged % self.every == 0:
                status = Path("/proc/self/status").read_text()
                resident = status.partition("VmRSS:")[2].split()[0]
                with self.samples.open("a") as file:
                    file.write(f"{self.judged} {resident}\\n")


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Sampler(EVERY, config.rootpath / "samples"))
"""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("candidates", type=int, nargs="?", default=5000)
    parser.add_argument("--gates", default="lint")
    parser.add_argument("-n", "--workers", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toolgate-bench-") as directory:
        root = Path(directory)
        tests = _session(_tests(root / "plain", given.candidates), ["tests", "-p", "no:toolgate"], given)
        ours = _session(
            _candidates(root / "ours", given.candidates), ["candidates", "--toolgate-gates", given.gates], given
        )
    print(f"{given.candidates} candidates, gates {given.gates}, -n {given.workers}; MB of the controlling process")
    print(f"{'judged':>8}{'toolgate':>12}{'pytest':>12}")
    for number in sorted(ours):
        print(f"{number:8}{ours[number] / 1024:12.1f}{tests[number] / 1024:12.1f}")
    candidate, test = _growth(ours), _growth(tests)
    print(f"growth: {candidate:.2f} KB per candidate, {test:.2f} KB per one-line test, net {candidate - test:.2f} KB")
    return 0


def _tests(root: Path, count: int) -> Path:
    (root / "tests").mkdir(parents=True)
    for number in range(count):
        (root / "tests" / f"test_{number:05}.py").write_text("def test_it(): pass\n")
    return root


def _candidates(root: Path, count: int) -> Path:
    (root / "candidates").mkdir(parents=True)
    (root / "toolgate.yaml").write_text("verify: {repeats: 1}\n")
    for number in range(count):
        text = json.dumps(CANDIDATE).replace("{}", str(number))
        (root / "candidates" / f"item-{number:05}.yaml").write_text(text)
    return root


def _session(root: Path, arguments: list[str], given: argparse.Namespace) -> dict[int, int]:
    """Number judged -> kilobytes."""
    (root / "pytest.ini").write_text("[pytest]\n")
    every = max(1, given.candidates // _STEPS)
    (root / "conftest.py").write_text(_CONFTEST.replace("EVERY", str(every)))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLGATE_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, *QUIET, "-n", str(given.workers)],
        cwd=root,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or f"{given.candidates} passed" not in done.stdout:
        raise SystemExit(f"all {given.candidates} should have passed\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = (root / "samples").read_text().splitlines()
    return {int(number): int(kilobytes) for number, kilobytes in map(str.split, lines)}


def _growth(samples: dict[int, int]) -> float:
    """Kilobytes per item, by least squares over the last three quarters."""
    points = sorted(samples.items())[len(samples) // 4 :]
    middle = sum(number for number, _ in points) / len(points), sum(size for _, size in points) / len(points)
    over = sum((number - middle[0]) * (size - middle[1]) for number, size in points)
    return over / (sum((number - middle[0]) ** 2 for number, _ in points) or 1)


if __name__ == "__main__":
    sys.exit(main())
