"""Opening a database to read it and nothing else: it is not brought up to date, and nothing is written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from . import schema
from .database import StoreError

# What every version has.
_OURS: Final = frozenset({"runs", "candidates", "attempts", "replies"})


@contextmanager
def opened_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as it is at one moment, whoever writes meanwhile.

    Raises:
        StoreError: There is none, it is no database of this program, or of a later version, or cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"there is no database {path}")
    try:
        connection = _opened(path)
    except sqlite3.Error as error:
        raise StoreError(f"the database {path} cannot be read: {error}") from None
    with closing(connection):
        check_ours(connection, path)
        yield connection


def address(path: Path, how: str) -> str:
    """A file as SQLite takes it with options.

    Args:
        path: The file.
        how: The options, e.g. `mode=ro`.
    """
    return f"file:{quote(str(path.absolute()))}?{how}"


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _begun(path, "mode=ro")
    except sqlite3.OperationalError:
        # A file in WAL mode needs a second one beside it, which a folder that is not to be written cannot have. Where
        # nothing waits in its log, the file alone is the whole database.
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise
        return _begun(path, "immutable=1")


def _begun(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address(path, how), uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA query_only=1")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def check_ours(connection: sqlite3.Connection, path: Path, within: str = "main") -> int:
    """The version of a database, if it is one of this program.

    Args:
        connection: That has it open.
        path: The file, for the sentence.
        within: Under which name it is open.

    Raises:
        StoreError: It is none, or of a later version.
    """
    try:
        version: int = connection.execute(f"PRAGMA {within}.user_version").fetchone()[0]
        names = {
            name for (name,) in connection.execute(f"SELECT name FROM {within}.sqlite_schema WHERE type = 'table'")
        }
    except sqlite3.Error as error:
        raise StoreError(f"the database {path} cannot be read: {error}") from None
    if not names >= _OURS:
        raise StoreError(f"{path} is a database of another program: it has no table `{min(_OURS - names)}`")
    if version > schema.VERSION:
        raise StoreError(f"the database {path} was written by a later version (schema {version})")
    return version
