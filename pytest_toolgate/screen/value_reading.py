"""Which value a reply states, for models that were shown the question without its options.

As with letters, nothing is guessed: the last statement decides, and it is matched to an option as a script's
printed value is, never to the nearest one. A readable number that fits no option is a wrong answer, which the
model is free to give; a reply without a readable value is of the wrong form, which is no answer at all.

Replies are strangers' text of any length: every repetition below is possessive or bounded, and only the line of
the last statement is looked at closely.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..candidate.matching import match_answer
from ..candidate.model import LETTERS
from ..candidate.numbers import read_number
from ..candidate.options import MAX_OPTION
from .reading import Reading
from .spoken import spoken

# Emphasis in front of the word, between it and the colon, and after the colon: `**Answer:** 0.5`. The form that
# was asked for counts anywhere, the word in small letters at the start of a line only.
_STATEMENT = re.compile(
    r"(?:^[#>*_`~ \t-]*+(?i:(?:(?:the|my|your|final|correct)[ \t]++){0,2}+answer)|\bANSWER)[*_`~ \t]*+[:：=][*_`~]*+",
    re.MULTILINE,
)
# What people put in front of a value: emphasis, quotes, TeX, brackets, "about".
_LEAD = re.compile(
    r"(?:[\s*_`~$\"'“”‘’(\[{}≈=]|\\[(\[,;:! ]"
    r"|\\(?:boxed|fbox|text|textbf|textrm|texttt|mathbf|mathrm|mathsf|mathtt|displaystyle)(?![A-Za-z]))*+"
)
_TRAIL = frozenset("*_`~$\"'“”‘’)]}\\.,;:。，； ")
_MOST_DRESSING = 64
# No option is longer than this together with what is put around it.
_LONGEST = MAX_OPTION + 2 * _MOST_DRESSING
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class ValueReading(Reading):
    """What a reply says that may state any value.

    An option is chosen when `letter` is set. A value that is no option, which is a wrong answer, is in `value`
    without a letter. With neither, the reply states nothing that can be read.

    Attributes:
        value: The stated value as it was written, or None.
    """

    value: str | None = None


def read_value(text: str, options: Mapping[str, str]) -> ValueReading:
    """The value that a complete reply states.

    It is an option when it is the option's text, or rounds half-even to the option at the option's own number of
    decimals. It is no option only where all of them are numbers: nobody can tell whether 6.2832 means `2π`.

    Args:
        text: The reply.
        options: Letter -> option text, as written in the file. The model has not seen them.
    """
    text = spoken(text)
    last = deque(_STATEMENT.finditer(text), maxlen=1)
    if last:
        return _read_line(_line_after(text, last[0].end()), options)
    whole = text.strip()
    alone = _read_line(whole, options) if whole and "\n" not in whole else None
    return alone if alone and alone.value else ValueReading(None, "states no answer")


def _line_after(text: str, start: int) -> str:
    """What follows up to the end of the first line with more than dressing on it."""
    end = text.find("\n", _end_of_lead(text, start))
    return text[start : end if end >= 0 else len(text)].strip()


def _read_line(line: str, options: Mapping[str, str]) -> ValueReading:
    if len(line) > _LONGEST:
        return ValueReading(None, "states an answer that is longer than any option")
    for value in _undressed(line):
        if value in LETTERS:
            return ValueReading(None, f"states the letter {value}, and was shown no letters")
        match = match_answer(value, options)
        if match.letter:
            return ValueReading(match.letter, value=value)
        if read_number(value):
            return _no_option(value, match.reason, options)
    return ValueReading(None, f"states `{line[:_SHOWN]}`, which is neither an option nor a finite decimal")


def _no_option(value: str, reason: str, options: Mapping[str, str]) -> ValueReading:
    shown = value[:_SHOWN]
    if reason == "ambiguous":
        return ValueReading(None, f"states `{shown}`, which fits several options")
    if not all(map(read_number, options.values())):
        return ValueReading(None, f"states `{shown}`, and not all options are numbers it could be compared with")
    return ValueReading(None, f"states `{shown}`, which is no option", value)


def _undressed(line: str) -> Iterator[str]:
    """The line as it stands, then with less and less around it: what reads first was written as such.

    The end goes character by character, because the bracket that closes `10^{-3}` is no dressing.
    """
    yield line
    line = line[_end_of_lead(line, 0) :]
    for _ in range(_MOST_DRESSING):
        yield line
        # "0.333..." is not the number 0.333.
        if not line or line[-1] not in _TRAIL or line.endswith(".."):
            return
        line = line[:-1].rstrip()


def _end_of_lead(text: str, start: int) -> int:
    lead = _LEAD.match(text, start)
    return lead.end() if lead else start
