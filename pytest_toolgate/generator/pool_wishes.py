"""What a pool needs most. Pure."""

from collections.abc import Mapping

from ..candidate import Candidate
from ..config import GenerateSettings
from ..pool.balance import balance, next_target
from ..pool.clusters import clusters
from ..pool.quotas import full, shares, wanted
from ..pool.shingles import of_candidate
from .feedback import Wishes

# From so many items on there are enough of a template, and so many templates are named at most.
_CROWD = 3
_NAMED = 8
# Two items of a pool are never as alike as its limit; those of one template come close to it.
_ALIKE = 0.7


def wishes(kept: Mapping[str, Candidate], settings: GenerateSettings, seed: str) -> Wishes:
    """What is wanted of the next candidate.

    Args:
        kept: The items of the pool by name.
        settings: The generator.
        seed: What decides between equally rare letters and ranks.
    """
    target = next_target(balance((each.options, each.answer) for each in kept.values()), seed)
    found = shares(settings.quotas, [each.tags for each in kept.values()])
    groups = clusters({name: of_candidate(each) for name, each in kept.items()}, _ALIKE * settings.max_similarity)
    return Wishes(
        letter=target.letter,
        rank=target.rank,
        full=tuple(share.tag for share in full(found)),
        wanted=tuple(share.tag for share in wanted(found)),
        crowded=tuple(kept[group[0]].question for group in groups if len(group) >= _CROWD)[:_NAMED],
    )
