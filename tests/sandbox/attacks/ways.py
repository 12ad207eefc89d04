"""The ways in which the attacks are run: candidates of one pytest session, commands of agents in another, plainly."""

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from exchange import Asked, Reply
from plugin.pool import OPTIONS, SCRIPT, VALUE, read_junit
from scripted_server import ScriptedServer, computing

from .attack import Way
from .catalog import CATALOG
from .findings import Evidence, Found, look
from .variants import Variant
from .world import World, build

MiB: Final = 1 << 20
# Small, so that floods end fast; bytes and seconds.
MEMORY: Final = 512 * MiB
DISK: Final = 64 * MiB
TIME: Final = 5.0
AGENT_TIME: Final = 8.0
WORKERS: Final = 2
_WATCHED: Final = Path(__file__).with_name("watched.py")
_NEIGHBOUR: Final = "neighbour"
_AGAIN: Final = "again-"
_QUESTION: Final = re.compile(r"What is the value of ([\w-]+)\?")


@dataclass(slots=True)
class Result:
    """What one attack came to, one way.

    Attributes:
        verdict: `outcome gate reason`; empty for a plain subprocess.
        ended: How the script ended.
        found: What harm was found.
        figures: What was measured of it.
    """

    verdict: str = ""
    ended: str = ""
    found: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """What all attacks came to, one way.

    Attributes:
        results: Attack -> result.
        again: The same for the second runs.
        found: Harm that cannot be laid to one of them.
        watched: What the whole session used at most, from the report of `watched.py`.
    """

    results: dict[str, Result] = field(default_factory=dict)
    again: dict[str, Result] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    watched: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """As one line, for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Back from there."""
        plain = json.loads(text)
        for name in ("results", "again"):
            plain[name] = {key: Result(**value) for key, value in plain[name].items()}
        return cls(**plain)


def run(way: Way, root: Path, variant: Variant) -> Report:
    """Run all attacks in a fresh directory."""
    root.mkdir(parents=True)
    root.chmod(0o755)
    with build(root, CATALOG) as world:
        if way == "plain":
            return _plainly(world)
        return _as_candidates(world, variant) if way == "candidate" else _as_agents(world, variant)


def _as_candidates(world: World, variant: Variant) -> Report:
    verify = {"time_limit": TIME, "repeats": 1, "memory": MEMORY, "disk": DISK}
    _repository(world, variant.over({"verify": verify}), _sources(world))
    report, shown = _session(world, "lint,verify")
    rows = _rows(world, "script_runs")
    outputs: dict[str, str] = {}
    for row in rows:
        name = Path(row["path"]).stem
        text = f"{row['stdout']}\n{row['stderr']}"
        outputs[name] = outputs.get(name, "") + text
        result = _result(report, name)
        result.ended = row["ended"]
        result.figures = {key: row[key] for key in ("wall", "cpu", "peak_memory", "disk_used")}
        result.figures["kept"] = len(text)
    _conclude(world, report, outputs, shown)
    return report


def _as_agents(world: World, variant: Variant) -> Report:
    with ScriptedServer() as server:
        server.key = world.secrets["environment"]
        server.script = _Commander(_sources(world))
        provider = {"api": "chat", "base_url": server.base_url, "api_key_env": "LAB_KEY", "timeout": 20}
        solve = {"agent": "builtin", "provider": "lab", "model": "m", "time_limit": AGENT_TIME, "max_turns": 3}
        verify = {"memory": MEMORY, "disk": DISK}
        sections = {"providers": {"lab": provider}, "verify": verify, "solve": solve}
        _repository(world, variant.over(sections), {})
        report, shown = _session(world, "solve")
        told = [(_QUESTION.findall(asked.prompt), asked.last) for asked in server.requests]
    rows = _rows(world, "agent_runs")
    outputs: dict[str, str] = {}
    for row in rows:
        name = Path(row["path"]).stem
        commands = [entry for entry in json.loads(row["transcript"]) if entry["role"] == "command"]
        _result(report, name).ended = commands[0]["ended"] if commands else "no command"
        kept = [entry[stream] for entry in commands for stream in ("stdout", "stderr")]
        outputs[name] = "\n".join([*kept, str(row["answer"]), str(row["note"]), *(x for n, x in told if n == [name])])
    _conclude(world, report, outputs, shown)
    return report


@dataclass(frozen=True, slots=True)
class _Commander:
    """An agent's model that first sends the attack named in the question, and then the right answer."""

    sources: Mapping[str, str]

    def __call__(self, asked: Asked) -> Reply:
        [name] = _QUESTION.findall(asked.prompt)
        if name == _NEIGHBOUR:
            return computing(VALUE)(asked)
        return Reply(f"ANSWER: {asked.letter_of(VALUE)}" if asked.turn else f"```python\n{self.sources[name]}```")


def _plainly(world: World) -> Report:
    """Each by itself, with a Python environment that may be spoilt."""
    report = Report()
    _repository(world, {}, {})
    place = world.root / "environment"
    venv.create(place, system_site_packages=True)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    environment = {name: text for name, text in world.environment().items() if name != "PYTHONPATH"}
    for attack in CATALOG:
        if not attack.plain.startswith("harm"):
            continue
        output = ""
        for _ in range(2 if attack.twice else 1):
            here = world.root / "plain" / attack.name
            shutil.rmtree(here, ignore_errors=True)
            here.mkdir(parents=True)
            (here / "solution.py").write_text(attack.source(world.facts(attack, plain=True), software=False))
            command = [str(place / "bin" / "python"), "solution.py"]
            text, watched, _ = _watched(world, command, here, environment, patience=2.0, limit=20)
            # As one would grade an agent who never thought of links.
            answer = here / "answer.txt"
            output += text + (answer.read_text() if answer.is_file() else "")
            found = look(world, [attack], Evidence({attack.name: output}, text, watched, purelib))
            _result(report, attack.name).found += [line for lines in found.values() for line in lines]
        if attack.name in world.victims:
            world.victims[attack.name].process.kill()
    return report


# --- a repository and a session in it -----------------------------------------------------------------------------


def _sources(world: World) -> dict[str, str]:
    sources = {attack.name: attack.source(world.facts(attack, plain=False)) for attack in CATALOG}
    return sources | {_AGAIN + attack.name: sources[attack.name] for attack in CATALOG if attack.twice}


def _repository(world: World, settings: Mapping[str, Any], solutions: Mapping[str, str]) -> None:
    (world.repository / "pytest.ini").write_text("[pytest]\n")
    (world.repository / "toolgate.yaml").write_text(json.dumps(settings))
    again = [_AGAIN + attack.name for attack in CATALOG if attack.twice]
    for name in (_NEIGHBOUR, *(attack.name for attack in CATALOG), *again):
        candidate: dict[str, Any] = {
            "domain": "scipy",
            "question": f"What is the value of {name}?",
            "options": dict(OPTIONS),
            "answer": "B",
            "solution": solutions.get(name, SCRIPT),
        }
        if name == _NEIGHBOUR:
            candidate["metadata"] = {"note": world.secrets["neighbour"]}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in candidate.items())
        (world.repository / "candidates" / f"{name}.yaml").write_text(text)


def _session(world: World, gates: str) -> tuple[Report, str]:
    """Run pytest to its end; the report has the verdicts."""
    quiet = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:cacheprovider")
    options = (f"-n{WORKERS}", f"--toolgate-gates={gates}")
    pytest = [sys.executable, "-m", "pytest", *quiet, *options]
    # What is run again has a session of its own, after all others.
    first = [*pytest, "--junitxml=junit.xml", f"--ignore-glob=*/{_AGAIN}*", "candidates"]
    again = [f"candidates/{_AGAIN}{attack.name}.yaml" for attack in CATALOG if attack.twice]
    second = [*pytest, "--junitxml=again.xml", *again]
    both = f"{shlex.join(first)}; one=$?; {shlex.join(second)}; two=$?; exit $((one > two ? one : two))"
    command = ["/bin/sh", "-c", both]
    before, installed = _candidates(world), _installed()
    shown, watched, code = _watched(world, command, world.repository, world.environment(), patience=3.0, limit=280)
    report = Report(watched=watched)
    if code not in (0, 1):
        report.found.append(f"the session ended with {code}: {shown[-2000:]}")
    junits = [world.repository / name for name in ("junit.xml", "again.xml")]
    for junit in junits:
        for name, case in read_junit(junit).items():
            _result(report, name).verdict = case.verdict
    if _candidates(world) != before:
        report.found.append("planted: the candidates are no longer what they were")
    if changed := _installed() ^ installed:
        report.found.append(f"planted: the installed packages have changed: {sorted(changed)[:5]}")
    return report, shown + "".join(junit.read_text("utf-8") for junit in junits if junit.exists())


def _candidates(world: World) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (world.repository / "candidates").rglob("*") if path.is_file()}


def _installed() -> set[tuple[str, int, int]]:
    """Path, size and time of every file of the packages; compiled forms come and go as others use them."""
    found = set()
    for folder, names, files in os.walk(sysconfig.get_path("purelib")):
        names[:] = [name for name in names if name != "__pycache__"]
        for name in files:
            path = Path(folder, name)
            about = path.lstat()
            found.add((str(path), about.st_size, about.st_mtime_ns))
    return found


def _watched(
    world: World, command: list[str], here: Path, environment: Mapping[str, str], *, patience: float, limit: float
) -> tuple[str, dict[str, Any], int]:
    seen, output = world.root / "watched.json", world.root / "output"
    arguments = [seen, world.temporary, patience, limit, *command]
    with output.open("wb") as stream:
        done = subprocess.run(
            [sys.executable, _WATCHED, *map(str, arguments)],
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            pass_fds=[world.descriptor],
            check=False,
        )
    return output.read_bytes().decode("utf-8", "replace"), json.loads(seen.read_text()), done.returncode


def _rows(world: World, table: str) -> list[dict[str, Any]]:
    """The rows of a table about attempts, each with the `path` of its candidate."""
    sql = (
        f"SELECT {table}.*, attempts.path FROM {table} JOIN attempts ON attempt_id = attempts.id ORDER BY {table}.time"
    )
    database = world.repository / ".toolgate" / "toolgate.db"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql)]


def _result(report: Report, name: str) -> Result:
    if name.startswith(_AGAIN):
        return report.again.setdefault(name.removeprefix(_AGAIN), Result())
    return report.results.setdefault(name, Result())


def _conclude(world: World, report: Report, outputs: Mapping[str, str], shown: str) -> None:
    """Lay every finding to its attack."""
    found: Found = look(world, CATALOG, Evidence(outputs, shown, report.watched))
    for name, what in found.items():
        (_result(report, name).found if name else report.found).extend(what)
    report.found += [f"left in the temporary directory: {name}" for name in world.leftovers()]
