"""Quotas by tag: of what kind of item a pool has enough.

A quota is the largest share of the accepted items that may carry a tag: `{basix: 0.3, mesh: 0.25}`. Shares need not add
up to one, since an item may carry several tags. A tag is full when one more accepted item with it would take more than
its share; a pool too small for that may still have one. Spelling counts little: `Deformed mesh` is `deformed-mesh`.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..candidate.unicode_form import compose

_BETWEEN = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class TagShare:
    """How much of a pool carries a tag that has a quota.

    Attributes:
        tag: The tag, as the quota is written.
        quota: The largest share of accepted items that may carry it, 0 to 1.
        items: How many accepted items carry it.
        accepted: How many accepted items there are.
    """

    tag: str
    quota: float
    items: int
    accepted: int

    @property
    def is_full(self) -> bool:
        """Whether one more accepted item with the tag would be too many."""
        # The decimal that was written, since 0.29 of 100 is 28.999999999999996 in floats.
        share = Fraction(repr(self.quota)) * (self.accepted + 1)
        return self.items + 1 > (max(share, Fraction(1)) if self.quota else Fraction(0))

    @property
    def used(self) -> float:
        """The part of its quota that is used up, 0 in an empty pool."""
        return self.items / self.accepted / self.quota if self.accepted and self.quota else 0.0


def shares(quotas: Mapping[str, float], accepted: Iterable[Collection[str]]) -> tuple[TagShare, ...]:
    """How far each quota is used, in the order of the quotas.

    Args:
        quotas: Tag -> largest share of the accepted items, 0 to 1.
        accepted: The tags of each accepted item.
    """
    tags = [{_plain(tag) for tag in item} for item in accepted]
    counts = Counter(tag for item in tags for tag in item)
    return tuple(TagShare(tag, quota, counts[_plain(tag)], len(tags)) for tag, quota in quotas.items())


def full(found: Iterable[TagShare]) -> tuple[TagShare, ...]:
    """Those of which there is enough."""
    return tuple(share for share in found if share.is_full)


def wanted(found: Iterable[TagShare]) -> tuple[TagShare, ...]:
    """Those that may still come, the least used quota first."""
    return tuple(sorted((share for share in found if not share.is_full), key=lambda share: share.used))


def over_quota(tags: Collection[str], found: Collection[TagShare]) -> str | None:
    """Why a candidate with these tags is one too many, None when it is not.

    Args:
        tags: The candidate's tags.
        found: What `shares` says of the accepted items.
    """
    own = {_plain(tag) for tag in tags}
    if found and not own:
        return "carries no tag, and quotas are kept by tag; known ones are " + ", ".join(share.tag for share in found)
    for share in full(found):
        if _plain(share.tag) in own:
            return f"is tagged `{share.tag}`, of which there is enough: {_counted(share)}, at most {share.quota:g}"
    return None


def _counted(share: TagShare) -> str:
    return f"{share.items} of {share.accepted} accepted items"


def _plain(tag: str) -> str:
    return _BETWEEN.sub("-", compose(tag).casefold().strip())
