"""Which option a model's reply chooses.

The polarity of a screen is treacherous: a reply read as a wrong choice lets a candidate through. So nothing
is guessed. A choice is a *statement* ("ANSWER: B", "Antwort: B", "I would pick B", a lone "B"), the last
valid one wins, and a reply without one is of the wrong form, which is no verdict. `docs/replies.md` is the
specification, and its table is run by a test.
"""

from collections.abc import Mapping

from . import context, forms
from .claims import SEVERAL, Claim, Reading, last_claims, read_alone
from .shown import Shown
from .spoken import spoken

__all__ = ["Reading", "read_reply"]

_ALL = frozenset("ABCD")
# How often a reply may go on to another question before the rest is taken as one.
_TURNS = 3


def read_reply(text: str, shown: Mapping[str, str]) -> Reading:
    """The choice in a complete reply.

    Args:
        text: The reply.
        shown: Letter -> option text as the model saw them.
    """
    options = Shown.of(shown)
    said = spoken(text).strip()
    whole = _read(said, options)
    turns = (turn.start() for turn in forms.NEXT_TURN.finditer(said) if said[: turn.start()].strip())
    for _, turn in zip(range(_TURNS), turns, strict=False):
        first = _read(said[:turn].strip(), options)
        if first.letter:
            return first if first == whole else Reading(None, "answers, and goes on to another question")
    return whole


def _read(text: str, shown: Shown) -> Reading:
    alone = read_alone(text, shown) if "\n" not in text else None
    if alone:
        return alone
    claims = last_claims(text, shown)
    if not claims:
        return _read_outer_lines(text, shown) or Reading(None, "states no answer")
    if {match["letter"] for match in forms.ASKED.finditer(text)} >= _ALL:
        return Reading(None, "answers with every letter in turn")
    last = claims[-1]
    reading = _unless_contradicted(last, claims, text) or _unless_withdrawn(last.reading, text[last.end :], shown)
    end = read_alone(text[last.end :].rpartition("\n")[2], shown)
    if reading.letter and end and end.letter != reading.letter and _beside_list(end.letter, _labels(text)):
        return Reading(None, f"answers {reading.letter}, and ends with {end.letter or 'another'}")
    return reading


def _unless_contradicted(last: Claim, claims: list[Claim], text: str) -> Reading | None:
    """A prose statement that says otherwise than an earlier line of its own is none, unless that was corrected.

    "ANSWER: C. The answer would be A with linear elements." must not turn a right answer into a wrong one.
    """
    firm = next((claim for claim in reversed(claims) if claim.firm), None)
    if last.firm or firm is None or firm.reading == last.reading or last.reading.letter is None:
        return None
    if context.CORRECTED.search(text, firm.end, last.at):
        return None
    return Reading(None, f"answers {firm.reading.letter or 'unclearly'}, and then names {last.reading.letter}")


def _unless_withdrawn(reading: Reading, after: str, shown: Shown) -> Reading:
    """The last reading, unless what follows takes it back or doubts it and goes on to something else."""
    if reading.letter is None:
        return reading
    if context.WITHDRAWN.search(after):
        return Reading(None, f"takes {reading.letter} back")
    if doubt := context.DOUBTED.search(after):
        rest = after[doubt.end() - 1 :]
        others = (found for found in context.ANOTHER.finditer(rest) if found[0] != reading.letter)
        if next(others, None) or context.UNSURE.search(doubt[0] + rest) or shown.within(rest) - {reading.letter}:
            return Reading(None, f"doubts {reading.letter} again")
    return reading


def _read_outer_lines(text: str, shown: Shown) -> Reading | None:
    """The answer of a reply whose first or last line is one by itself; two that differ are none."""
    first, last = text.partition("\n")[0].strip(), text.rpartition("\n")[2].strip()
    labels = _labels(text)
    found: dict[str | None, Reading] = {}
    for line in (first, last):
        reading = None if line[:1].islower() else read_alone(line, shown)
        if reading and (not _labels(line) or _beside_list(reading.letter, labels)):
            found[reading.letter] = reading
    if len(found) != 1:
        return SEVERAL if found else None
    return _unless_withdrawn(next(iter(found.values())), text.partition("\n")[2], shown)


def _labels(text: str) -> list[str]:
    """The letters that lines of a reply begin with."""
    return [match["label"] for match in forms.LINE_LABEL.finditer(text)]


def _beside_list(letter: str | None, labels: list[str]) -> bool:
    """Whether a line that is an answer by itself is not one of a list of options, or stands beside a whole one."""
    rest = list(labels)
    if letter in rest:
        rest.remove(letter)
    return letter is None or set(rest) <= {letter} or set(rest) == _ALL
