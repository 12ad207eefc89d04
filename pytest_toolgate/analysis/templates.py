"""How diverse a pool is: exact duplicates, near ones, templates. Nothing is removed here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from ..audit import Recorded
from ..audit.table import first_of
from ..pool.clusters import clusters, effective_number
from ..pool.shingles import MAX_TEXT, Shingles, of_texts
from ..pool.similarity import jaccard
from ..store import Store

MOST_PAIRS: Final = 1000
"""Pairs that are listed; a template of a hundred items alone has thousands."""
_MOST_COMPARED: Final = 200_000
RULE: Final = (
    "the same question and the same set of option values, whitespace and Unicode form aside: the lowest round stays; "
    "if not all come from rounds of one domain, the one attempted first"
)
_TEXTS: Final = """
SELECT id, json_extract(content, '$.options') AS options, substr(json_extract(content, '$.question'), 1, :most)
    AS question, substr(json_extract(content, '$.solution'), 1, :most) AS solution
FROM candidates WHERE id IN (SELECT value FROM json_each(:ids))
"""


@dataclass(frozen=True, slots=True)
class Twins:
    """Exact duplicates of each other.

    Attributes:
        stays: Which one stays, see `RULE`.
        removed: The others.
    """

    stays: Recorded
    removed: tuple[Recorded, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {"stays": named(self.stays), "removed": [named(one) for one in self.removed]}


@dataclass(frozen=True, slots=True)
class Near:
    """Two candidates that are alike but not the same.

    Attributes:
        first: The one.
        second: The other.
        similarity: Jaccard similarity of the part that is more alike, 0 to 1.
        part: That part, `question` or `script`.
    """

    first: Recorded
    second: Recorded
    similarity: float
    part: str

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "first": named(self.first),
            "second": named(self.second),
            "similarity": round(self.similarity, 4),
            "part": self.part,
        }


@dataclass(frozen=True, slots=True)
class Diversity:
    """What a pool repeats.

    Attributes:
        pool: Which pool it is, in words.
        items: How many candidates it has.
        twins: Its exact duplicates.
        threshold: From which similarity on two are alike.
        sizes: Sizes of its clusters, the largest first.
        effective: The effective number of templates; None of an empty pool.
        near: Pairs of near-duplicates, the most alike first.
        cut: Whether there are more pairs than are listed.
    """

    pool: str
    items: int
    twins: tuple[Twins, ...]
    threshold: float
    sizes: tuple[int, ...]
    effective: float | None
    near: tuple[Near, ...]
    cut: bool

    @property
    def counted(self) -> str:
        """How many candidates of which pool, in words."""
        one = self.pool.replace("items", "item").replace("candidates", "candidate")
        return f"{self.items} {one if self.items == 1 else self.pool}"

    @property
    def repeats(self) -> int:
        """How many are exact repetitions of one that stays."""
        return sum(len(each.removed) for each in self.twins)

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        largest = self.sizes[0] if self.sizes else 0
        return {
            "pool": self.pool,
            "items": self.items,
            "exact_duplicates": {
                "rule": RULE,
                "removed": self.repeats,
                "groups": [twins.plain() for twins in self.twins],
            },
            "templates": {
                "similarity": self.threshold,
                "clusters": len(self.sizes),
                "sizes": list(self.sizes),
                "effective_number": None if self.effective is None else round(self.effective, 2),
                "largest": largest,
                "largest_percent": round(100 * largest / self.items, 1) if self.items else None,
            },
            "near_duplicates": {
                "similarity": self.threshold,
                "listed": len(self.near),
                "more_than_listed": self.cut,
                "pairs": [pair.plain() for pair in self.near],
            },
        }


def diversity(store: Store, pool: Sequence[Recorded], what: str, threshold: float) -> Diversity:
    """What a pool repeats.

    Args:
        store: The database.
        pool: The candidates.
        what: Which pool it is, in words.
        threshold: From which Jaccard similarity on two are alike, above 0 and at most 1.
    """
    shingles = _shingles(store, pool)
    readable = {
        f"{number:09}": shingles[one.content_id] for number, one in enumerate(pool) if one.content_id in shingles
    }
    groups = clusters(readable, threshold)
    near, cut = near_pairs(pool, readable, groups, threshold)
    sizes = tuple(len(group) for group in groups)
    effective = effective_number(sizes) if sizes else None
    return Diversity(what, len(pool), exact_twins(pool), threshold, sizes, effective, near, cut)


def exact_twins(pool: Sequence[Recorded]) -> tuple[Twins, ...]:
    """The exact duplicates of a pool, in its order."""
    groups: dict[str, list[Recorded]] = {}
    for one in pool:
        if one.twin_key:
            groups.setdefault(one.twin_key, []).append(one)
    found = []
    for group in groups.values():
        if len(group) > 1:
            stays = first_of(group)
            found.append(Twins(stays, tuple(one for one in group if one is not stays)))
    return tuple(found)


def near_pairs(
    pool: Sequence[Recorded], shingles: Mapping[str, Shingles], groups: Sequence[Sequence[str]], threshold: float
) -> tuple[tuple[Near, ...], bool]:
    """Pairs that are alike, exact duplicates left out, and whether there are more than are listed.

    Two that are alike are in one cluster, so only those of one cluster are compared, small clusters first.
    """
    found: list[Near] = []
    compared = 0
    for group in sorted(groups, key=len):
        for one, other in combinations(group, 2):
            compared += 1
            if compared > _MOST_COMPARED:
                return _first(found), True
            left, right = pool[int(one)], pool[int(other)]
            if left.twin_key == right.twin_key:
                continue
            pair = _near(left, shingles[one], right, shingles[other])
            if pair.similarity >= threshold:
                found.append(pair)
    return _first(found), len(found) > MOST_PAIRS


def _first(found: list[Near]) -> tuple[Near, ...]:
    return tuple(sorted(found, key=lambda pair: -pair.similarity)[:MOST_PAIRS])


def _near(left: Recorded, one: Shingles, right: Recorded, other: Shingles) -> Near:
    question, script = jaccard(one.question, other.question), jaccard(one.script, other.script)
    return Near(left, right, max(question, script), "question" if question >= script else "script")


def _shingles(store: Store, pool: Sequence[Recorded]) -> dict[str, Shingles]:
    ids = json.dumps(sorted({one.content_id for one in pool if one.content_id}))
    return {
        row["id"]: of_texts(row["question"], json.loads(row["options"]).values(), row["solution"])
        for row in store.query(_TEXTS, {"ids": ids, "most": MAX_TEXT})
    }


def named(one: Recorded) -> dict[str, Any]:
    """A candidate as JSON types."""
    return {"id": one.id, "path": one.path, "round": one.round, "fingerprint": one.fingerprint}
