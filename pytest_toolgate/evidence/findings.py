"""What does not hold, one line each."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..gates.result import escaped

# Who has changed everything is told so by the first ten thousand lines.
MOST: Final = 10_000
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold.

    Attributes:
        table: Table of the row, or what else it is about.
        id: Key of the row.
        sentence: What is wrong with it.
        path: The candidate's file, where it can be found; empty otherwise.
    """

    table: str
    id: str
    sentence: str
    path: str = ""

    def __str__(self) -> str:
        of = f" ({self.path})" if self.path else ""
        return escaped(" ".join(f"{self.table} {self.id}{of}: {self.sentence}".split()))[:_LONGEST]


@dataclass(frozen=True, slots=True)
class Part:
    """What one process has found of many rows, to be handed to another."""

    kept: Sequence[Finding]
    count: int
    held: Mapping[str, int]
    unknown: Mapping[str, int]


class Findings:
    """All that was found, in bounds, and what was counted on the way."""

    def __init__(self, path_of: Callable[[str, str], str] = lambda table, key: "") -> None:
        """Begin.

        Args:
            path_of: Table and key of a row -> the candidate's path, or nothing.
        """
        self.kept: list[Finding] = []
        self.count = 0
        self.held: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._path_of = path_of

    def add(self, table: str, key: str, sentence: str) -> None:
        """Something does not hold."""
        self.count += 1
        if len(self.kept) < MOST:
            self.kept.append(Finding(table, key, sentence, self._path_of(table, key)))

    def compare(self, table: str, key: str, **columns: tuple[object, object]) -> None:
        """Hold what is stored against what comes out.

        Args:
            table: Table of the row.
            key: Its key.
            columns: Column -> what is stored in it, and what comes out.
        """
        wrong = {name: pair for name, pair in columns.items() if pair[0] != pair[1]}
        if wrong:
            told = "; ".join(
                f"{name} {_shown(old)} is stored, {_shown(new)} comes out" for name, (old, new) in wrong.items()
            )
            self.add(table, key, told)
        else:
            self.held[table] += 1

    @property
    def part(self) -> Part:
        """All of it, to be handed to another process."""
        return Part(tuple(self.kept), self.count, dict(self.held), dict(self.unknown))

    def take(self, part: Part) -> None:
        """Add what another process has found."""
        self.kept += part.kept[: max(0, MOST - len(self.kept))]
        self.count += part.count
        self.held.update(part.held)
        self.unknown.update(part.unknown)

    def not_known(self, why: str, count: int = 1) -> None:
        """Something could not be computed again; that is no fault."""
        self.unknown[why] += count


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return f"`{value[:60]}`" if isinstance(value, str) else str(value)
