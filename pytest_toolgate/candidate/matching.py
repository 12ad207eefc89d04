"""Which option a printed value, a written value or a letter stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .model import LETTERS
from .numbers import Number, is_not_finite, nearest_gap, plain, read_number


@dataclass(frozen=True, slots=True)
class Match:
    """What a script's answer stands for.

    Attributes:
        letter: The option it matches, or None.
        reason: Why it matches none: a verify reason, empty when it matches.
        sentence: The same in words.
    """

    letter: str | None
    reason: Literal["", "unreadable", "mismatch", "ambiguous"] = ""
    sentence: str = ""


def match_answer(text: str, options: Mapping[str, str]) -> Match:
    """The option that the text behind `ANSWER:` stands for.

    That is a letter, an option's text, or a value that rounds half-even to the option at the option's own
    number of decimals. Never the nearest one.
    """
    text = text.strip()
    if text in LETTERS and text in options:
        return Match(text)
    shown = f"`{text[:80]}`"
    if not text:
        return Match(None, "unreadable", "the answer line is empty")
    if letter := exact_option(text, options):
        return Match(letter)
    numbers = {letter: read_number(option) for letter, option in options.items()}
    printed = read_number(text)
    if printed is None:
        return _no_number(text, shown, all(numbers.values()))
    fitting = [letter for letter, number in numbers.items() if number and number.rounds_from(printed.value)]
    if len(fitting) == 1:
        return Match(fitting[0])
    if fitting:
        return Match(None, "ambiguous", f"the printed value {shown} fits options {' and '.join(fitting)}")
    return Match(None, "mismatch", f"no option matches the printed value {shown}{_nearest(printed, options, numbers)}")


def exact_option(text: str, options: Mapping[str, str]) -> str | None:
    """The one option with this text, dashes, surrounding `$`, spaces and Unicode form aside."""
    wanted = plain(text)
    return options_by_text(options).get(wanted)


def options_by_text(options: Mapping[str, str]) -> Mapping[str, str]:
    """Plain text -> the one option that has it; a text that several have stands for none."""
    texts = [plain(option) for option in options.values()]
    return {text: letter for letter, text in zip(options, texts, strict=True) if texts.count(text) == 1}


def _no_number(text: str, shown: str, numeric: bool) -> Match:
    if is_not_finite(text):
        return Match(None, "unreadable", f"the printed value {shown} is not finite")
    if not numeric:
        return Match(None, "mismatch", f"no option has the text {shown}")
    hint = "; format the number, e.g. print(f'ANSWER: {value:.6f}')" if any(c in text for c in "()[]") else ""
    return Match(None, "unreadable", f"the printed value {shown} is neither a letter nor a finite decimal{hint}")


def _nearest(printed: Number, options: Mapping[str, str], numbers: Mapping[str, Number | None]) -> str:
    known = [(letter, number) for letter, number in numbers.items() if number is not None]
    if not known:
        return ""
    index, gap = nearest_gap(printed.value, [number for _, number in known])
    letter = known[index][0]
    return f"; the nearest is {letter} `{options[letter]}`, {gap:.2g} away"
