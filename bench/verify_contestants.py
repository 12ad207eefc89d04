"""Those who verify the scripts in `bench/verify.py`: each runs all of them once and says when."""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from verify_scripts import Script

from pytest_toolgate.config import ConfigError, read_settings
from pytest_toolgate.domains.fenicsx import FENICSX

WAYS = ("process", "gate", "scripts", "cpu")
CORES = len(os.sched_getaffinity(0))
_BENCH = Path(__file__).parent
# Where no compiled modules are kept, every process of every contestant compiles them anew, which no user has.
_SETTINGS_OF_THE_CALLER = ("TOOLGATE_", "PYTEST_", "BENCH_", "XDG_", "DOLFINX_", "PYTHONDONTWRITEBYTECODE")
# One thread each, as in our sandbox: the peer is not to lose by threads in each other's way.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio")
_PATIENCE = 1800.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One run over all scripts.

    Attributes:
        count: Of the scripts.
        wall: Seconds of the whole process.
        cpu: Seconds of processor time of all its processes, which a busy machine does not lengthen.
        gate: Seconds from the moment the first script's turn came to the moment the last one's verdict was there.
        scripts: Seconds from the first script's start to the last one's end.
        verdicts: Name of the script -> outcome and reason.
    """

    count: int
    wall: float
    cpu: float
    gate: float
    scripts: float
    verdicts: Mapping[str, str]

    @property
    def rates(self) -> tuple[float, float, float, float]:
        """Scripts per second by each of the times, in the order of `WAYS`."""
        return self.count / self.wall, self.count / self.gate, self.count / self.scripts, self.count / self.cpu


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who verifies all scripts.

    Attributes:
        key: Short name, for the command line.
        name: For people.
        run: Number of workers -> what came of it.
        alone: It has no workers: its number of processes is that of the cores.
    """

    key: str
    name: str
    run: Callable[[int], Measured]
    alone: bool = False


@dataclass(slots=True)
class Arena:
    """A temporary directory in which all contestants find the same scripts.

    Attributes:
        root: The directory.
        scripts: The scripts.
        answers: Name -> value, once computed.
    """

    root: Path
    scripts: Sequence[Script]
    answers: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """Compute the answers, by which all forms become compiled for those who may find them so."""
        (self.root / "scripts").mkdir()
        for script in self.scripts:
            (self.root / "scripts" / f"{script.name}.py").write_text(script.text)
        _, told = self._limit(CORES)
        self.answers = {name: str(run["answer"]) for name, run in told.items()}
        (self.root / "scripts" / "answers.json").write_text(json.dumps(self.answers))
        shutil.copy(_BENCH / "verify_peer.py", self.root / "scripts" / "test_scripts.py")

    def contestants(self) -> list[Contestant | str]:
        """All of them; of one that this version cannot run, only the name."""
        default = self._pool("default", repeats=1)
        twice = self._pool("twice", repeats=2)
        found: list[Contestant | str] = [
            Contestant("peer-fresh", "subprocess.run, fresh forms", lambda workers: self._peer(workers, "")),
            Contestant("peer", "subprocess.run, forms compiled", lambda n: self._peer(n, str(self._forms))),
            Contestant("default", "toolgate", lambda workers: _ours(default, workers, len(self.scripts))),
            Contestant("twice", "toolgate, each script twice", lambda n: _ours(twice, n, len(self.scripts))),
        ]
        warm = [("warm-fresh", "toolgate warm, fresh forms"), ("warm", "toolgate warm, forms compiled")]
        for key, name in warm:
            pool = self._pool(key, repeats=1, warm=True)
            if pool is None:
                found.append(name)
            else:
                found.append(Contestant(key, name, self._warm(pool, fresh=key == "warm-fresh")))
        limit = Contestant("limit", "fork of a warm process", lambda n: self._measured_limit(n), alone=True)
        return [*found, limit]

    def _warm(self, pool: Path, *, fresh: bool) -> Callable[[int], Measured]:
        def run(workers: int) -> Measured:
            if fresh:
                shutil.rmtree(pool / ".toolgate", ignore_errors=True)
            elif not (pool / ".toolgate").exists():
                _ours(pool, workers, len(self.scripts))  # compiles the forms
            return _ours(pool, workers, len(self.scripts))

        return run

    @property
    def _forms(self) -> Path:
        return self.root / "forms"

    def _pool(self, name: str, **verify: object) -> Path | None:
        """A repository of the candidates with this configuration, or None where it has no such key."""
        pool = self.root / name
        (pool / "candidates").mkdir(parents=True)
        (pool / "pytest.ini").write_text("[pytest]\n")
        configuration = pool / "toolgate.yaml"
        # Extra checks run scripts again, which the peer does not.
        off = dict.fromkeys(FENICSX.checks, "off")
        configuration.write_text(json.dumps({"verify": verify, "checks": off}))
        try:
            read_settings(configuration, kinds=(), agents=(), checks=FENICSX.checks)
        except ConfigError:
            return None
        for script in self.scripts:
            text = _yaml(script.candidate(self.answers[script.name]))
            (pool / "candidates" / f"{script.name}.yaml").write_text(text)
        return pool

    def _limit(self, processes: int) -> tuple["Spent", dict[str, dict[str, object]]]:
        command = [sys.executable, str(_BENCH / "verify_limit.py"), str(self.root / "scripts"), str(processes)]
        spent, output = timed(command, self.root, {"XDG_CACHE_HOME": str(self._forms)})
        return spent, json.loads(output.splitlines()[-1])

    def _measured_limit(self, processes: int) -> Measured:
        spent, told = self._limit(processes)
        times = [(float(str(run["begun"])), float(str(run["ended"]))) for run in told.values()]
        good = {name: "answered" for name, run in told.items() if run["answer"] == self.answers[name]}
        return Measured(len(self.scripts), spent.wall, spent.cpu, _span(times), _span(times), good)

    def _peer(self, workers: int, forms: str) -> Measured:
        command = [sys.executable, "-m", "pytest", "scripts", *_QUIET, "-p", "no:toolgate"]
        command += ["-n", str(workers), "--maxschedchunk", "1"]  # the last scripts are shared out evenly
        with tempfile.TemporaryDirectory(dir=self.root) as noted:
            spent, _ = timed(command, self.root, {"BENCH_FORMS": forms, "BENCH_TIMES": noted})
            times = {path.name: json.loads(path.read_text()) for path in Path(noted).iterdir()}
        span = _span([(begun, ended) for begun, ended in times.values()])
        return Measured(len(self.scripts), spent.wall, spent.cpu, span, span, dict.fromkeys(times, "passed"))


def _ours(pool: Path | None, workers: int, count: int) -> Measured:
    assert pool is not None
    command = [sys.executable, "-m", "pytest", "candidates", *_QUIET, "-n", str(workers)]
    spent, output = timed([*command, "--toolgate-gates", "lint,verify"], pool, {}, codes=(0, 1))
    database = pool / ".toolgate" / "toolgate.db"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        [(run,)] = connection.execute("SELECT id FROM runs ORDER BY time DESC LIMIT 1")
        about = "JOIN attempts ON attempts.id = attempt_id WHERE run_id = ?"
        scripts = connection.execute(f"SELECT script_runs.time, wall FROM script_runs {about}", [run])
        times = [(_seconds(ended) - wall, _seconds(ended)) for ended, wall in scripts]
        gates = connection.execute(f"SELECT gates.time, seconds FROM gates {about} AND gate = 'verify'", [run])
        gate_times = [(_seconds(ended) - seconds, _seconds(ended)) for ended, seconds in gates]
        outcomes = connection.execute(f"SELECT path, outcome, reason FROM outcomes {about}", [run])
        verdicts = {Path(path).stem: f"{outcome} {reason}".strip() for path, outcome, reason in outcomes}
    if not times:
        raise SystemExit(f"no script ran\n{output[-3000:]}")
    return Measured(count, spent.wall, spent.cpu, _span(gate_times), _span(times), verdicts)


def _yaml(candidate: Mapping[str, object]) -> str:
    """As people write one: text in blocks."""
    lines = []
    for key, value in candidate.items():
        if isinstance(value, dict):
            lines += [f"{key}:", *(f"  {letter}: {json.dumps(text)}" for letter, text in value.items())]
        elif "\n" in str(value):
            lines += [f"{key}: |", *(f"  {line}".rstrip() for line in str(value).splitlines())]
        else:
            lines.append(f"{key}: {value}")
    return "\n".join(lines) + "\n"


def _span(times: Sequence[tuple[float, float]]) -> float:
    return max(ended for _, ended in times) - min(begun for begun, _ in times)


def _seconds(time_of_row: str) -> float:
    return datetime.fromisoformat(time_of_row).timestamp()


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that a process took, and processor time with all that it waited for."""

    wall: float
    cpu: float


def timed(
    command: Sequence[str], directory: Path, additions: Mapping[str, str], codes: Sequence[int] = (0,)
) -> tuple[Spent, str]:
    """Times and output of a process, of which nothing is left when it ends."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS_OF_THE_CALLER)}
    cpu, begun = _cpu_of_children(), time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**clean, **_ONE_THREAD, **additions},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_PATIENCE)
        wall = time.perf_counter() - begun
        cpu = _cpu_of_children() - cpu
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}\n{output[-3000:]}")
    return Spent(wall, cpu), output


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
