"""Guessers that need neither model nor software: what the four options alone give away.

A guesser picks by a fixed rule, without the question. Where a pool's guesser scores well above chance, its items
can be solved by looking at the shape of their options. Numbers are read by the reader that lint and matching
use, and compared exactly.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from types import MappingProxyType

from ..candidate.model import LETTERS
from ..candidate.numbers import Number, plain, read_number


@dataclass(frozen=True, slots=True)
class PoolCue:
    """How well one guesser does on a pool.

    Attributes:
        share: Expected share of right picks among the items that the cue applies to, 0 to 1.
        items: How many items those are, at least one.
    """

    share: float
    items: int


def longest_option(options: Mapping[str, str]) -> tuple[str, ...]:
    """The option with the most characters, counted as options are compared.

    Outer and doubled spaces, surrounding `$` and unseen characters do not count. Applies to every item.
    """
    return _highest({letter: len(plain(text)) for letter, text in options.items()})


def middle_value(options: Mapping[str, str]) -> tuple[str, ...]:
    """Every option whose value lies between the lower and the upper median, both included.

    Of four different values these are the two middle ones, of three the middle one. Applies where all options
    are numbers.
    """
    values = {letter: number.value for letter, number in _numbers(options).items()}
    if not values:
        return ()
    ranked = sorted(values.values())
    lower, upper = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return tuple(letter for letter, value in values.items() if lower <= value <= upper)


def first_letter(options: Mapping[str, str]) -> tuple[str, ...]:
    """The option written under A in the file, before any shuffle. Applies to every item."""
    return tuple(letter for letter in options if letter == LETTERS[0])


def closest_to_mean(options: Mapping[str, str]) -> tuple[str, ...]:
    """The option whose value has the smallest distance to the arithmetic mean of all options' values.

    Applies where all options are numbers.
    """
    values = {letter: Fraction(number.value) for letter, number in _numbers(options).items()}
    total = sum(values.values())
    return _highest({letter: -abs(len(values) * value - total) for letter, value in values.items()})


def most_shared_digits(options: Mapping[str, str]) -> tuple[str, ...]:
    """The option whose digits the other options repeat most often.

    Each value is written out as a plain decimal: no exponent, the decimals it states, at least one digit before
    the point, no sign. Two options share a position, counted from the decimal point, when both have a digit
    there and it is the same. An option's count is the number of positions it shares with each of the others,
    summed. Applies where all options are numbers.
    """
    digits = {letter: _digits(number) for letter, number in _numbers(options).items()}
    return _highest(
        {
            letter: sum(len(own & others) for other, others in digits.items() if other != letter)
            for letter, own in digits.items()
        }
    )


CUES: Mapping[str, Callable[[Mapping[str, str]], tuple[str, ...]]] = MappingProxyType(
    {
        "longest-option": longest_option,
        "middle-value": middle_value,
        "first-letter": first_letter,
        "closest-to-mean": closest_to_mean,
        "most-shared-digits": most_shared_digits,
    }
)
"""Name of a cue -> the letters its guesser picks from: several on a tie, none where it does not apply."""


def picks(options: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The letters that each guesser picks from, by name of the cue.

    Args:
        options: Letter -> option text, as written in the file.
    """
    return {name: cue(options) for name, cue in CUES.items()}


def scores(options: Mapping[str, str], answer: str) -> dict[str, float | None]:
    """How likely each guesser is right, by name of the cue; None where the cue does not apply.

    Args:
        options: Letter -> option text, as written in the file.
        answer: The letter of the proposed answer.
    """
    return {
        name: (1 / len(letters) if answer in letters else 0.0) if letters else None
        for name, letters in picks(options).items()
    }


def pool_scores(scores_list: Iterable[Mapping[str, float | None]]) -> dict[str, PoolCue]:
    """The mean score of each guesser over the items it applies to; a cue that applies to none is left out.

    Args:
        scores_list: What `scores` says of each item.
    """
    found: dict[str, list[float]] = {name: [] for name in CUES}
    for item in scores_list:
        for name, known in found.items():
            score = item.get(name)
            if score is not None:
                known.append(score)
    return {name: PoolCue(fmean(known), len(known)) for name, known in found.items() if known}


def pool_line(scores_list: Collection[Mapping[str, float | None]]) -> str:
    """One line for people, the best guesser first; empty for a pool without items.

    Args:
        scores_list: What `scores` says of each item.
    """
    ranked = sorted(pool_scores(scores_list).items(), key=lambda named: -named[1].share)
    said = [f"{name} {_percent(cue, len(scores_list))}" for name, cue in ranked]
    if not said:
        return ""
    best = said[0].replace(" ", " guesser scores ", 1)
    return f"cues (chance {100 / len(LETTERS):.0f} %): a {', '.join([best, *said[1:]])}"


def _percent(cue: PoolCue, items: int) -> str:
    return f"{100 * cue.share:.0f} %" + (f" ({cue.items} of {items} items)" if cue.items != items else "")


def _numbers(options: Mapping[str, str]) -> dict[str, Number]:
    """The options as numbers; empty unless every one is a number."""
    numbers = {letter: number for letter, text in options.items() if (number := read_number(text)) is not None}
    return numbers if len(numbers) == len(options) else {}


def _highest[Count: (int, Fraction)](counts: Mapping[str, Count]) -> tuple[str, ...]:
    best = max(counts.values(), default=None)
    return tuple(letter for letter, count in counts.items() if count == best)


def _digits(number: Number) -> set[tuple[int, str]]:
    """Position, counted upwards from the units, and digit."""
    whole, _, decimals = format(number.value, "f").removeprefix("-").partition(".")
    above = {(position, digit) for position, digit in enumerate(reversed(whole))}
    return above | {(-position, digit) for position, digit in enumerate(decimals, start=1)}
