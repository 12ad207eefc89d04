"""A run that cannot begin leaves nothing: no directory, and no token beside the database or in the environment."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_toolgate.config import Settings
from pytest_toolgate.gates import Run
from pytest_toolgate.run_directory import close_run, open_run
from pytest_toolgate.store import Store, StoreError


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("TOOLGATE_SEAL", raising=False)
    directory = tmp_path / "toolgate-run-x"
    directory.mkdir()
    database = tmp_path / "toolgate.db"
    return Run("r", 0, directory, tmp_path, (), database, tmp_path / "accepted", seal="the token")


def left(run: Run) -> list[str]:
    # SQLite's own files, and the row that could not be written, which is kept, lie beside it too.
    others = ("toolgate.db-", "toolgate.db.spool")
    names = sorted(path.name for path in run.root.iterdir() if not path.name.startswith(others))
    return names + [name for name in os.environ if name == "TOOLGATE_SEAL"]


def test_a_run_and_what_it_lays_out(run: Run) -> None:
    store, lock = open_run(run, Settings())
    assert left(run) == ["toolgate-run-x", "toolgate.db", "toolgate.db.seal-r", "TOOLGATE_SEAL"]
    close_run(run, store, lock)
    assert left(run) == ["toolgate.db"]


def test_a_database_that_refuses_the_run(run: Run) -> None:
    Store(run.database).close()
    with closing(sqlite3.connect(run.database)) as connection, connection:
        connection.execute("CREATE TRIGGER no BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(StoreError):
        open_run(run, Settings())
    assert left(run) == ["toolgate.db"]


def test_a_token_that_cannot_be_written(run: Run) -> None:
    (run.root / "toolgate.db.seal-r").mkdir()
    with pytest.raises(StoreError, match=r"the token of the run cannot be written to .*: Is a directory"):
        open_run(run, Settings())
    assert left(run) == ["toolgate.db", "toolgate.db.seal-r"]


def test_a_directory_of_another_run_stays_as_it_is(run: Run) -> None:
    store, lock = open_run(run, Settings())
    with pytest.raises(StoreError, match="is in use by another run"):
        open_run(run, Settings())
    assert (run.directory / "seal").read_text() == "the token"
    close_run(run, store, lock)
