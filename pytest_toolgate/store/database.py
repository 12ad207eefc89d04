"""The database of all attempts.

Each process appends its own rows as things happen, in one short transaction each: a process killed at any
instant has lost nothing that it had finished. SQLite in WAL mode keeps writers and outside readers out of
each other's way. A row that cannot be written because somebody holds the database is put into a file beside
it, and taken in when the next run opens it: what was paid for is never lost.
"""

import datetime
import json
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import schema
from .chain import Chain, link_all, place_of

BUSY_SECONDS = 30.0


class StoreError(Exception):
    """The database cannot be used, as one sentence with its path."""


def new_id() -> str:
    """A new key for a row."""
    return uuid.uuid4().hex


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


class Store:
    """The database, opened for appending and reading; the threads of a process may share one."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open the database and create it where there is none.

        Args:
            path: The file.
            busy_seconds: How long to wait for somebody else's transaction.

        Raises:
            StoreError: It cannot be opened or was written by a later version.
        """
        self.path = path
        self._busy_seconds = busy_seconds
        self._free: list[sqlite3.Connection] = []
        self._closed = False
        self._writing = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare_in_turn(time.monotonic() + busy_seconds)
            self._place = place_of(path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the database {path} cannot be opened: {error}") from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses: one that waits for somebody's transaction keeps no other waiting."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self._open()
        try:
            yield connection
        finally:
            connection.close() if self._closed else self._free.append(connection)

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise sqlite3.ProgrammingError("it is closed")
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def _prepare_in_turn(self, deadline: float) -> None:
        # Processes that meet at a new database find it locked while one of them switches it to WAL: SQLite waits
        # for transactions, not for that.
        while True:
            try:
                return self._prepare()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
                time.sleep(0.02)

    def _prepare(self) -> None:
        with self._connection() as connection:
            if self._version(connection) == schema.VERSION:
                return
            connection.execute("PRAGMA journal_mode=WAL")
        with self._transaction() as connection:
            # Another process may have been first.
            before = self._version(connection)
            for statement in schema.statements(before):
                connection.execute(statement)
            if before < schema.CHAINED_SINCE:
                link_all(connection, place_of(self.path))
            connection.execute(f"PRAGMA user_version={schema.VERSION}")

    def _version(self, connection: sqlite3.Connection) -> int:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > schema.VERSION:
            raise StoreError(f"the database {self.path} was written by a later version (schema {version})")
        return version

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._closed = True
        while self._free:
            self._free.pop().close()

    def append(self, table: str, row: Mapping[str, Any]) -> str:
        """Add one row and return its key; see `append_all`."""
        return self.append_all([(table, row)])[0]

    def append_all(self, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Add rows in one transaction, all or none of them, and return their keys.

        Args:
            rows: Name of the table, and column -> value. Lists and mappings are stored as JSON; `id` and `time` are
                filled in where they are not given.

        Raises:
            StoreError: They could not be written; the sentence says in which files they are kept.
        """
        if not rows:
            return []
        full = [
            (table, {"id": new_id(), "time": now(), **{name: as_column(value) for name, value in row.items()}})
            for table, row in rows
        ]
        try:
            with self._transaction() as connection:
                add_rows(connection, self._place, full)
        except sqlite3.Error as error:
            kept = "; ".join(self._spool(table, row) for table, row in full)
            raise StoreError(f"the database {self.path} cannot be written ({error}); {kept}") from error
        return [str(row["id"]) for _, row in full]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # Writers that meet in SQLite sleep, and longer each time; those of one process stand in line instead. Behind
        # one that waits for somebody else's transaction, none waits longer than it would for that transaction itself.
        in_turn = self._writing.acquire(timeout=self._busy_seconds)
        try:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        finally:
            if in_turn:
                self._writing.release()

    def query(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """The rows of a SELECT as dictionaries."""
        try:
            with self._connection() as connection:
                return [dict(row) for row in connection.execute(sql, parameters)]
        except sqlite3.Error as error:
            raise StoreError(f"the database {self.path} cannot be read: {error}") from error

    # --- rows that could not be written in time ------------------------------------------------------------

    @property
    def _spool_directory(self) -> Path:
        return self.path.with_name(self.path.name + ".spool")

    def _spool(self, table: str, row: Mapping[str, Any]) -> str:
        """Keep a row in a file of its own, so that taking in never races with adding; says where."""
        path = self._spool_directory / f"{row['id']}.json"
        try:
            self._spool_directory.mkdir(exist_ok=True)
            with path.with_suffix(".tmp").open("w", encoding="utf-8") as file:
                json.dump({"table": table, "row": row}, file)
                file.flush()
                os.fsync(file.fileno())
            path.with_suffix(".tmp").rename(path)
        except OSError as error:
            return f"the row is lost, since {path} cannot be written either ({error.strerror})"
        return f"the row is kept in {path}"

    def take_in_spool(self) -> int:
        """Write the rows that earlier processes could not; returns how many there were.

        Raises:
            StoreError: The database is still held by somebody.
        """
        count = 0
        for path in sorted(self._spool_directory.glob("*.json")):
            try:
                entry = json.loads(path.read_text("utf-8"))
            except FileNotFoundError:
                continue  # another run has just taken it in
            try:
                with self._transaction() as connection:
                    add_rows(connection, self._place, [(entry["table"], entry["row"])])
            except sqlite3.OperationalError as error:
                raise StoreError(f"the database {self.path} cannot be written: {error}") from error
            path.unlink(missing_ok=True)
            count += 1
        return count


def add_rows(connection: sqlite3.Connection, place: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> int:
    """Add rows inside of a transaction, each with its link in the chain of the file; returns how many were not there.

    Args:
        connection: In a transaction.
        place: Where the file is; see `chain.place_of`.
        rows: Name of the table, and column -> value as it is stored, `id` included.
    """
    chain = Chain(connection, place)
    count = 0
    for table, row in rows:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        # Table and column names are this program's own; values are bound. Only a row that is there already is
        # passed over (a spooled row taken in twice); one that does not fit is an error, never silently lost.
        added = connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", list(row.values())
        )
        if added.rowcount:
            chain.add(table, str(row["id"]))
            count += 1
    return count


def as_column(value: Any) -> Any:  # noqa: ANN401 - any JSON type
    """A value as a column holds it: lists and mappings as JSON with sorted keys."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Mapping | list | tuple):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    # A file name that is not UTF-8 holds lone surrogates, which SQLite cannot store.
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
