"""What verdicts are computed from, as the database holds it: a stranger's file, in which nothing need be as it was."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ..candidate import Candidate
from ..candidate.model import LETTERS
from ..candidate.presentation import Presentation
from .findings import Findings

GONE: Final = "its candidate, attempt or run is not in the database"
BROKEN: Final = "what it rests on cannot be read"
MACHINERY: Final = "it is no verdict: machinery had failed"

Row = Mapping[str, Any]


class Material:
    """The rows of one database, with what belongs to them.

    Attributes:
        found: Takes what does not hold.
        path: The file.
    """

    def __init__(self, connection: sqlite3.Connection, found: Findings) -> None:
        """Read from a connection, which is in one transaction."""
        self._connection = connection
        self.path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        self.found = found
        # Replies to many candidates come one after the other.
        self.candidate: Callable[[str | None], Candidate | None] = lru_cache(maxsize=4096)(self._candidate)
        self.run: Callable[[str], Mapping[str, Any] | None] = lru_cache(maxsize=64)(self._run)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows as mappings, one by one."""
        reader = self._connection.cursor()
        reader.row_factory = sqlite3.Row
        for row in reader.execute(sql, parameters):
            yield dict(row)

    def each(self, sql: str, what: Callable[[Row], None], parameters: Sequence[Any] = ()) -> None:
        """Do something with each row; one that holds something impossible is no fault of the others."""
        for row in self.rows(sql, parameters):
            try:
                what(row)
            except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
                self.found.not_known(BROKEN)

    def has(self, table: str, column: str) -> bool:
        """Whether a table has a column, which those of earlier schemas may lack."""
        return any(row["name"] == column for row in self.rows(f"PRAGMA table_info({table})"))

    def _candidate(self, content_id: str | None) -> Candidate | None:
        for row in self.rows("SELECT content FROM candidates WHERE id = ?", [content_id]):
            try:
                candidate = Candidate.of_content(json.loads(row["content"]), Path("recorded"))
                return candidate if set(candidate.options) == set(LETTERS) and candidate.value else None
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                return None
        return None

    def _run(self, run_id: str) -> Mapping[str, Any] | None:
        for row in self.rows("SELECT * FROM runs WHERE id = ?", [run_id]):
            try:
                return {**row, "settings": json.loads(row["settings"]), "gates": json.loads(row["gates"])}
            except (ValueError, TypeError, RecursionError):
                return None
        return None


def presentation(text: str) -> Presentation:
    """A presentation as it is stored.

    Raises:
        ValueError: It is none.
    """
    if sorted(text) != sorted(LETTERS):
        raise ValueError(f"`{text[:20]}` is no presentation")
    return Presentation(tuple(text))


def flag(value: bool | None) -> int | None:
    """A flag as it is stored."""
    return None if value is None else int(value)
