"""A database of the first version opens, keeps every row, and gains what is new."""

import json
import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.store import Store, StoreError, schema
from pytest_toolgate.store.record import read_record
from pytest_toolgate.store.reuse import answered_replies
from pytest_toolgate.store.spending import spent

# Every process is started afresh, as xdist's workers are.
START = multiprocessing.get_context("spawn")
PROCESSES = 4
# Version 1 as it was released: these words never change.
SCHEMA_1 = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL,
    gates TEXT NOT NULL, settings TEXT NOT NULL, machine TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS run_events (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS candidates (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, fingerprint TEXT NOT NULL, presented TEXT NOT NULL,
    twin_key TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, path TEXT NOT NULL,
    candidate_id TEXT, content_id TEXT, fingerprint TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS gates (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, gate TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL, sentence TEXT NOT NULL, warnings TEXT NOT NULL, seconds REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS script_runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, number INTEGER NOT NULL,
    presentation TEXT NOT NULL, environment TEXT NOT NULL, sandbox TEXT NOT NULL, ended TEXT NOT NULL,
    exit_code INTEGER, signal INTEGER, answer TEXT, matched TEXT, wall REAL NOT NULL, cpu REAL NOT NULL,
    peak_memory INTEGER NOT NULL, disk_used INTEGER NOT NULL, used TEXT NOT NULL, stdout TEXT NOT NULL,
    stderr TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS replies (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL,
    reuse_key TEXT NOT NULL,
    screen TEXT NOT NULL, call_index INTEGER NOT NULL, settings TEXT NOT NULL, provider TEXT NOT NULL,
    base_url TEXT NOT NULL, model_asked TEXT NOT NULL, model_served TEXT, seed INTEGER NOT NULL,
    presentation TEXT NOT NULL, status TEXT NOT NULL, text TEXT NOT NULL, note TEXT NOT NULL, chosen TEXT,
    value TEXT, correct INTEGER, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER,
    reasoning_tokens INTEGER, cost REAL, requests INTEGER NOT NULL, latency REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS agent_runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL,
    reuse_key TEXT NOT NULL,
    agent TEXT NOT NULL, settings TEXT NOT NULL, seed INTEGER NOT NULL, presentation TEXT NOT NULL,
    environment TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL, answer TEXT,
    chosen TEXT, value TEXT, correct INTEGER, used TEXT NOT NULL, transcript TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cost REAL,
    wall REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS agent_replies (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL, number INTEGER NOT NULL,
    provider TEXT NOT NULL, base_url TEXT NOT NULL, model_asked TEXT NOT NULL, model_served TEXT, status TEXT NOT NULL,
    text TEXT NOT NULL, note TEXT NOT NULL, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER,
    reasoning_tokens INTEGER, cost REAL, requests INTEGER NOT NULL, latency REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS uses (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, kind TEXT NOT NULL,
    used_id TEXT NOT NULL,
    reused INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS outcomes (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, outcome TEXT NOT NULL,
    gate TEXT NOT NULL,
    reason TEXT NOT NULL, sentence TEXT NOT NULL, warnings TEXT NOT NULL, reused INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS replies_by_key ON replies (reuse_key, call_index);
CREATE INDEX IF NOT EXISTS agent_runs_by_key ON agent_runs (reuse_key);
CREATE INDEX IF NOT EXISTS attempts_by_run ON attempts (run_id);
CREATE INDEX IF NOT EXISTS replies_by_run ON replies (run_id);
CREATE INDEX IF NOT EXISTS agent_runs_by_run ON agent_runs (run_id);
CREATE INDEX IF NOT EXISTS agent_replies_by_run ON agent_replies (run_id);
CREATE INDEX IF NOT EXISTS gates_by_attempt ON gates (attempt_id);
CREATE INDEX IF NOT EXISTS script_runs_by_attempt ON script_runs (attempt_id);
CREATE INDEX IF NOT EXISTS uses_by_attempt ON uses (attempt_id);
CREATE INDEX IF NOT EXISTS outcomes_by_attempt ON outcomes (attempt_id);
CREATE INDEX IF NOT EXISTS candidates_by_fingerprint ON candidates (fingerprint);
PRAGMA user_version=1;
"""
ROWS: dict[str, dict[str, Any]] = {
    "runs": {
        "id": "run", "time": "t1", "version": "0.1.0", "seed": 0, "gates": "[]", "settings": "{}", "machine": "{}",
    },
    "run_events": {"id": "event", "time": "t1", "run_id": "run", "kind": "closed", "detail": "{}"},
    "candidates": {
        "id": "content", "time": "t1", "fingerprint": "f", "presented": "p", "twin_key": "w", "content": '{"id": "é"}',
    },
    "attempts": {
        "id": "attempt", "time": "t1", "run_id": "run", "path": "candidates/é.yaml", "candidate_id": "é",
        "content_id": "content", "fingerprint": "f",
    },
    "gates": {
        "id": "gate", "time": "t1", "attempt_id": "attempt", "gate": "screen", "verdict": "passed", "reason": "",
        "sentence": "", "warnings": "[]", "seconds": 0.5,
    },
    "script_runs": {
        "id": "script", "time": "t1", "attempt_id": "attempt", "number": 0, "presentation": "BADC", "environment": "{}",
        "sandbox": "{}", "ended": "exited", "exit_code": 0, "signal": None, "answer": "1", "matched": "A", "wall": 1.0,
        "cpu": 1.0, "peak_memory": 1, "disk_used": 0, "used": "[]", "stdout": "ANSWER: 1", "stderr": "",
    },
    "replies": {
        "id": "reply", "time": "t1", "attempt_id": "attempt", "run_id": "run", "reuse_key": "key", "screen": "light",
        "call_index": 2, "settings": '{"model": "m"}', "provider": "lab", "base_url": "u", "model_asked": "m",
        "model_served": "m-2026-01-01", "seed": 0, "presentation": "BADC", "status": "answered",
        "text": "ANSWER: B\u2028", "note": "", "chosen": "A", "value": "0.060723", "correct": 1, "input_tokens": 100,
        "cached_tokens": None, "output_tokens": 10, "reasoning_tokens": None, "cost": 0.25, "requests": 1,
        "latency": 0.1,
    },
    "agent_runs": {
        "id": "agent", "time": "t1", "attempt_id": "attempt", "run_id": "run", "reuse_key": "key", "agent": "builtin",
        "settings": "{}", "seed": 0, "presentation": "BADC", "environment": "{}", "outcome": "passed", "reason": "",
        "note": "", "answer": "B", "chosen": "A", "value": "1", "correct": 1, "used": "[]", "transcript": "[]",
        "turns": 1, "input_tokens": 1, "cached_tokens": None, "output_tokens": 1, "reasoning_tokens": None, "cost": 0.5,
        "wall": 1.0,
    },
    "agent_replies": {
        "id": "agent-reply", "time": "t1", "attempt_id": "attempt", "run_id": "run", "number": 1, "provider": "lab",
        "base_url": "u", "model_asked": "m", "model_served": "m", "status": "complete", "text": "ANSWER: B", "note": "",
        "input_tokens": 1, "cached_tokens": None, "output_tokens": 1, "reasoning_tokens": None, "cost": 0.5,
        "requests": 1, "latency": 0.1,
    },
    "uses": {"id": "use", "time": "t1", "attempt_id": "attempt", "kind": "reply", "used_id": "reply", "reused": 0},
    "outcomes": {
        "id": "outcome", "time": "t1", "attempt_id": "attempt", "outcome": "accepted", "gate": "solve", "reason": "",
        "sentence": "", "warnings": "[]", "reused": 0,
    },
}  # fmt: skip
PREFLIGHT = {
    "run_id": "run", "provider": "lab", "base_url": "u", "settings": {"model": "m"}, "status": "complete", "text": "OK",
    "note": "", "cost": 0.125, "requests": 1, "latency": 0.1,
}  # fmt: skip


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Add a row by hand."""
    connection.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
    )


def columns(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Table or index -> its columns: name, type, whether it may be null, default, part of the key. In any order."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        return {
            name: sorted(row[1:] for row in connection.execute(f"PRAGMA {kind}_info({name})")) for kind, name in names
        }


def version(path: Path) -> int:
    """The schema's version, read as any tool would."""
    with closing(sqlite3.connect(path)) as connection:
        number: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database as version 1 left it, a row in each table."""
    path = tmp_path / "toolgate.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(SCHEMA_1)
        for table, row in ROWS.items():
            insert(connection, table, row)
    return path


# What version 2 brought.
SCHEMA_2 = """
ALTER TABLE replies ADD COLUMN request TEXT NOT NULL DEFAULT '{}';
ALTER TABLE uses ADD COLUMN correct INTEGER;
CREATE TABLE cues (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, cue TEXT NOT NULL, picks TEXT NOT NULL,
    score REAL
) STRICT;
CREATE TABLE preflights (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, provider TEXT NOT NULL, base_url TEXT NOT NULL,
    settings TEXT NOT NULL, status TEXT NOT NULL, text TEXT NOT NULL, note TEXT NOT NULL, model_served TEXT,
    input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cost REAL,
    requests INTEGER NOT NULL, latency REAL NOT NULL
) STRICT;
CREATE INDEX cues_by_attempt ON cues (attempt_id);
CREATE INDEX preflights_by_run ON preflights (run_id);
PRAGMA user_version=2;
"""
# What version 3 brought.
SCHEMA_3 = """
ALTER TABLE script_runs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE script_runs ADD COLUMN files_made INTEGER;
ALTER TABLE script_runs ADD COLUMN stdout_bytes INTEGER;
ALTER TABLE script_runs ADD COLUMN stderr_bytes INTEGER;
PRAGMA user_version=3;
"""
# What version 4 brought.
SCHEMA_4 = """
ALTER TABLE agent_runs ADD COLUMN solver TEXT;
ALTER TABLE agent_runs ADD COLUMN control INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_runs ADD COLUMN agent_version TEXT;
ALTER TABLE agent_runs ADD COLUMN called TEXT;
ALTER TABLE agent_replies ADD COLUMN solver TEXT;
ALTER TABLE agent_replies ADD COLUMN control INTEGER NOT NULL DEFAULT 0;
ALTER TABLE script_runs ADD COLUMN called TEXT;
ALTER TABLE runs ADD COLUMN seal TEXT;
PRAGMA user_version=4;
"""


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def test_every_row_is_there_as_it_was(store: Store) -> None:
    for table, row in ROWS.items():
        [found] = store.query(f"SELECT * FROM {table}")
        assert {name: found[name] for name in row} == row
    assert store.query("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def test_it_has_become_what_a_new_one_is(store: Store, tmp_path: Path) -> None:
    Store(tmp_path / "new.db").close()
    assert version(store.path) == version(tmp_path / "new.db") == schema.VERSION == 6
    assert columns(store.path) == columns(tmp_path / "new.db")
    assert {"cues", "preflights", "checks", "rounds", "proposals"} <= columns(store.path).keys()


@pytest.mark.parametrize("later", [SCHEMA_2, SCHEMA_2 + SCHEMA_3, SCHEMA_2 + SCHEMA_3 + SCHEMA_4], ids=["2", "3", "4"])
def test_so_has_one_of_a_later_version(path: Path, tmp_path: Path, later: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(later)
    Store(path).close()
    Store(tmp_path / "new.db").close()
    assert version(path) == schema.VERSION
    assert columns(path) == columns(tmp_path / "new.db")


def test_what_nobody_recorded_then_reads_as_nothing(store: Store) -> None:
    assert store.query("SELECT request FROM replies") == [{"request": "{}"}]
    assert store.query("SELECT alone, files_made, stdout_bytes, stderr_bytes, called FROM script_runs") == [
        {"alone": 0, "files_made": None, "stdout_bytes": None, "stderr_bytes": None, "called": None}
    ]
    assert store.query("SELECT solver, control, agent_version, called FROM agent_runs") == [
        {"solver": None, "control": 0, "agent_version": None, "called": None}
    ]
    assert store.query("SELECT solver, control FROM agent_replies") == [{"solver": None, "control": 0}]
    record = read_record(store, "attempt")["record"]
    assert record["cues"] == []
    assert record["needed"] is None
    assert [(reply["id"], reply["request"], reply["value"]) for reply in record["replies"]] == [
        ("reply", {}, "0.060723")
    ]


def test_new_rows_stand_beside_old_ones(store: Store) -> None:
    store.append("replies", {**ROWS["replies"], "id": "new", "request": {"model": "m"}})
    store.append("cues", {"attempt_id": "attempt", "cue": "longest-option", "picks": "AB", "score": 0.5})
    store.append("preflights", PREFLIGHT)
    requests = store.query("SELECT id, request FROM replies ORDER BY id")
    assert requests == [{"id": "new", "request": '{"model": "m"}'}, {"id": "reply", "request": "{}"}]
    assert [row["picks"] for row in read_record(store, "attempt")["record"]["cues"]] == ["AB"]


def test_what_was_paid_for_is_known(store: Store) -> None:
    assert answered_replies(store, ["other", "key"])["key"]["id"] == "reply"
    assert spent(store, "run").usd == 0.75
    store.append("preflights", PREFLIGHT)
    assert spent(store, "run").usd == 0.875
    assert spent(store, "run", "attempt").usd == 0.75


def test_opening_it_again_changes_nothing(store: Store) -> None:
    before = columns(store.path)
    again = Store(store.path)
    assert len(again.query("SELECT * FROM replies")) == 1
    again.close()
    assert columns(store.path) == before


def test_a_row_that_the_first_version_spooled_is_taken_in(path: Path) -> None:
    """It was paid for when somebody held the database; its process knew nothing of new columns."""
    spool = path.with_name("toolgate.db.spool")
    spool.mkdir()
    row = {**ROWS["replies"], "id": "spooled"}
    (spool / "spooled.json").write_text(json.dumps({"table": "replies", "row": row}), "utf-8")
    store = Store(path)
    assert store.take_in_spool() == 1
    assert store.query("SELECT request FROM replies WHERE id = 'spooled'") == [{"request": "{}"}]
    assert not list(spool.iterdir())
    store.close()


# --- at the same time ---------------------------------------------------------------------------------------


def open_and_write(path: Path, ready: Barrier, number: int) -> None:
    """One worker that meets the others at the old database."""
    ready.wait(60)
    store = Store(path)
    store.append("replies", {**ROWS["replies"], "id": f"by-{number}", "request": {"model": "m"}})
    store.append("preflights", PREFLIGHT)
    store.close()


def test_processes_that_meet_at_an_old_database_bring_it_up_to_date_once(path: Path, tmp_path: Path) -> None:
    Store(tmp_path / "new.db").close()
    ready = START.Barrier(PROCESSES)
    workers = [START.Process(target=open_and_write, args=(path, ready, number)) for number in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    assert columns(path) == columns(tmp_path / "new.db")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (1 + PROCESSES,)
        assert connection.execute("SELECT count(*) FROM preflights").fetchone() == (PROCESSES,)


def work_in_it(path: Path, statement: str, begun: Event, go: Event) -> None:
    """A process of the first version in the middle of a transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE" if statement.startswith("INSERT") else "BEGIN")
    connection.execute(statement).fetchall()
    begun.set()
    go.wait(60)
    connection.execute("COMMIT")
    connection.close()


@pytest.mark.parametrize(
    "statement",
    ["SELECT count(*) FROM replies", "INSERT INTO run_events VALUES ('late', 't2', 'run', 'closed', '{}')"],
    ids=["reader", "writer"],
)
def test_whoever_is_at_work_in_it_is_not_disturbed(path: Path, statement: str) -> None:
    """A reader holds up nobody, a writer is waited for."""
    begun, go = START.Event(), START.Event()
    other = START.Process(target=work_in_it, args=(path, statement, begun, go))
    other.start()
    assert begun.wait(60)
    if statement.startswith("INSERT"):
        with pytest.raises(StoreError, match="locked"):
            Store(path, busy_seconds=0.2)
        assert version(path) == 1
        go.set()
    store = Store(path)
    go.set()
    other.join(60)
    assert other.exitcode == 0
    assert version(path) == schema.VERSION
    assert len(store.query("SELECT * FROM run_events")) == (2 if statement.startswith("INSERT") else 1)
    store.close()


def upgrade_and_die(path: Path) -> None:
    """A process that is killed before it is done."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema.statements(1):
        connection.execute(statement)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_killed_over_it_leaves_it_as_it_was(path: Path, tmp_path: Path) -> None:
    before = columns(path)
    worker = START.Process(target=upgrade_and_die, args=(path,))
    worker.start()
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL
    assert (version(path), columns(path)) == (1, before)
    Store(path).close()
    Store(tmp_path / "new.db").close()
    assert columns(path) == columns(tmp_path / "new.db")


def test_many_rows_are_brought_up_to_date_while_one_waits(path: Path) -> None:
    """Each gets its link: a database of years takes as long as a pytest start, not as a lunch."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(20_000):
            insert(connection, "replies", {**ROWS["replies"], "id": f"old-{number}"})
    begun = time.monotonic()
    Store(path).close()
    assert time.monotonic() - begun < 5
