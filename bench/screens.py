"""What screening costs beyond the model's own time, against the same work done by Inspect AI in the same run.

    python bench/screens.py [candidates] [latency] [concurrency] [--workers 0,2,8]

Each candidate needs three calls of a server on loopback that answers after `latency` seconds and is asked by at most
`concurrency` calls at once. Ideal is the time in which that many places, always busy, make all the calls. Times are
those of the whole process, of all requests (from the first, of whatever kind, to the last reply) and of the calls that
show options. Inspect AI is put into an environment of its own below `.toolgate/bench`, once. Fails only when calls or
verdicts are missing.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from delayed_server import Counted, DelayedServer

# A stated version, so that figures can be measured again.
_INSPECT = "inspect_ai==0.3.285"
_CACHE = Path(__file__).resolve().parents[1] / ".toolgate" / "bench"
_SAMPLES = 3
_MODEL = "bench-model"
_CANDIDATE = {
    "domain": "scipy",
    "options": {"A": "0.1", "B": "0.2", "C": "0.3", "D": "0.4"},
    "answer": "B",
    "solution": "import scipy\nprint('ANSWER: 0.2')\n",
}
_WRONG = "0.3"  # every reply is wrong, so no candidate is spared a call


@dataclass(frozen=True, slots=True)
class Work:
    """What every harness is given."""

    candidates: int
    latency: float
    concurrency: int

    @property
    def calls(self) -> int:
        return self.candidates * _SAMPLES

    @property
    def ideal(self) -> float:
        """Seconds."""
        return self.calls * self.latency / self.concurrency

    def questions(self) -> list[dict[str, object]]:
        return [{**_CANDIDATE, "question": f"What is the value of number {n}?"} for n in range(self.candidates)]


@dataclass(frozen=True, slots=True)
class Measured:
    """How a harness fared."""

    name: str
    wall: float
    counted: Counted
    verdicts: int

    @property
    def requests(self) -> float:
        """Seconds from the first request to the last reply."""
        return self.counted.last_reply - self.counted.first_request

    @property
    def calls(self) -> float:
        """Seconds from the first call with options to the last reply."""
        return self.counted.last_reply - self.counted.first_call


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("candidates", type=int, nargs="?", default=200)
    parser.add_argument("latency", type=float, nargs="?", default=1.0, help="seconds")
    parser.add_argument("concurrency", type=int, nargs="?", default=32)
    parser.add_argument("-n", "--workers", default="2", help="numbers of pytest's workers, separated by commas")
    given = parser.parse_args()
    work = Work(given.candidates, given.latency, given.concurrency)
    workers = [int(number) for number in given.workers.split(",")]
    python = _inspect_environment()
    once = Work(1, 0.0, 1)  # so that compiled files are there
    _ours(once, 0)
    _inspect(once, python)
    runs = [_ours(work, number) for number in workers]
    peer = _inspect(work, python)
    _show(work, runs, peer)
    wrong = [
        f"{run.name}: {run.counted.calls} calls, {run.counted.replies} replies and {run.verdicts} verdicts"
        for run, verdicts in [*((run, work.candidates) for run in runs), (peer, work.calls)]
        if (run.counted.calls, run.counted.replies, run.verdicts) != (work.calls, work.calls, verdicts)
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def _show(work: Work, runs: Sequence[Measured], peer: Measured) -> None:
    print(
        f"{work.candidates} candidates x {_SAMPLES} calls of {work.latency:g} s, at most {work.concurrency} at once: "
        f"ideal {work.ideal:.2f} s"
    )
    print(f"{'':22}{'seconds':>24}    {'share of the ideal':>24}    most calls")
    print(f"{'':22}{'process requests   calls':>24}    {'process requests   calls':>24}       at once")
    for run in (*runs, peer):
        times = run.wall, run.requests, run.calls
        seconds = "".join(f"{value:8.2f}" for value in times)
        shares = "".join(f"{work.ideal / value:8.0%}" for value in times)
        print(f"{run.name:22}{seconds}    {shares}    {run.counted.most:10}")
    for run in runs:
        process, requests, calls = run.wall / peer.wall, run.requests / peer.requests, run.calls / peer.calls
        print(f"{run.name} : {peer.name}: process {process:.2f}, requests {requests:.2f}, calls {calls:.2f}")


def _ours(work: Work, workers: int) -> Measured:
    with (
        tempfile.TemporaryDirectory(prefix="toolgate-bench-") as directory,
        DelayedServer(work.latency, _WRONG) as server,
    ):
        root = Path(directory)
        (root / "pytest.ini").write_text("[pytest]\n")
        provider = {"kind": "openai", "api": "chat", "base_url": server.base_url, "max_concurrency": work.concurrency}
        screen = {"name": "bench", "provider": "bench", "model": _MODEL, "samples": _SAMPLES, "reject_at": 2}
        (root / "toolgate.yaml").write_text(json.dumps({"providers": {"bench": provider}, "screens": [screen]}))
        (root / "candidates").mkdir()
        for number, question in enumerate(work.questions()):
            (root / "candidates" / f"item-{number:05}.yaml").write_text(json.dumps(question))
        command = [sys.executable, "-m", "pytest", "candidates", "-q", "-p", "no:cacheprovider", "-n", str(workers)]
        command += ["--toolgate-gates", "lint,screen", "--junitxml", "junit.xml"]
        wall, _ = _timed(command, root, {}, work)
        properties = ET.parse(root / "junit.xml").iter("property")
        outcomes = [each.get("value") for each in properties if each.get("name") == "toolgate.outcome"]
        return Measured(f"pytest-toolgate -n {workers}", wall, server.counted, outcomes.count("provisional"))


def _inspect(work: Work, python: Path) -> Measured:
    with (
        tempfile.TemporaryDirectory(prefix="toolgate-bench-") as directory,
        DelayedServer(work.latency, _WRONG) as server,
    ):
        root = Path(directory)
        (root / "questions.json").write_text(json.dumps(work.questions()))
        script = Path(__file__).with_name("inspect_task.py")
        command = [str(python), str(script), "questions.json", "logs", str(_SAMPLES), str(work.concurrency)]
        environment = {"BENCH_BASE_URL": server.base_url, "BENCH_API_KEY": "none"}
        wall, output = _timed(command, root, environment, work)
        told = json.loads(output.splitlines()[-1])
        verdicts = told["scores"].get("I", 0) if told["status"] == "success" else 0
        return Measured(f"Inspect AI {told['version']}", wall, server.counted, verdicts)


def _inspect_environment() -> Path:
    """The interpreter that has Inspect AI; made when it is not there."""
    directory = _CACHE / _INSPECT.replace("==", "-")
    python = directory / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
    # Asks nothing of the network once both are there.
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _INSPECT, "openai"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{_INSPECT} could not be installed into {directory}\n{done.stderr[-2000:]}")
    return python


def _timed(command: Sequence[str], root: Path, environment: Mapping[str, str], work: Work) -> tuple[float, str]:
    """Wall time and output of a process, of which nothing is left when it ends."""
    settings = ("TOOLGATE_", "PYTEST_", "INSPECT_")  # of whoever runs this, not of the benchmark
    clean = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=root,
        env={**clean, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=120 + 2 * work.calls * work.latency)
        wall = time.perf_counter() - begun
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}\n{output[-3000:]}")
    return wall, output


if __name__ == "__main__":
    sys.exit(main())
