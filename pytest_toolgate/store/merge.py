"""Uniting databases of shards, machines and jobs. Rows keep their keys and their chains, so it can be done again.

All of it is one transaction inside of SQLite: what is not united whole is not united at all.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import schema
from .chain import Chain, place_of
from .database import BUSY_SECONDS, Store, StoreError, add_rows
from .read_only import address, check_ours, opened_to_read

CHAINS: Final = ("links", "origins")
"""The tables that say how rows came together."""
_MOST_CONFLICTS: Final = 5


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of it.

    Attributes:
        added: Table -> rows that were added; links are counted as rows of `links`.
        waiting: Rows that a source had put into files beside it, which were taken in from there.
    """

    added: Mapping[str, int]
    waiting: int

    @property
    def rows(self) -> int:
        """Rows that were added, those of the chains aside."""
        return sum(count for table, count in self.added.items() if table not in CHAINS)


def merge(target: Path, sources: Sequence[Path], busy_seconds: float = BUSY_SECONDS) -> Merged:
    """Add to a database all rows of others that it does not have.

    The others are only read; they may be of an earlier schema, and somebody may be at work in them.

    Args:
        target: The database; it is created where there is none.
        sources: The others.
        busy_seconds: How long to wait for somebody else's transaction.

    Raises:
        StoreError: One cannot be read, is none, or contradicts the others; then nothing was added.
    """
    _check(target, sources)
    Store(target, busy_seconds).close()
    try:
        with closing(sqlite3.connect(address(target, "mode=rw"), uri=True, timeout=busy_seconds)) as connection:
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous=FULL")
            return _Merge(connection, target, sources).merged()
    except sqlite3.Error as error:
        raise StoreError(f"the databases cannot be merged into {target}: {error}") from error


def _check(target: Path, sources: Sequence[Path]) -> None:
    """Whether each of the sources is a sound database of this program."""
    for number, source in enumerate(sources):
        if not source.is_file():
            raise StoreError(f"there is no database {source}")
        if target.exists() and source.samefile(target):
            raise StoreError(f"{source} cannot be merged into itself")
        if any(source.samefile(other) for other in sources[:number]):
            raise StoreError(f"{source} is named twice")
        with opened_to_read(source) as connection:
            try:
                sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            except sqlite3.Error as error:
                sound = str(error)
        if sound != "ok":
            raise StoreError(f"the database {source} is damaged: {' '.join(str(sound).split())[:200]}")


class _Merge:
    def __init__(self, connection: sqlite3.Connection, target: Path, sources: Sequence[Path]) -> None:
        self.connection = connection
        self.target = target
        self.sources = sources
        self.added: Counter[str] = Counter()
        self.waiting = 0

    def merged(self) -> Merged:
        limit = self.connection.getlimit(sqlite3.SQLITE_LIMIT_ATTACHED)
        if len(self.sources) > limit:
            raise StoreError(f"at most {limit} databases can be merged at once: merge the rest after them")
        for number, source in enumerate(self.sources):
            self.connection.execute(f"ATTACH ? AS source{number}", [_readable(source)])
        with self._transaction():
            for number, source in enumerate(self.sources):
                self._unite(f"source{number}", source)
        return Merged(dict(self.added), self.waiting)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def _unite(self, name: str, source: Path) -> None:
        version = check_ours(self.connection, source, name)
        tables = [table for table in schema.chained() if self._columns(table, name)]
        for table in tables:
            self._refuse_conflicts(table, name, source)
        chained = bool(self._columns("links", name))
        if chained:
            self._refuse_forks(name, source)
        for table in tables:
            self._add(table, name, link=not chained)
        if chained:
            self._add_links(name)
        elif version >= schema.CHAINED_SINCE:
            raise StoreError(f"the database {source} is of schema {version} and has no table `links`")
        self._take_in_spool(source)

    def _columns(self, table: str, within: str) -> list[str]:
        return [row[1] for row in self.connection.execute(f"PRAGMA {within}.table_info({table})")]

    def _common(self, table: str, name: str) -> list[str]:
        """The columns that both have: a source of an earlier schema lacks some."""
        ours = set(self._columns(table, "main"))
        return [column for column in self._columns(table, name) if column in ours]

    def _refuse_conflicts(self, table: str, name: str, source: Path) -> None:
        """A key stands for one row: two that differ have not come about by work, and neither may win in silence."""
        differ = " OR ".join(
            f"theirs.{column} IS NOT ours.{column}" for column in self._common(table, name) if column != "id"
        )
        rows = self.connection.execute(
            f"SELECT theirs.id FROM {name}.{table} AS theirs JOIN main.{table} AS ours ON ours.id = theirs.id "
            f"WHERE {differ} LIMIT {_MOST_CONFLICTS}"
        ).fetchall()
        if rows:
            keys = ", ".join(f"`{key}`" for (key,) in rows)
            raise StoreError(
                f"nothing was merged: {source} has other content than {self.target} or an earlier source "
                f"in the table `{table}` under {keys}; `toolgate db verify` says which of them was changed"
            )

    def _refuse_forks(self, name: str, source: Path) -> None:
        """A chain has one link at each place. Copies begin their own, unless one was put in another's place."""
        row = self.connection.execute(
            f"SELECT theirs.origin, theirs.position FROM {name}.links AS theirs JOIN main.links AS ours "
            "ON ours.origin = theirs.origin AND ours.position = theirs.position "
            "WHERE ours.chain_digest <> theirs.chain_digest LIMIT 1"
        ).fetchone()
        if row:
            raise StoreError(
                f"nothing was merged: {source} goes on with the chain {row[0]} from link {row[1]} in another way "
                f"than {self.target} or an earlier source: one was changed, or an older copy was put in its place"
            )

    def _add(self, table: str, name: str, *, link: bool) -> None:
        columns = ", ".join(self._common(table, name))
        before = self._last(table)
        added = self.connection.execute(
            f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM {name}.{table} AS theirs "
            f"WHERE NOT EXISTS (SELECT 1 FROM main.{table} AS ours WHERE ours.id = theirs.id) ORDER BY theirs.rowid"
        ).rowcount
        self.added[table] += added
        if link and added:
            # Rows of a schema without chains are linked here, as an upgrade would have done.
            chain = Chain(self.connection, place_of(self.target))
            self.connection.text_factory = bytearray
            reader = self.connection.execute(f"SELECT * FROM main.{table} WHERE rowid > ? ORDER BY rowid", [before])
            chain.add_all(table, reader)
            self.connection.text_factory = str
            self.added["links"] += added

    def _last(self, table: str) -> int:
        last: int = self.connection.execute(f"SELECT coalesce(max(rowid), 0) FROM main.{table}").fetchone()[0]
        return last

    def _add_links(self, name: str) -> None:
        self.added["links"] += self.connection.execute(
            f"INSERT INTO main.links SELECT origin, position, table_name, row_id, row_digest, chain_digest "
            f"FROM {name}.links WHERE true ON CONFLICT (origin, position) DO NOTHING"
        ).rowcount

    def _take_in_spool(self, source: Path) -> None:
        """Take the rows that wait in files beside a source. The files stay: its own next run takes them in as well."""
        for file in sorted(source.with_name(f"{source.name}.spool").glob("*.json")):
            with suppress(FileNotFoundError):  # that run has just done so
                table, row = _waiting(file)
                if not set(row) <= set(self._columns(table, "main")):
                    raise StoreError(f"nothing was merged: {file} is no row of a database")
                added = add_rows(self.connection, place_of(self.target), [(table, row)])
                self.added[table] += added
                self.added["links"] += added
                self.waiting += added


def _waiting(file: Path) -> tuple[str, Mapping[str, Any]]:
    """The row in a file; a stranger's, like the database beside it."""
    try:
        entry = json.loads(file.read_text("utf-8"))
        table, row = entry["table"], entry["row"]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        table, row = "", {}
    if table not in schema.chained() or not isinstance(row, dict) or not row.get("id"):
        raise StoreError(f"nothing was merged: {file} is no row of a database")
    return table, row


def _readable(source: Path) -> str:
    """The address under which a source can be attached: by its log, or as it lies there where it has none."""
    uri = address(source, "mode=ro")
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        return address(source, "immutable=1")
    return uri
