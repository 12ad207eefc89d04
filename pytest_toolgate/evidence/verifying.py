"""A whole database: is it sound, are its chains whole, and does each verdict follow from what is stored?"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..store import StoreError, schema
from ..store.read_only import check_ours
from . import chains
from .chains import Head
from .findings import Finding, Findings
from .reading import reading, texts_as
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
    with reading(path) as (connection, found):
        version = check_ours(connection, path)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        _integrity(connection, found)
        ends: list[Head] = []
        if "links" in tables:
            ends = _chains(connection, tables, heads, found)
            if version < schema.CHAINED_SINCE:
                found.add("database", str(path), f"it says that it is of schema {version}, and it has chains")
        elif heads:
            raise StoreError(f"the database {path} is of schema {version}, which has no chains: there is no head in it")
        recompute(connection, tables, found)
        return Verified(version, tuple(ends), dict(found.held), dict(found.unknown), tuple(found.kept), found.count)


def _chains(
    connection: sqlite3.Connection, tables: Collection[str], heads: Collection[str], found: Findings
) -> list[Head]:
    ends: list[Head] = []
    # Undecoded: what is no text any more has a digest like anything else.
    with texts_as(connection, bytearray):
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
