"""Whether the answers of a pool stand under one letter more often than chance would have it.

A shuffle repairs what such a pool gives away, so this is a warning and never a verdict.
"""

import math
from collections import Counter
from collections.abc import Iterable

from ..candidate.model import LETTERS

# How rarely a fair pool would be warned of: once in a thousand.
_RARE = 1e-3


def imbalance(answers: Iterable[str]) -> str:
    """A sentence when one letter is the answer too often, else empty.

    Args:
        answers: The answer's letter of each item, as written in its file.
    """
    counts = Counter(answers)
    if not counts:
        return ""
    items = counts.total()
    letter, times = counts.most_common(1)[0]
    if len(LETTERS) * at_least(times, items, 1 / len(LETTERS)) >= _RARE:
        return ""
    return f"the answer is {letter} in {times} of {items} items: an export without a fresh shuffle would give it away"


def at_least(times: int, items: int, chance: float) -> float:
    """The chance of so many hits or more among items that are each hit with the same chance, between 0 and 1."""
    # Logarithms, since a large pool's binomials are no floats.
    whole = math.lgamma(items + 1)
    return math.fsum(
        math.exp(
            whole - math.lgamma(hits + 1) - math.lgamma(items - hits + 1)
            + hits * math.log(chance) + (items - hits) * math.log1p(-chance)
        )
        for hits in range(times, items + 1)
    )  # fmt: skip
