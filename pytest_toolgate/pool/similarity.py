"""How alike two items are, and the accepted one that a candidate is nearest to."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Literal

from .shingles import Shingles

MAX_SIMILARITY = 0.7
"""The largest similarity to an accepted item that is still new: the figure at which the paper groups items."""

Part = Literal["question", "script"]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The item that a candidate is nearest to.

    Attributes:
        name: The item's name.
        similarity: Jaccard similarity of the part that is more alike, above 0 and at most 1.
        part: That part.
    """

    name: str
    similarity: float
    part: Part


def jaccard(left: AbstractSet[str], right: AbstractSet[str]) -> float:
    """The share of all pairs of words of two texts that both have, 0 to 1.

    |left & right| / |left | right| (Jaccard 1901). Texts without words have nothing in common, so that two questions
    in signs alone are not taken for one.
    """
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def similarity(left: Shingles, right: Shingles) -> float:
    """The larger of the Jaccard similarities of the questions and of the scripts: symmetric, 0 to 1."""
    return max(jaccard(left.question, right.question), jaccard(left.script, right.script))


class Index:
    """Items to find the nearest of, by the pairs of words that they hold."""

    def __init__(self, items: Mapping[str, Shingles] = MappingProxyType({})) -> None:
        """Take in items.

        Args:
            items: Name -> shingles of each item.
        """
        self._names: list[str] = []
        self._parts: tuple[_Part, _Part] = (_Part("question"), _Part("script"))
        for name, item in items.items():
            self.add(name, item)

    def add(self, name: str, item: Shingles) -> None:
        """Take in one more item, whose name no other has."""
        self._names.append(name)
        for part in self._parts:
            part.add(part.of(item))

    def nearest(self, candidate: Shingles) -> Neighbour | None:
        """The item with the largest similarity to a candidate; of several the one whose name comes first.

        Args:
            candidate: The shingles of the candidate, whose own record is not among the items.

        Returns:
            None where no item has a pair of words in common with it.
        """
        found = [
            Neighbour(self._names[number], figure, part.name)
            for part in self._parts
            for number, figure in part.similar_to(part.of(candidate))
        ]
        return min(found, key=lambda one: (-one.similarity, one.name, one.part), default=None)


class _Part:
    """One part of all items of an index: each pair of words -> the numbers of the items that have it."""

    def __init__(self, name: Part) -> None:
        self.name = name
        self._sizes: list[int] = []
        self._holders: dict[str, list[int]] = {}

    def of(self, item: Shingles) -> frozenset[str]:
        return item.question if self.name == "question" else item.script

    def add(self, pairs: frozenset[str]) -> None:
        for pair in pairs:
            self._holders.setdefault(pair, []).append(len(self._sizes))
        self._sizes.append(len(pairs))

    def similar_to(self, pairs: frozenset[str]) -> Iterator[tuple[int, float]]:
        """The items with the largest Jaccard similarity, all of them on a tie."""
        holders = self._holders
        shared = Counter(chain.from_iterable(holders.get(pair, ()) for pair in pairs))
        figures = {number: both / (len(pairs) + self._sizes[number] - both) for number, both in shared.items()}
        most = max(figures.values(), default=0.0)
        return ((number, figure) for number, figure in figures.items() if figure == most)


def too_similar(candidate: Shingles, items: Index, max_similarity: float = MAX_SIMILARITY) -> str | None:
    """The novelty floor: why a candidate is not new beside accepted items, None when it is.

    Args:
        candidate: The shingles of the candidate.
        items: The accepted items, the candidate's own record not among them.
        max_similarity: The largest similarity that is allowed.
    """
    found = items.nearest(candidate)
    if found is None or found.similarity <= max_similarity:
        return None
    return (
        f"{_above(found.similarity, max_similarity)} of the wording of its {found.part}, numbers aside, is that of "
        f"`{found.name}` (at most {max_similarity:g} is allowed)"
    )


def _above(figure: float, limit: float) -> str:
    """A figure with two decimals, or with as many as it takes to differ from the limit that it exceeds."""
    return next((text for digits in range(2, 17) if float(text := f"{figure:.{digits}f}") > limit), repr(figure))
