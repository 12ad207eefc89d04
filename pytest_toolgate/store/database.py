"""One connection to the database of all attempts.

Each process appends its own rows as things happen, in one short transaction each: a process killed at any
instant has lost nothing that it had finished. SQLite in WAL mode keeps writers and outside readers out of
each other's way. A row that cannot be written because somebody holds the database is put into a file beside
it, and taken in when the next run opens it: what was paid for is never lost.
"""

import datetime
import json
import os
import sqlite3
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import schema

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
    """The database, opened for appending and reading."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open the database and create it where there is none.

        Args:
            path: The file.
            busy_seconds: How long to wait for somebody else's transaction.

        Raises:
            StoreError: It cannot be opened or was written by a later version.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            self._prepare()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the database {path} cannot be opened: {error}") from error

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > schema.VERSION:
            raise StoreError(f"the database {self.path} was written by a later version (schema {version})")
        self._connection.execute("PRAGMA synchronous=FULL")
        if version == schema.VERSION:
            return
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(f"BEGIN IMMEDIATE;{schema.TABLES}PRAGMA user_version={schema.VERSION};COMMIT;")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def append(self, table: str, row: Mapping[str, Any]) -> str:
        """Add one row and return its key.

        Args:
            table: Name of the table.
            row: Column -> value. Lists and mappings are stored as JSON; `id` and `time` are filled in.

        Raises:
            StoreError: It could not be written; it is in the spool file and not lost.
        """
        full = {"id": new_id(), "time": now(), **{name: _column(value) for name, value in row.items()}}
        try:
            self._insert(table, full)
        except sqlite3.OperationalError as error:
            spool = self._spool(table, full)
            raise StoreError(f"the database {self.path} cannot be written ({error}); the row is kept in {spool}") from error
        return str(full["id"])

    def _insert(self, table: str, row: Mapping[str, Any]) -> None:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        # Table and column names are this program's own; values are bound.
        self._connection.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a SELECT as dictionaries."""
        try:
            return [dict(row) for row in self._connection.execute(sql, parameters)]
        except sqlite3.Error as error:
            raise StoreError(f"the database {self.path} cannot be read: {error}") from error

    # --- rows that could not be written in time ------------------------------------------------------------

    @property
    def _spool_directory(self) -> Path:
        return self.path.with_name(self.path.name + ".spool")

    def _spool(self, table: str, row: Mapping[str, Any]) -> Path:
        self._spool_directory.mkdir(exist_ok=True)
        path = self._spool_directory / f"{os.getpid()}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"table": table, "row": row}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return path

    def take_in_spool(self) -> int:
        """Write the rows that earlier processes could not; returns how many there were.

        Raises:
            StoreError: The database is still held by somebody.
        """
        count = 0
        for path in sorted(self._spool_directory.glob("*.jsonl")):
            for line in path.read_text("utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the last line of a process that was killed while it wrote
                try:
                    self._insert(entry["table"], entry["row"])
                except sqlite3.OperationalError as error:
                    raise StoreError(f"the database {self.path} cannot be written: {error}") from error
                count += 1
            path.unlink()
        return count


def _column(value: Any) -> Any:  # noqa: ANN401 - any JSON type
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value
