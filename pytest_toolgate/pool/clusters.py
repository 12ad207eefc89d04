"""Into how many templates a pool falls: groups of items that are alike, and their effective number."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from .shingles import Shingles
from .similarity import MAX_SIMILARITY, jaccard


@dataclass(frozen=True, slots=True)
class Templates:
    """The clusters of a pool in figures.

    Attributes:
        items: How many items it has, at least one.
        clusters: Into how many clusters they fall.
        effective: The effective number of templates, see `effective_number`.
        largest: The share of items in the largest cluster, above 0 and at most 1.
    """

    items: int
    clusters: int
    effective: float
    largest: float

    def __str__(self) -> str:
        return (
            f"{self.items} candidates in {self.clusters} cluster{'' if self.clusters == 1 else 's'}, "
            f"effective number {self.effective:.1f}, largest {100 * self.largest:.0f} %"
        )


def templates(items: Mapping[str, Shingles], threshold: float = MAX_SIMILARITY) -> Templates:
    """The figures of a pool of at least one item; see `clusters`."""
    sizes = [len(cluster) for cluster in clusters(items, threshold)]
    return Templates(len(items), len(sizes), effective_number(sizes), max(sizes) / len(items))


def effective_number(sizes: Iterable[int]) -> float:
    """How many clusters of one size would be as diverse: exp(-sum p ln p) over the clusters' shares p.

    This is the exponential of Shannon's entropy, the Hill number of order 1 (Hill 1973, "Diversity and Evenness: A
    Unifying Notation and Its Consequences", Ecology 54, 427-432). It is the number of clusters where all are of one
    size, and little more than 1 where nearly all items are in one.

    Args:
        sizes: The number of items of each cluster, above 0; at least one.
    """
    counts = list(sizes)
    total = sum(counts)
    return math.exp(math.fsum(count / total * math.log(total / count) for count in counts))


def clusters(items: Mapping[str, Shingles], threshold: float = MAX_SIMILARITY) -> tuple[tuple[str, ...], ...]:
    """Items joined by single linkage: two are in one cluster if a chain of similar ones leads from one to the other.

    Args:
        items: Name -> shingles.
        threshold: From which similarity on two items are similar, above 0 and at most 1.

    Returns:
        The names of each cluster in order; the largest cluster first, of equal ones that with the first name.
    """
    names = sorted(items)
    joined = _Joined(len(names))
    _join_similar([items[name].question for name in names], threshold, joined)
    _join_similar([items[name].script for name in names], threshold, joined)
    groups: dict[int, list[str]] = {}
    for number, name in enumerate(names):
        groups.setdefault(joined.root(number), []).append(name)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group)))


class _Joined:
    """A partition of 0 to n - 1 that only grows coarser (a union-find structure)."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def root(self, number: int) -> int:
        above = self._above
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    def join(self, left: int, right: int) -> None:
        self._above[self.root(left)] = self.root(right)


def _join_similar(sets: Sequence[AbstractSet[str]], threshold: float, joined: _Joined) -> None:
    """Join what has a Jaccard similarity of at least the threshold.

    Only sets that share one of their rarest elements are compared. If J(x, y) >= t, then x and y share at least t |x|
    elements, and as many as t |y|. So in any one order of all elements the first |x| - ceil(t |x|) + 1 of x and the
    first |y| - ceil(t |y|) + 1 of y have one in common (prefix filtering: Bayardo, Ma and Srikant 2007).
    """
    same: dict[AbstractSet[str], int] = {}
    for number, one in enumerate(sets):
        if one:
            # Variants that differ in constants only are the same set, and found without any comparison.
            joined.join(number, same.setdefault(one, number))
    frequency = Counter(chain.from_iterable(same))
    holders: dict[str, list[int]] = {}
    for one, number in same.items():
        # A little less than t |x|, since t is no exact decimal and a longer prefix does no harm.
        needed = math.ceil(threshold * len(one) - 1e-9)
        rarest = sorted(one, key=lambda element: (frequency[element], element))[: len(one) - needed + 1]
        for other in set().union(*(holders.get(element, ()) for element in rarest)):
            if joined.root(other) != joined.root(number) and jaccard(one, sets[other]) >= threshold:
                joined.join(other, number)
        for element in rarest:
            holders.setdefault(element, []).append(number)
