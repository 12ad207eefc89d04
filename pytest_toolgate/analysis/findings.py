"""What a maintainer should know of a pool, each in one sentence with its counts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..candidate.model import LETTERS
from ..pool.balance import MIDDLE_LIMIT
from ..screen.key_balance import imbalance
from .agreement import Agreement
from .cues import Guesser
from .intervals import Share
from .letters import Answers, ScreenLetters
from .screens import Screen
from .shuffling import FixedAndShuffled
from .templates import Diversity


@dataclass(frozen=True, slots=True)
class Finding:
    """One of them.

    Attributes:
        key: What it is about; several may have the same.
        sentence: In words, with its figures.
        warning: Whether something should be done about it.
        figures: Name -> figure, as JSON types.
    """

    key: str
    sentence: str
    warning: bool
    figures: Mapping[str, Any]

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {"key": self.key, "sentence": self.sentence, "warning": self.warning, **self.figures}


def of_answers(found: Answers, guessers: Sequence[Guesser]) -> Iterator[Finding]:
    """Where answers are, and what that gives away."""
    letter = max(LETTERS, key=lambda one: found.letters[one].part)
    share = found.letters[letter]
    if share.whole:
        told = [one for one in LETTERS for _ in range(found.letters[one].part)]
        yield Finding(
            "letter-of-answers", f"the answer is at {letter} in {share} of the verified candidates",
            bool(imbalance(told)), {"letter": letter, **share.plain()},
        )  # fmt: skip
    for guesser in guessers:
        if guesser.name == "middle-value":
            sentence = (
                f"who picks one of the two middle values is right in {guesser.percent:.1f} % (chance 25 %): the answer "
                f"is one of them in {found.middle}"
            )
            warning = guesser.score > MIDDLE_LIMIT
            yield Finding("middle-value", sentence, warning, {"score": guesser.plain(), "middle": found.middle.plain()})


def of_screen(screen: Screen, found: ScreenLetters) -> Iterator[Finding]:
    """Whether a screen likes a letter."""
    chosen = found.chosen[found.favourite]
    if not chosen.whole:
        return
    order = "in fixed order" if screen.is_fixed else "shuffled"
    biased = chosen.interval[0] > 1 / len(LETTERS)
    yield Finding(
        "letter-of-screen", f"{screen.name} ({order}) chooses {found.favourite} in {chosen} of its calls",
        biased and screen.is_fixed, {"screen": screen.name, "letter": found.favourite, **chosen.plain()},
    )  # fmt: skip
    if found.at_favourite.whole and found.elsewhere.whole:
        sentence = (
            f"{screen.name} ({order}) is right in {found.at_favourite.percent:.1f} % of its calls when the answer is "
            f"at {found.favourite}, and in {found.elsewhere.percent:.1f} % when it is not"
        )
        apart = found.at_favourite.interval[0] > found.elsewhere.interval[1]
        figures = {
            "screen": screen.name, "letter": found.favourite,
            "at_letter": found.at_favourite.plain(), "elsewhere": found.elsewhere.plain(),
        }  # fmt: skip
        yield Finding("accuracy-by-letter", sentence, apart, figures)


def of_shuffling(found: Sequence[FixedAndShuffled]) -> Iterator[Finding]:
    """What fixed order has made easy."""
    for one in found:
        yield Finding("fixed-order", one.sentence(), one.vanished.part > 0, one.plain())


def of_pairs(kind: str, found: Sequence[Agreement]) -> Iterator[Finding]:
    """How two agree, and what passes from one to the other."""
    for pair in found:
        kappa = f", kappa {pair.kappa_text}" if pair.kappa_text else ""
        sentence = f"{pair.first} and {pair.second} agree on {pair.agree}{kappa}; {'; '.join(pair.sentences())}"
        yield Finding(f"agreement-of-{kind}", sentence, False, pair.plain())


def of_diversity(found: Diversity) -> Iterator[Finding]:
    """Into how many templates a pool falls, and what it repeats."""
    if not found.sizes:
        return
    largest = Share(found.sizes[0], found.items)
    sentence = (
        f"{found.counted} in {len(found.sizes)} cluster{'' if len(found.sizes) == 1 else 's'}, effective "
        f"number {found.effective:.1f}; the largest holds {largest}"
    )
    crowded = found.items >= 10 and largest.part * 2 > found.items
    yield Finding("templates", sentence, crowded, {"effective_number": found.effective, "largest": largest.plain()})
    if found.repeats:
        sentence = f"{found.repeats} of the {found.counted} repeat another one exactly"
        yield Finding("exact-duplicates", sentence, True, {"removed": found.repeats})
