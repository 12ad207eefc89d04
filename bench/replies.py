"""What a database of a million replies costs to open, to report on, to verify and to merge, beside plain SQLite.

`python bench/replies.py [replies] [candidates] [directory]` makes a database of an audit's run (replies of about 300
bytes, with requests as long as a question is) and measures, each in a process of its own, so that memory is told apart.
The peer of each is what `sqlite3` alone needs to touch the same bytes: an aggregate over all replies for a report, its own
integrity check for verifying, `VACUUM INTO` for merging. Ratios are of one run, on one machine, one after the other.
"""

import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pytest_toolgate.audit import reported_pool
from pytest_toolgate.candidate import Candidate
from pytest_toolgate.candidate.presentation import draw
from pytest_toolgate.config import ProviderSettings, ScreenSettings, Settings
from pytest_toolgate.evidence import verify_database
from pytest_toolgate.gates.calls import screen_calls
from pytest_toolgate.store import Store, as_column, new_id
from pytest_toolgate.store.chain import place_of
from pytest_toolgate.store.database import add_rows
from pytest_toolgate.store.merge import merge

AUDIT = "models"
LAB = ProviderSettings("lab")
WORDS = [
    "the",
    "mesh",
    "of",
    "a",
    "unit",
    "square",
    "with",
    "linear",
    "elements",
    "gives",
    "a",
    "norm",
    "that",
    "is",
    "rounded",
    "to",
    "six",
    "decimals",
    "once",
    "solved",
]


def main(replies: int = 1_000_000, candidates: int = 2_000, directory: str = "") -> None:
    """Make the database, measure and print."""
    with tempfile.TemporaryDirectory(dir=directory or None) as scratch:
        path = Path(scratch) / "toolgate.db"
        seconds, _ = _alone(make, path, replies, candidates)
        print(f"made in {seconds:.0f} s", flush=True)
        size = path.stat().st_size
        print(f"{replies} replies of {candidates} candidates: {size / 1e9:.2f} GB, {size / replies:.0f} bytes each")
        for what, ours, peer_name, peer in MEASURED:
            seconds, memory = _alone(ours, path)
            plain, _ = _alone(peer, path)
            told = f"{what}: {seconds:.2f} s, {memory:.0f} MB; {peer_name}: {plain:.2f} s; ratio {seconds / plain:.2f}"
            print(told, flush=True)


# --- what is measured: a further report goes here -------------------------------------------------------------


def open_it(path: Path) -> None:
    """As every command does."""
    Store(path).close()


def report_pool(path: Path) -> None:
    """`toolgate report --pool --audits models`."""
    store = Store(path)
    assert reported_pool(store, [AUDIT]).pool
    store.close()


def verify(path: Path) -> None:
    """`toolgate db verify`."""
    assert verify_database(path).found == 0


def merge_all(path: Path) -> None:
    """`toolgate db merge` into a new database."""
    target = path.with_name("merged.db")
    assert merge(target, [path]).rows
    target.unlink()


def merge_again(path: Path) -> None:
    """`toolgate db merge` of what is there already."""
    target = path.with_name("again.db")
    shutil.copy(path, target)
    begun = time.perf_counter()
    assert merge(target, [path]).rows == 0
    target.unlink()
    raise _Took(time.perf_counter() - begun)


def upgrade(path: Path) -> None:
    """Opening a database of the schema before there were chains."""
    target = path.with_name("old.db")
    shutil.copy(path, target)
    with closing(sqlite3.connect(target)) as connection:
        connection.executescript("DROP TABLE links; DROP TABLE origins; PRAGMA user_version=5;")
    begun = time.perf_counter()
    Store(target).close()
    seconds = time.perf_counter() - begun
    target.unlink()
    raise _Took(seconds)


class _Took(Exception):  # noqa: N818 - a measurement, not an error
    """How long it was that counts."""


class _Query:
    """What SQLite alone does."""

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def __call__(self, path: Path) -> None:
        path.with_name("plain.db").unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(self.sql.replace("<other>", str(path.with_name("plain.db")))).fetchall()
        path.with_name("plain.db").unlink(missing_ok=True)


_AGGREGATE = _Query(
    "SELECT screen, model_asked, status, count(*), sum(correct), total(cost) FROM replies GROUP BY 1, 2, 3"
)
_CHECK = _Query("PRAGMA integrity_check")
_VACUUM = _Query("VACUUM INTO '<other>'")
MEASURED: tuple[tuple[str, Callable[[Path], None], str, Callable[[Path], None]], ...] = (
    ("open", open_it, "sqlite3 count of runs", _Query("SELECT count(*) FROM runs")),
    ("open one of schema 5", upgrade, "sqlite3 VACUUM INTO", _VACUUM),
    ("report --pool", report_pool, "sqlite3 aggregate of replies", _AGGREGATE),
    ("db verify", verify, "sqlite3 integrity check", _CHECK),
    ("db merge into a new one", merge_all, "sqlite3 VACUUM INTO", _VACUUM),
    ("db merge again", merge_again, "sqlite3 VACUUM INTO", _VACUUM),
)


# --- the database ---------------------------------------------------------------------------------------------


def make(path: Path, replies: int, candidates: int) -> None:
    """Write it as runs do: rows with their links, though many in one transaction."""
    store = Store(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        batch: list[tuple[str, dict[str, Any]]] = []
        for row in _rows(replies, candidates):
            batch.append(row)
            if len(batch) == 20_000:
                _write(connection, path, batch)
                batch.clear()
        _write(connection, path, batch)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()


def _write(connection: sqlite3.Connection, path: Path, batch: list[tuple[str, dict[str, Any]]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    full = [
        (table, {"id": new_id(), "time": "2026-01-01T12:00:00.000+00:00", **{k: as_column(v) for k, v in row.items()}})
        for table, row in batch
    ]
    add_rows(connection, place_of(path), full)
    connection.execute("COMMIT")


def _rows(replies: int, candidates: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of the loop's run and of an audit's, candidate by candidate."""
    random_ = random.Random(0)
    samples = max(1, replies // candidates)
    screen = ScreenSettings("light", "lab", "a-model", samples=samples, reject_at=samples + 1)
    settings = Settings(screens=(screen,), providers={"lab": LAB}).plain()
    runs = {None: new_id(), AUDIT: new_id()}
    for audit, run_id in runs.items():
        gates = ["lint", "verify"] if audit is None else ["screen"]
        yield "runs", {
            "id": run_id, "version": "0", "seed": 0, "gates": gates, "settings": settings, "machine": {}, "audit": audit,
        }  # fmt: skip
    for number in range(candidates):
        candidate = _candidate(number, random_)
        content_id, loop, audited = uuid.uuid4().hex, new_id(), new_id()
        yield "candidates", {
            "id": content_id, "fingerprint": candidate.fingerprint, "presented": candidate.presented,
            "twin_key": candidate.twin_key, "content": candidate.content(),
        }  # fmt: skip
        yield from _attempt(loop, runs[None], candidate, content_id, "verify")
        yield from _attempt(audited, runs[AUDIT], candidate, content_id, "screen")
        for call in screen_calls(candidate, screen, LAB, 0):
            reply_id = new_id()
            letter = "ABCD"[random_.randrange(4)]
            chosen = call.presentation.original(letter)
            right = candidate.options[chosen] == candidate.value
            yield "replies", {
                "id": reply_id, "attempt_id": audited, "run_id": runs[AUDIT], "reuse_key": call.key, "screen": "light",
                "call_index": call.index, "settings": screen.asked(), "request": call.sent(), "provider": "lab",
                "base_url": "http://127.0.0.1/v1", "model_asked": "a-model", "model_served": "a-model-2026", "seed": 0,
                "presentation": str(call.presentation), "status": "answered", "text": _text(letter, random_), "note": "",
                "chosen": chosen, "value": candidate.options[chosen], "correct": right, "input_tokens": 210,
                "output_tokens": 80, "cost": 0.001, "requests": 1, "latency": 1.5,
            }  # fmt: skip
            yield "uses", {
                "attempt_id": audited, "kind": "reply", "used_id": reply_id, "reused": False, "correct": right,
            }  # fmt: skip


def _candidate(number: int, random_: random.Random) -> Candidate:
    question = f"Item {number}: what is {' '.join(random_.choices(WORDS, k=40))}?"
    options = {letter: f"{random_.random():.6f}" for letter in "ABCD"}
    return Candidate(f"item-{number}", question, options, "B", f"print({number})\n", "scipy", Path("x"))


def _attempt(
    key: str, run_id: str, candidate: Candidate, content_id: str, gate: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "attempts", {
        "id": key, "run_id": run_id, "path": f"candidates/{candidate.id}.yaml", "candidate_id": candidate.id,
        "content_id": content_id, "fingerprint": candidate.fingerprint,
    }  # fmt: skip
    gates = ("lint", "verify") if gate == "verify" else (gate,)
    for each in gates:
        yield "gates", {
            "attempt_id": key, "gate": each, "verdict": "passed", "reason": "", "sentence": "", "warnings": [],
            "seconds": 0.5,
        }  # fmt: skip
    if gate == "verify":
        shown = draw(0, candidate.fingerprint, "verify", 0)
        for run in range(2):
            yield "script_runs", {
                "attempt_id": key, "number": run, "presentation": str(shown), "environment": {"packages": {"scipy": "1"}},
                "sandbox": "bubblewrap", "ended": "exited", "exit_code": 0, "answer": candidate.value, "matched": "B",
                "wall": 1.0, "cpu": 1.0, "peak_memory": 1, "disk_used": 1, "used": ["scipy"],
                "stdout": f"ANSWER: {candidate.value}\n", "stderr": "",
            }  # fmt: skip
    yield "outcomes", {
        "attempt_id": key, "outcome": "provisional", "gate": gate, "reason": "", "sentence": "", "warnings": [],
        "reused": 0,
    }  # fmt: skip


def _text(letter: str, random_: random.Random) -> str:
    return f"{' '.join(random_.choices(WORDS, k=52)).capitalize()}.\n\nANSWER: {letter}"


def _alone(what: Callable[..., None], *arguments: object) -> tuple[float, float]:
    """Seconds, and megabytes at most, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(_timed, what, *arguments).result()


def _timed(what: Callable[..., None], *arguments: object) -> tuple[float, float]:
    begun = time.perf_counter()
    try:
        what(*arguments)
        seconds = time.perf_counter() - begun
    except _Took as took:
        seconds = took.args[0]
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
