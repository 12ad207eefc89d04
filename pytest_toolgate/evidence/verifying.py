"""A whole database: is it sound, are its chains whole, and does each verdict follow from what is stored?"""

import sqlite3
from collections.abc import Callable, Collection
from contextlib import contextmanager
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..gates.result import escaped
from ..store import StoreError, schema
from ..store.read_only import check_ours, opened_to_read
from . import chains
from .chains import Head
from .findings import Finding, Findings
from .recompute import recompute

_OF_ATTEMPT: Final = "SELECT path FROM attempts WHERE id = (SELECT attempt_id FROM {table} WHERE id = ?)"


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of it.

    Attributes:
        version: Of the database's schema.
        heads: How far each chain reaches; none in a database of an older schema.
        held: What was held against something and holds: table or kind -> how many.
        unknown: Why something could not be computed again -> how many.
        findings: What does not hold, the first ten thousand.
        found: How much does not hold.
    """

    version: int
    heads: tuple[Head, ...]
    held: dict[str, int]
    unknown: dict[str, int]
    findings: tuple[Finding, ...]
    found: int


def verify_database(path: Path, heads: Collection[str] = ()) -> Verified:
    """Verify a database without writing to it. No software runs, no model is asked.

    Args:
        path: The file.
        heads: Digests that were noted earlier and must be in its chains.

    Raises:
        StoreError: It cannot be read.
    """
    with opened_to_read(path) as connection:
        version = check_ours(connection, path)
        connection.text_factory = _lenient
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        found = Findings(lambda table, key: _path(connection, table, key))
        _integrity(connection, found)
        ends: list[Head] = []
        if "links" in tables:
            ends = _chains(connection, tables, heads, found)
            if version < schema.CHAINED_SINCE:
                found.add("database", str(path), f"it says that it is of schema {version}, and it has chains")
        elif heads:
            raise StoreError(f"the database {path} is of schema {version}, which has no chains: there is no head in it")
        recompute(connection, tables, found)
        return Verified(
            version, tuple(ends), dict(found.held), dict(found.unknown), tuple(found.kept), found.count
        )


def _chains(
    connection: sqlite3.Connection, tables: Collection[str], heads: Collection[str], found: Findings
) -> list[Head]:
    ends: list[Head] = []
    # Undecoded: what is no text any more has a digest like anything else.
    with _reading(connection, bytearray):
        with _tolerant("links", found):
            ends = chains.walk(connection, heads, found)
        for table in schema.chained():
            if table not in tables:
                found.add("database", table, "the table is missing")
                continue
            with _tolerant(table, found):
                chains.rows(connection, table, found)
        with _tolerant("origins", found):
            chains.ends(connection, found)
    return ends


def _integrity(connection: sqlite3.Connection, found: Findings) -> None:
    """What SQLite itself finds: pages, indexes, types."""
    with _tolerant("database", found):
        for (line,) in connection.execute("PRAGMA integrity_check"):
            if line != "ok":
                found.add("database", "integrity", str(line))


@contextmanager
def _tolerant(what: str, found: Findings) -> Iterator[None]:
    """A part that cannot be read any more is a finding, and others are looked at all the same."""
    try:
        yield
    except sqlite3.Error as error:
        found.add("database", what, f"it cannot be read: {error}")


@contextmanager
def _reading(connection: sqlite3.Connection, texts: Callable[[bytes], Any]) -> Iterator[None]:
    before, connection.text_factory = connection.text_factory, texts
    try:
        yield
    finally:
        connection.text_factory = before


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _path(connection: sqlite3.Connection, table: str, key: str) -> str:
    """The path of the candidate that a row is about."""
    sql = {"attempts": "SELECT path FROM attempts WHERE id = ?", "candidates": "SELECT path FROM attempts WHERE content_id = ?"}.get(table)
    if sql is None and table not in schema.chained():
        return ""
    try:
        with _reading(connection, _lenient):
            row = connection.execute(sql or _OF_ATTEMPT.format(table=table), [key]).fetchone()
    except sqlite3.Error:
        return ""  # it has no attempt, or cannot be read any more
    return "" if row is None else escaped(str(row[0]))
