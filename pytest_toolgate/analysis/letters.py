"""Where answers are, what is chosen, and how often it is right, by letter, by rank and by position. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..candidate.model import LETTERS
from ..pool.balance import RANKS
from .cases import Case
from .intervals import Share
from .screens import Calls, Screen

Shares = Mapping[str, Share]


@dataclass(frozen=True, slots=True)
class Answers:
    """Where the generator, or whoever wrote the candidates, puts the answer.

    Attributes:
        letters: Letter in the file -> share of candidates.
        ranks: Rank of the value, 1 for the smallest -> share of candidates whose options are four different numbers.
        middle: Share of those candidates whose answer is one of the two middle values.
    """

    letters: Shares
    ranks: Shares
    middle: Share

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {"letters": plain(self.letters), "ranks": plain(self.ranks), "middle": self.middle.plain()}


@dataclass(frozen=True, slots=True)
class ScreenLetters:
    """What one screen chose and how often it was right, over its calls that were answered.

    Attributes:
        chosen: Letter as it was shown -> share of calls that chose it.
        by_letter: The answer's letter in the file -> share of calls that were right.
        by_position: The letter under which the answer was shown -> the same.
        by_rank: Rank of the answer's value -> the same.
        favourite: The letter that was chosen most often.
        at_favourite: Share of right calls among those that showed the answer under that letter.
        elsewhere: The same among all others.
        all_calls: Share of right calls among all.
    """

    chosen: Shares
    by_letter: Shares
    by_position: Shares
    by_rank: Shares
    favourite: str
    at_favourite: Share
    elsewhere: Share
    all_calls: Share

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "calls": self.all_calls.plain(),
            "chosen_letter": plain(self.chosen),
            "accuracy_by_letter": plain(self.by_letter),
            "accuracy_by_position": plain(self.by_position),
            "accuracy_by_rank": plain(self.by_rank),
            "favourite": self.favourite,
            "accuracy_at_favourite": self.at_favourite.plain(),
            "accuracy_elsewhere": self.elsewhere.plain(),
        }


def answers(cases: Sequence[Case]) -> Answers:
    """Where the answers of candidates are."""
    letters = Counter(case.letter for case in cases if case.letter)
    ranks = Counter(case.rank for case in cases if case.rank is not None)
    return Answers(
        {letter: Share(letters[letter], letters.total()) for letter in LETTERS},
        {str(rank): Share(ranks[rank], ranks.total()) for rank in RANKS},
        Share(ranks[2] + ranks[3], ranks.total()),
    )


def screen_letters(screen: Screen) -> ScreenLetters:
    """What a screen chose, and when it was right."""
    answered = [one for one in screen.calls if one.correct is not None]
    picked = Counter[int]()
    for one in answered:
        picked[one.picked] += one.times
    chosen = {letter: picked[place] for place, letter in enumerate(LETTERS, start=1)}
    favourite = max(LETTERS, key=lambda letter: chosen[letter])
    place = LETTERS.index(favourite) + 1
    return ScreenLetters(
        {letter: Share(times, sum(chosen.values())) for letter, times in chosen.items()},
        _by(answered, LETTERS, lambda one: one.letter),
        _by(answered, LETTERS, lambda one: LETTERS[one.stands - 1] if one.stands else None),
        _by(answered, tuple(map(str, RANKS)), lambda one: None if one.rank is None else str(one.rank)),
        favourite,
        accuracy(one for one in answered if one.stands == place),
        accuracy(one for one in answered if one.stands != place),
        accuracy(answered),
    )


def accuracy(calls: Iterable[Calls]) -> Share:
    """The share of right ones among calls that were answered."""
    right = whole = 0
    for one in calls:
        whole += one.times
        right += one.times if one.correct else 0
    return Share(right, whole)


def _by(calls: Sequence[Calls], names: Sequence[str], name_of: Callable[[Calls], str | None]) -> Shares:
    return {name: accuracy(one for one in calls if name_of(one) == name) for name in names}


def plain(shares: Shares) -> dict[str, Any]:
    """Shares as JSON types."""
    return {name: share.plain() for name, share in shares.items()}
