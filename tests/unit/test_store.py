"""The database of attempts: nothing that was paid for is lost."""

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.store import Store, StoreError, schema

WORKERS, WRITES = 8, 200
# Every process is started afresh, as xdist's workers are.
START = multiprocessing.get_context("spawn")


def reply(attempt: str = "a", **changes: object) -> dict[str, Any]:
    """A row of `replies`."""
    row = {
        "attempt_id": attempt, "run_id": "r", "reuse_key": "k", "screen": "light", "call_index": 0,
        "settings": {"n": 1}, "provider": "p", "base_url": "u", "model_asked": "m", "seed": 0,
        "presentation": "BACD", "status": "answered", "text": "ANSWER: B", "note": "", "chosen": "A",
        "value": "1", "correct": True, "cost": 0.25, "requests": 1, "latency": 0.1,
    }  # fmt: skip
    return row | changes


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "deep" / "toolgate.db", busy_seconds=0.2)
    yield opened
    opened.close()


def test_a_row_comes_back_with_key_and_time(store: Store) -> None:
    key = store.append("replies", reply(settings={"é": [1, None]}, correct=False))
    [row] = store.query("SELECT * FROM replies")
    assert row["id"] == key
    assert row["time"].endswith("+00:00")
    assert (row["settings"], row["correct"], row["model_served"]) == ('{"é": [1, null]}', 0, None)


def test_the_database_opens_in_any_sqlite_tool(store: Store) -> None:
    store.append("replies", reply())
    with sqlite3.connect(f"file:{store.path}?mode=ro", uri=True) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (1,)
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_opening_again_keeps_the_rows(store: Store) -> None:
    store.append("replies", reply())
    again = Store(store.path)
    assert len(again.query("SELECT * FROM replies")) == 1
    again.close()


def test_a_row_that_does_not_fit_is_an_error_and_never_silently_left_out(store: Store) -> None:
    with pytest.raises(StoreError, match="NOT NULL"):
        store.append("replies", reply(text=None))
    with pytest.raises(StoreError, match="TEXT"):
        store.append("replies", reply(call_index="first"))


def test_a_path_that_is_not_unicode_can_be_stored(store: Store) -> None:
    path = os.fsdecode(b"caf\xe9.yaml")
    store.append("attempts", {"run_id": "r", "path": path})
    assert store.query("SELECT path FROM attempts") == [{"path": "caf\\udce9.yaml"}]


def test_a_later_version_a_folder_and_another_file_are_refused(tmp_path: Path) -> None:
    later = sqlite3.connect(tmp_path / "later.db")
    later.execute(f"PRAGMA user_version={schema.VERSION + 1}")
    later.close()
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    for name in ("later.db", "folder.db", "text.db", "text.db/inside.db"):
        with pytest.raises(StoreError, match=str(tmp_path / name)):
            Store(tmp_path / name)


# --- H01: many writers, a reader, a lock ------------------------------------------------------------------


def write_many(path: Path, ready: Barrier, number: int) -> None:
    """One worker, which finds no database or the others at it."""
    ready.wait()
    store = Store(path)
    for index in range(WRITES):
        store.append("replies", reply(f"{number}-{index}"))
    store.close()


def hold(path: Path, statements: tuple[str, ...], held: Event, release: Event) -> None:
    """An outsider that does something in a transaction and stays in it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement).fetchall()
    held.set()
    release.wait(60)
    connection.execute("COMMIT")
    connection.close()


class Outsider:
    """A process that holds a transaction from `with` to the end of it."""

    def __init__(self, path: Path, *statements: str) -> None:
        self.held, self.release = START.Event(), START.Event()
        self.process = START.Process(target=hold, args=(path, statements, self.held, self.release))

    def __enter__(self) -> None:
        self.process.start()
        assert self.held.wait(30)

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self.process.join(30)
        assert self.process.exitcode == 0


def test_eight_processes_write_while_somebody_reads(tmp_path: Path) -> None:
    """H01."""
    path = tmp_path / "toolgate.db"
    ready = START.Barrier(WORKERS + 1)
    workers = [START.Process(target=write_many, args=(path, ready, number)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    ready.wait(60)
    while not path.exists():
        time.sleep(0.001)
    time.sleep(0.1)
    with Outsider(path, "BEGIN", "SELECT count(*) FROM sqlite_master"):
        time.sleep(3)
        for worker in workers:
            worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * WORKERS
    store = Store(path)
    assert store.query("SELECT count(*) AS n, count(DISTINCT attempt_id) AS d FROM replies") == [{"n": 1600, "d": 1600}]
    assert store.take_in_spool() == 0
    store.close()


def test_a_lock_that_ends_in_time_is_waited_for(store: Store) -> None:
    """H01."""
    patient = Store(store.path, busy_seconds=20)
    outsider = Outsider(store.path, "BEGIN IMMEDIATE")
    with outsider:
        threading.Timer(0.7, outsider.release.set).start()
        patient.append("replies", reply())
    assert len(store.query("SELECT * FROM replies")) == 1
    patient.close()


def test_a_lock_held_for_ever_loses_no_paid_reply(store: Store) -> None:
    """H01."""
    with Outsider(store.path, "BEGIN IMMEDIATE"):
        for number in range(3):
            with pytest.raises(StoreError, match=f"{store.path} cannot be written.*kept in"):
                store.append("replies", reply(f"spooled-{number}", text="é\u2028\n", settings={"a": 1}))
        with pytest.raises(StoreError, match="cannot be written"):
            store.take_in_spool()
        assert store.query("SELECT * FROM replies") == []
    assert store.take_in_spool() == 3
    rows = store.query("SELECT attempt_id, text, settings FROM replies ORDER BY attempt_id")
    assert rows == [{"attempt_id": f"spooled-{n}", "text": "é\u2028\n", "settings": '{"a": 1}'} for n in range(3)]
    assert store.take_in_spool() == 0
    assert len(store.query("SELECT * FROM replies")) == 3


def test_a_spooled_row_taken_in_twice_is_one_row(store: Store) -> None:
    with Outsider(store.path, "BEGIN IMMEDIATE"), pytest.raises(StoreError):
        store.append("replies", reply())
    [spooled] = store.path.with_name("toolgate.db.spool").glob("*.json")
    content = spooled.read_bytes()
    assert store.take_in_spool() == 1
    spooled.write_bytes(content)
    assert store.take_in_spool() == 1
    assert len(store.query("SELECT * FROM replies")) == 1


def write_and_die(path: Path) -> None:
    """A worker that is killed at once after its rows."""
    store = Store(path)
    for number in range(5):
        store.append("replies", reply(str(number)))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_leaves_every_row_it_had_written(tmp_path: Path) -> None:
    """H03."""
    worker = START.Process(target=write_and_die, args=(tmp_path / "toolgate.db",))
    worker.start()
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL
    store = Store(tmp_path / "toolgate.db")
    assert len(store.query("SELECT * FROM replies")) == 5
    store.close()


@given(text=st.text(), number=st.integers(-(2**63), 2**63 - 1))
def test_any_text_and_number_is_stored(tmp_path_factory: pytest.TempPathFactory, text: str, number: int) -> None:
    store = Store(tmp_path_factory.getbasetemp() / "any.db")
    key = store.append("replies", reply(text=text, input_tokens=number))
    assert store.query("SELECT text, input_tokens FROM replies WHERE id = ?", [key]) == [
        {"text": text, "input_tokens": number}
    ]
    store.close()


def test_threads_that_come_and_go_leave_no_connection_behind(tmp_path: Path) -> None:
    """Every wave of calls has threads of its own, and a run has thousands of waves."""
    store = Store(tmp_path / "t.db")

    def write() -> None:
        store.append("run_events", {"run_id": "r", "kind": "closed", "detail": {}})

    def wave() -> int:
        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    most = max(wave() for _ in range(5))
    assert max(wave() for _ in range(40)) <= most + 8
    assert len(store.query("SELECT id FROM run_events")) == 4 * 45
    store.close()
