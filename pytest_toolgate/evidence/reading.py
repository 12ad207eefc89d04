"""A database opened to be held against itself."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ..gates.result import escaped
from ..store import schema
from ..store.read_only import opened_to_read
from .findings import Findings

_OF_ATTEMPT: Final = "SELECT path FROM attempts WHERE id = (SELECT attempt_id FROM {table} WHERE id = ?)"
_ITSELF: Final = {
    "attempts": "SELECT path FROM attempts WHERE id = ?",
    "candidates": "SELECT path FROM attempts WHERE content_id = ?",
}


@contextmanager
def reading(path: Path) -> Iterator[tuple[sqlite3.Connection, Findings]]:
    """The database, and what takes findings about it; texts that are none any more are read as far as they are.

    Raises:
        StoreError: It cannot be read.
    """
    with opened_to_read(path) as connection:
        connection.text_factory = _lenient
        yield connection, Findings(lambda table, key: _path(connection, table, key))


@contextmanager
def texts_as(connection: sqlite3.Connection, form: Callable[[bytes], Any]) -> Iterator[None]:
    """Read texts in some form for a while."""
    before, connection.text_factory = connection.text_factory, form
    try:
        yield
    finally:
        connection.text_factory = before


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _path(connection: sqlite3.Connection, table: str, key: str) -> str:
    """The path of the candidate that a row is about; empty where there is none."""
    if table not in schema.chained():
        return ""
    try:
        with texts_as(connection, _lenient):
            row = connection.execute(_ITSELF.get(table) or _OF_ATTEMPT.format(table=table), [key]).fetchone()
    except sqlite3.Error:
        return ""  # it has no attempt, or cannot be read any more
    return "" if row is None else escaped(str(row[0]))
