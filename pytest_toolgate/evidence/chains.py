"""The chains of a database: every link follows from the one before it, and every row is what its link says."""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from ..store import schema
from ..store.chain import chain_digest, row_digest
from .findings import Findings

_TABLES: Final = frozenset(schema.chained())
_CHANGED: Final = "changed since it was written"


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain reaches.

    Attributes:
        origin: Which chain.
        length: Its links.
        digest: Of its last link: it stands for all that the chain holds.
    """

    origin: str
    length: int
    digest: str


def walk(connection: sqlite3.Connection, wanted: Collection[str], found: Findings) -> list[Head]:
    """Follow every chain from its first link to its last.

    Args:
        connection: Reads texts as `bytearray`.
        wanted: Heads that were noted earlier, which must be in a chain.
        found: Takes what does not hold.

    Returns:
        The heads of the chains.
    """
    heads: list[Head] = []
    missing = set(wanted)
    origin, position, digest = "", 0, ""
    for raw in connection.execute(
        "SELECT origin, position, table_name, row_id, row_digest, chain_digest FROM links ORDER BY origin, position"
    ):
        chain, at, table, row_id, of_row, sealed = map(_plain, raw)
        if chain != origin:
            heads += [Head(origin, position, digest)] if position else []
            origin, position, digest = str(chain), 0, ""
            if (table, row_id) != ("origins", chain):
                found.add(
                    "links", f"1 of chain {chain}", "the first link, which is that of the chain's own row, is missing"
                )
        name = f"{at} of chain {chain}"
        if at != position + 1:
            gone = f"the links {position + 1} to {_before(at)} before it are missing"
            found.add("links", name, f"{gone}, or it was moved")
        elif sealed != chain_digest(digest, str(table), str(row_id), str(of_row)):
            found.add("links", name, f"it does not follow from the one before it; it is that of {table} {row_id}")
        if table not in _TABLES:
            found.add("links", name, f"it is of a table `{table}`, and there is none")
        position = at if isinstance(at, int) else position + 1
        digest = str(sealed)
        missing.discard(digest)
        found.held["links"] += 1
    heads += [Head(origin, position, digest)] if position else []
    for head in sorted(missing):
        found.add(
            "links", head, "no chain holds this head: what was recorded until then is not all there, or was changed"
        )
    return heads


def rows(connection: sqlite3.Connection, table: str, found: Findings) -> None:
    """Hold the rows of a table against their links, and its links against its rows.

    Args:
        connection: Reads texts as `bytearray`.
        table: The table.
        found: Takes what does not hold.
    """
    reader = connection.execute(
        f"SELECT links.row_digest, {table}.* FROM {table} "
        f"LEFT JOIN links ON links.table_name = ? AND links.row_id = {table}.id",
        [table],
    )
    columns = [column[0] for column in reader.description][1:]
    key = columns.index("id")
    for stored, *values in reader:
        if stored is None:
            found.add(table, str(_plain(values[key])), "not chained: it was added by an older version, or by hand")
        elif bytes(stored).decode("utf-8", "replace") != row_digest(table, zip(columns, values, strict=True)):
            found.add(table, str(_plain(values[key])), _CHANGED)
        else:
            found.held["rows"] += 1
    gone = connection.execute(
        f"SELECT row_id FROM links WHERE table_name = ? AND NOT EXISTS (SELECT 1 FROM {table} WHERE id = row_id)",
        [table],
    )
    for (row_id,) in gone:
        found.add(table, str(_plain(row_id)), "missing: its link is there, and the row is not")


def ends(connection: sqlite3.Connection, found: Findings) -> None:
    """Hold the chains against what later chains say of their length when those began."""
    for raw in connection.execute("SELECT id, follows FROM origins"):
        origin, follows = map(_plain, raw)
        try:
            heads = json.loads(str(follows)).items()
            noted = [(earlier, int(head["length"]), str(head["digest"])) for earlier, head in heads]
        except (ValueError, TypeError, AttributeError, KeyError):
            continue  # the row itself is found to be changed
        for earlier, length, digest in noted:
            row = connection.execute(
                "SELECT chain_digest FROM links WHERE origin = ? AND position = ?", [earlier, length]
            ).fetchone()
            if row is None or _plain(row[0]) != digest:
                why = "is missing" if row is None else "is another one"
                found.add("links", f"{length} of chain {earlier}", f"it {why}: the chain {origin} began after it")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any column
    return value.decode("utf-8", "replace") if isinstance(value, bytearray) else value


def _before(position: object) -> str:
    return str(position - 1) if isinstance(position, int) else "?"
