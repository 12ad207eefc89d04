"""What guessers without a model score on the candidates, and what cue screens do with one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..screen.cues import CUES, pool_scores, scores
from .cases import Case
from .intervals import Share
from .letters import accuracy
from .screens import Screen

CHANCE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Guesser:
    """One guesser on a pool.

    Attributes:
        name: Its name.
        score: Expected share of right guesses, 0 to 1.
        items: To how many candidates its rule applies.
    """

    name: str
    score: float
    items: int

    @property
    def percent(self) -> float:
        """The score in percent, to one decimal."""
        return round(100 * self.score, 1)

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {"cue": self.name, "percent": self.percent, "items": self.items}


def guessers(cases: Sequence[Case]) -> tuple[Guesser, ...]:
    """The guessers by what they score on candidates, the best first; those that apply nowhere are left out."""
    found = pool_scores(scores(case.options, case.letter) for case in cases if case.options)
    named = [Guesser(name, found[name].share, found[name].items) for name in CUES if name in found]
    return tuple(sorted(named, key=lambda one: -one.score))


def cue_screens(screens: Sequence[Screen]) -> dict[str, Share]:
    """Name of each cue screen -> its share of right calls among those that were answered."""
    return {screen.name: accuracy(one for one in screen.calls if one.correct is not None) for screen in screens}
