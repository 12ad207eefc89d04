"""How the answers of a pool are spread over ranks and letters, and where the next one is wanted.

No shuffle hides that an answer is one of the two middle values more often than chance has it. So the rank of the
answer among the four values is balanced where items are made. Letters are balanced too, for those who use items without
a shuffle.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from ..candidate.model import LETTERS
from ..candidate.numbers import read_number
from ..screen.cues import PoolCue
from ..screen.key_balance import at_least

RANKS = (1, 2, 3, 4)
MIDDLE_LIMIT = 0.3
"""The score above which a middle-value guesser knows too much; chance is 0.25."""
ENOUGH_ITEMS = 20
"""From how many items on the score alone decides; below, chance must be an unlikely cause as well."""
UNLIKELY = 0.05


@dataclass(frozen=True, slots=True)
class Balance:
    """How often the answer had each rank and each letter.

    Attributes:
        ranks: Rank of the answer's value, 1 for the smallest -> number of items.
        letters: Letter of the answer -> number of items.
        unranked: Items whose answer has no rank.
    """

    ranks: Mapping[int, int]
    letters: Mapping[str, int]
    unranked: int


@dataclass(frozen=True, slots=True)
class Target:
    """Where the answer of the next item is wanted.

    Attributes:
        rank: Its rank among the four values, 1 for the smallest.
        letter: Its letter.
    """

    rank: int
    letter: str


def answer_rank(options: Mapping[str, str], answer: str) -> int | None:
    """The rank of the answer's value among the four, 1 for the smallest.

    None where an option is no number or two are the same one.

    Args:
        options: Letter -> option text, as written in the file.
        answer: The letter of the answer.
    """
    numbers = {letter: number.value for letter, text in options.items() if (number := read_number(text)) is not None}
    if len(numbers) < len(LETTERS) or len(set(numbers.values())) < len(numbers):
        return None
    return sorted(numbers.values()).index(numbers[answer]) + 1


def balance(items: Iterable[tuple[Mapping[str, str], str]]) -> Balance:
    """The balance of a pool.

    Args:
        items: Options and answer of each item.
    """
    pool = list(items)
    ranks = Counter(answer_rank(options, answer) for options, answer in pool)
    letters = Counter(answer for _, answer in pool)
    return Balance(
        {rank: ranks[rank] for rank in RANKS}, {letter: letters[letter] for letter in LETTERS}, ranks[None]
    )  # fmt: skip


def next_target(known: Balance, seed: int | str) -> Target:
    """The rarest rank and the rarest letter; the seed decides between equally rare ones.

    The same seed and the same counts give the same target, whatever the process.
    """
    return Target(_rarest(known.ranks, f"{seed}/rank"), _rarest(known.letters, f"{seed}/letter"))


def _rarest[Place: (int, str)](counts: Mapping[Place, int], seed: str) -> Place:
    def drawn(place: Place) -> bytes:
        return sha256(f"{seed}/{sum(counts.values())}/{place}".encode()).digest()

    return min(counts, key=lambda place: (counts[place], drawn(place)))


def middle_value_warning(cue: PoolCue | None) -> str | None:
    """A sentence where the middle-value guesser knows too much of a pool, else None.

    It does when it scores more than `MIDDLE_LIMIT`. In a pool of fewer than `ENOUGH_ITEMS` items the answers must also
    be in the middle so often that fair ranks, half of which are in the middle, come to it with a probability of at
    most `UNLIKELY`.

    Args:
        cue: What `screen.cues.pool_scores` says of `middle-value`; None where no item has numbers for options.
    """
    if cue is None or cue.share <= MIDDLE_LIMIT:
        return None
    # Of four values that differ, as lint demands, two are in the middle: the guesser is right half the time.
    hits = round(2 * cue.share * cue.items)
    if cue.items < ENOUGH_ITEMS and at_least(hits, cue.items, 1 / 2) > UNLIKELY:
        return None
    return (
        f"the answer is one of the two middle values in {hits} of {cue.items} items: who picks one of them is right in "
        f"{100 * cue.share:.0f} % (chance 25 %, at most {100 * MIDDLE_LIMIT:.0f} %), and no shuffle hides it"
    )
