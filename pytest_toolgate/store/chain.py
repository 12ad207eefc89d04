"""What holds rows together: each has a link, and each link seals the one before it, so that a change is found.

A chain belongs to one file. A copy of a file begins a chain of its own when something is first added to it, and says in
its first link where all chains that it had came with it have stood; so copies may grow apart and be merged again.
"""

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from . import schema

_BATCH: Final = 1000
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_ADD: Final = "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)"


def place_of(path: Path) -> str:
    """Where a file is, in a form that no copy of it shares: not even one that a machine like this one has made."""
    there = path.stat()
    try:
        boot = _BOOT.read_text("ascii").strip()
    except OSError:
        boot = ""
    return hashlib.sha256(f"{boot} {there.st_dev} {there.st_ino}".encode()).hexdigest()[:32]


def row_digest(table: str, columns: Iterable[tuple[str, object]]) -> str:
    """SHA-256 of a row as it is stored: of its table and of name, type and value of every column that is not NULL.

    A later schema may add columns that are NULL in older rows, and the digest stays what it was.

    Args:
        table: Its table.
        columns: Name and value of each; text as `str` or, undecoded, as `bytearray`.
    """
    parts = [table.encode()]
    for name, value in sorted(columns):
        if value is not None:
            parts += (name.encode(), _typed(value))
    return _sealed(parts)


def chain_digest(before: str, table: str, row_id: str, digest: str) -> str:
    """SHA-256 of a link, which seals all links before it.

    Args:
        before: That of the link before; empty for the first.
        table: Table of the row.
        row_id: Its key.
        digest: Its digest.
    """
    return _sealed([text.encode("utf-8", "surrogateescape") for text in (before, table, row_id, digest)])


def _typed(value: object) -> bytes:
    if isinstance(value, str):
        return b"t" + value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytearray):
        return b"t" + value
    if isinstance(value, float):
        return b"f" + value.hex().encode()
    if isinstance(value, int):
        return b"i%d" % value
    return b"b" + bytes(value)  # type: ignore[call-overload,no-any-return]  # SQLite has no other type


def _sealed(parts: Sequence[bytes]) -> str:
    """One digest of several texts, none of which can pass for a part of its neighbour."""
    return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()


class Chain:
    """The end of the chain of one file, inside of a transaction that only this process writes in."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        """Find the end, or begin a chain.

        Args:
            connection: In a transaction.
            place: Where the file is; see `place_of`.
        """
        self._cursor = connection.cursor()
        self._cursor.row_factory = None
        found = self._one("SELECT id FROM origins WHERE place = ? ORDER BY time DESC LIMIT 1", place)
        self.origin: str = found[0] if found else uuid.uuid4().hex
        head = self._one(_HEAD, self.origin) if found else None
        self._position: int = head[0] if head else 0
        self._digest: str = head[1] if head else ""
        if not found:
            self._begin(place)

    def _begin(self, place: str) -> None:
        heads = {
            origin: dict(zip(("length", "digest"), head, strict=True))
            for (origin,) in self._cursor.execute("SELECT DISTINCT id FROM origins ORDER BY id").fetchall()
            if (head := self._one(_HEAD, origin))
        }
        self._cursor.execute(
            "INSERT INTO origins (id, time, place, follows) VALUES (?, strftime('%Y-%m-%dT%H:%M:%f+00:00'), ?, ?)",
            [self.origin, place, json.dumps(heads, sort_keys=True)],
        )
        self.add("origins", self.origin)

    def _one(self, sql: str, *parameters: str) -> Any:  # noqa: ANN401 - a row of any columns
        return self._cursor.execute(sql, parameters).fetchone()

    def add(self, table: str, row_id: str) -> None:
        """Link a row that has just been added, as it is stored now."""
        row = self._one(f"SELECT * FROM {table} WHERE id = ?", row_id)
        columns = [column[0] for column in self._cursor.description]
        self._cursor.execute(_ADD, self._next(table, row_id, row_digest(table, zip(columns, row, strict=True))))

    def add_all(self, table: str, reader: sqlite3.Cursor) -> None:
        """Link all rows that a cursor reads, in its order."""
        columns = [column[0] for column in reader.description]
        key = columns.index("id")
        while rows := reader.fetchmany(_BATCH):
            self._cursor.executemany(_ADD, [
                self._next(table, _text(row[key]), row_digest(table, zip(columns, row, strict=True))) for row in rows
            ])  # fmt: skip

    def _next(self, table: str, row_id: str, digest: str) -> tuple[object, ...]:
        self._position += 1
        self._digest = chain_digest(self._digest, table, row_id, digest)
        return self.origin, self._position, table, row_id, digest, self._digest


_HEAD: Final = "SELECT position, chain_digest FROM links WHERE origin = ? ORDER BY position DESC LIMIT 1"


def link_all(connection: sqlite3.Connection, place: str) -> None:
    """Link every row of a database that had no links yet, table by table in the order in which rows were added."""
    chain = Chain(connection, place)
    before = connection.text_factory
    # What is no text any more is linked all the same, as it is.
    connection.text_factory = bytearray
    try:
        for table in schema.chained():
            if table != "origins":
                reader = connection.cursor()
                reader.row_factory = None
                chain.add_all(table, reader.execute(f"SELECT * FROM {table} ORDER BY rowid"))
    finally:
        connection.text_factory = before


def _text(value: Any) -> str:  # noqa: ANN401 - text in either form
    return value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
