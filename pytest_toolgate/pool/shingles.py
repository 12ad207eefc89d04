"""What a candidate is made of once its numbers are masked: pairs of neighbouring words.

Variants of one item that differ in their constants have the same pairs. Signs, brackets and other symbols are no
words, so that neither `-0.3 x` for `+ 0.3 x` nor another way of setting a formula makes an item new. Names of variables
and functions are kept.

Pairs, because single words are too coarse: scripts for one software share most of their words whatever they compute,
while longer runs let a template pass for new with few words changed (`docs/diversity.md` has the figures).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..candidate.model import Candidate
from ..candidate.numbers import DASHES
from ..candidate.unicode_form import has_mark_run, visible

MASK = "#"
"""What stands for a number, or for several beside each other."""
MAX_TEXT = 20_000
"""Characters of a text that are looked at: several times what any question or script of a pool needs."""

_POWER_OF_TEN = r"(?:\W{0,4}(?:x|times|cdot)(?=\W{0,4}10\W{0,2}[\^*]))?"
# Languages that write no spaces: each character is a word.
_SPACELESS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(
    rf"""(?P<number> \\[dt]?frac(?=\W{{0,3}}\d)
                   | 0[box][0-9a-f_]+(?!\w)
                   | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)
                     (?:e[+{DASHES}-]?\d+ | (?:st|nd|rd|th)(?!\w))?
                     {_POWER_OF_TEN})
       | [{_SPACELESS}] | [^\W\d{_SPACELESS}][^\W{_SPACELESS}]*""",
    re.VERBOSE,
)
# NFKC would make the name `x2` of x²; a power is a number like any other.
_POWERS = str.maketrans(dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹", "^0"))


@dataclass(frozen=True, slots=True)
class Shingles:
    """The pairs of words of one item.

    The two parts are compared each for itself: a question told in other words does not make a known script new, nor a
    rewritten script a known question.

    Attributes:
        question: Those of the question and of options with words.
        script: Those of the solution script.
    """

    question: frozenset[str]
    script: frozenset[str]


def words(text: str) -> list[str]:
    r"""The words of the first `MAX_TEXT` characters, numbers masked.

    Letter case, white space, unseen characters and Unicode form do not matter. Numbers of every form (`1`, `0.5`,
    `1e-3`, `−2`, `1/3`, `2nd`, `1.5 \times 10^{-3}`) are `MASK`, and so is a list of numbers: no word stands between.
    """
    found: list[str] = []
    for match in _WORD.finditer(_one_form(text[:MAX_TEXT])):
        word = MASK if match["number"] else match[0]
        if word != MASK or found[-1:] != [MASK]:
            found.append(word)
    return found


def pairs(text: str) -> frozenset[str]:
    """Each two neighbouring words of a text, a space between them; a text of one word is that word."""
    found = words(text)
    return frozenset(map(" ".join, pairwise(found))) if len(found) > 1 else frozenset(found)


def of_candidate(candidate: Candidate) -> Shingles:
    """The shingles of a candidate."""
    return of_texts(candidate.question, candidate.options.values(), candidate.solution)


def of_texts(question: str, options: Iterable[str], solution: str) -> Shingles:
    """The shingles of the parts of an item."""
    return Shingles(pairs(question).union(*_worded(options)), pairs(solution))


def _worded(options: Iterable[str]) -> Iterator[frozenset[str]]:
    """Those of options that are more than a number: a unit, a name, a sentence."""
    for option in options:
        found = pairs(option)
        if found != {MASK}:
            yield found


def _one_form(text: str) -> str:
    text = visible(text.translate(_POWERS))
    # Composing a run of combining marks takes quadratic time, see `compose`.
    return (text if text.isascii() or has_mark_run(text) else unicodedata.normalize("NFKC", text)).casefold()
