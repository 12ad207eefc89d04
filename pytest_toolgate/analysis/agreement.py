"""How two screens, or two solvers, agree about the same candidates. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .intervals import Share

Verdicts = Mapping[int, bool]
"""Number of a candidate -> whether it was solved; those of which nothing is known are not in it."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two of them, over the candidates that both have judged.

    Attributes:
        first: Name of the one.
        second: Name of the other.
        both: Candidates that both have solved.
        only_first: Those that the first alone has solved.
        only_second: Those that the second alone has solved.
        neither: Those that neither has solved.
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def judged(self) -> int:
        """How many candidates both have judged."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def agree(self) -> Share:
        """On how many they agree."""
        return Share(self.both + self.neither, self.judged)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (Cohen 1960), -1 to 1: agreement beyond that of independent judges; None where it has no value.

        It has none without candidates, or where both say the same of all: chance alone agrees on everything then.
        """
        if not self.judged:
            return None
        total = self.judged
        first, second = self.both + self.only_first, self.both + self.only_second
        by_chance = first * second + (total - first) * (total - second)  # in units of 1 / total^2
        if by_chance == total * total:
            return None
        # In whole numbers up to here, so that independent judges have 0 and not a little less.
        beyond = total * (self.both + self.neither) - by_chance
        return beyond / (total * total - by_chance) if beyond else 0.0

    @property
    def kappa_text(self) -> str:
        """The same to two decimals, empty where it has no value."""
        return "" if self.kappa is None else f"{round(self.kappa, 2) + 0.0:.2f}"

    @property
    def first_to_second(self) -> Share:
        """Of those that the first solves, how many the second solves."""
        return Share(self.both, self.both + self.only_first)

    @property
    def second_to_first(self) -> Share:
        """Of those that the second solves, how many the first solves."""
        return Share(self.both, self.both + self.only_second)

    @property
    def unsolved_first_to_second(self) -> Share:
        """Of those that the first does not solve, how many the second does not solve either."""
        return Share(self.neither, self.neither + self.only_second)

    @property
    def unsolved_second_to_first(self) -> Share:
        """Of those that the second does not solve, how many the first does not solve either."""
        return Share(self.neither, self.neither + self.only_first)

    def sentences(self) -> tuple[str, ...]:
        """What passes from one to the other, both ways, in words."""
        first, second = self.first, self.second
        return (
            f"of the {self.first_to_second.whole} that {first} solves, {second} solves {_part(self.first_to_second)}",
            f"of the {self.second_to_first.whole} that {second} solves, {first} solves {_part(self.second_to_first)}",
            f"of the {self.unsolved_first_to_second.whole} that {first} does not solve, {second} does not solve "
            f"{_part(self.unsolved_first_to_second)}",
            f"of the {self.unsolved_second_to_first.whole} that {second} does not solve, {first} does not solve "
            f"{_part(self.unsolved_second_to_first)}",
        )

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "first": self.first,
            "second": self.second,
            "judged_by_both": self.judged,
            "both_solve": self.both,
            "only_first_solves": self.only_first,
            "only_second_solves": self.only_second,
            "neither_solves": self.neither,
            "agree": self.agree.plain(),
            "kappa": None if self.kappa is None else round(self.kappa, 3),
            "transfer": {
                "second_solves_of_first": self.first_to_second.plain(),
                "first_solves_of_second": self.second_to_first.plain(),
                "second_fails_of_first_failed": self.unsolved_first_to_second.plain(),
                "first_fails_of_second_failed": self.unsolved_second_to_first.plain(),
            },
            "sentences": list(self.sentences()),
        }


def agreement(first: str, one: Verdicts, second: str, other: Verdicts) -> Agreement:
    """Count what two say of the candidates that both have judged."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for number, solved in one.items():
        if number in other:
            counts[solved, other[number]] += 1
    return Agreement(
        first, second, counts[True, True], counts[True, False], counts[False, True], counts[False, False]
    )  # fmt: skip


def all_pairs(verdicts: Mapping[str, Verdicts]) -> tuple[Agreement, ...]:
    """Each two of them that have judged some candidate in common, in the order in which they are given."""
    found = (agreement(first, verdicts[first], second, verdicts[second]) for first, second in combinations(verdicts, 2))
    return tuple(pair for pair in found if pair.judged)


def _part(share: Share) -> str:
    return f"{share.part}" + (f" ({share.percent:.1f} %)" if share.whole else "")
