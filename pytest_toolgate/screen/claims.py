"""The statements of a reply: where one stands, what it says, and whether what is around it lets it stand."""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from . import context, forms
from .shown import LOOK_AHEAD, Shown, undressed

# Statements of one form that are looked at, from the last; characters of a box, and before a statement.
_MOST = 200
_BOX = 400
_LOOK_BACK = 300
# What may stand before a statement that has its line to itself.
_LEAD = re.compile(
    r"[\s#>*_`~|{\"'\\(\[<$+-]*+(?:(?:\\text\{|so|therefore|thus|hence|and|then|the|my|your|final|correct|right|best"
    r"|revised|corrected|updated|new|die|la|bonne|richtige|meine)[\s,:*_\"']{1,4}){0,5}+<?+",
    re.IGNORECASE,
)
# Before the name of a JSON key or an XML tag.
_KEY = re.compile(r"(?:[{,]\s{0,9}\"|<)(?:\w{1,20}_)?$")
_VALUE_ENDS = re.compile(r"\s*+(?:$|[.!](?=\s*+$|\s++[A-Z])|[。！]|,(?=\s*+\"))")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says.

    Attributes:
        letter: The shown letter that is chosen, or None.
        note: Why none is, in words; empty when one is.
    """

    letter: str | None
    note: str = ""


SEVERAL = Reading(None, "names several letters")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer.

    Attributes:
        at: Where it stands.
        end: Where it ends.
        reading: What it says.
        firm: Whether it has the form that was asked for, or its line to itself; prose has not.
    """

    at: int
    end: int
    reading: Reading
    firm: bool = False


def last_claims(text: str, shown: Shown) -> list[Claim]:
    """The last claim of each form, and the last firm one, in order."""
    found: list[Claim] = []
    for pattern, read in _FORMS:
        claims: dict[bool, Claim] = {}
        for match in reversed(deque(pattern.finditer(text), maxlen=_MOST)):
            if claim := read(text, match, shown):
                claims.setdefault(claim.firm, claim)
                if claim.firm:
                    break
        found += claims.values()
    return sorted(found, key=lambda claim: claim.at)


def read_alone(text: str, shown: Shown) -> Reading | None:
    """A text that is nothing but a letter, an option's text, or both."""
    text = text.strip()
    if not 0 < len(text) <= LOOK_AHEAD:
        return None
    if match := forms.ALONE.match(text):
        rest = text[match.end() :]
        labelled = _labelled(rest, shown)
        if labelled and not undressed(labelled[1].strip(" $>")):
            return agree(match["letter"].upper(), labelled[0])
        if not undressed(rest.strip(" $>")):
            return Reading(match["letter"].upper())
    if value := shown.exactly(text):
        return Reading(value)
    opened = shown.opening(text)
    behind = forms.LETTER_BEHIND.fullmatch(opened[1]) if opened else None
    return agree(behind["letter"].upper(), opened[0]) if opened and behind else None


def agree(letter: str, named: str) -> Reading:
    """A letter beside an option's text."""
    if letter != named:
        return Reading(None, f"names the letter {letter} with the text of option {named}")
    return Reading(letter)


# --- one form each ---------------------------------------------------------------------------------------------


def _stated(text: str, match: re.Match[str], shown: Shown) -> Claim | None:
    """What follows "Answer: ": a letter, an option's text, or something that is neither."""
    before, at = _line_before(text, match.start()), match.end()
    line_alone = _LEAD.fullmatch(before) is not None or _KEY.search(before) is not None
    asked = line_alone and match["mark"] is not None
    if not asked and _spoiled(text, match.start()):
        return None
    begun = match.start() - len(before)
    if asked and context.JOINED_OR.search(text[max(0, begun - 20) : begun]):
        return Claim(at, at, SEVERAL, firm=True)
    value = _read_value(text, at, shown)
    letter = forms.LETTER.match(text, at)
    reading = _settle(text, letter, shown) if letter else None
    if letter and reading:
        if value and value.letter != reading.letter:
            reading = Reading(None, "can be read as a letter and as another option's text")
        firm = asked or (line_alone and _ends_line(text, letter.end(), reading, shown))
        return Claim(at, letter.end(), reading, firm)
    if value:
        return Claim(at, at, value, firm=asked)
    said = _line(text, at)
    marked = (match["mark"] or "").startswith((":", "="))
    if marked and ((asked and undressed(said.strip(" |,<"))) or (letter and letter["letter"].isupper())):
        return Claim(at, at, Reading(None, f"states `{(match[0] + said).strip()[:40]}`, which is no option"))
    return None


def _asked(text: str, match: re.Match[str], shown: Shown) -> Claim | None:
    claim = _chosen(text, match, shown)
    if claim is None:
        return None
    joined = context.JOINED_OR.search(text[max(0, match.start() - 20) : match.start()])
    return Claim(claim.at, claim.end, SEVERAL if joined else claim.reading, firm=True)


def _chosen(text: str, match: re.Match[str], shown: Shown) -> Claim | None:
    reading = None if _spoiled(text, match.start()) else _settle(text, match, shown)
    return Claim(match.start("letter"), match.end(), reading) if reading else None


def _letter_first(text: str, match: re.Match[str], shown: Shown) -> Claim | None:
    at = match.start("letter")
    if match["letter"].islower() or _spoiled(text, at) or context.JOINED.search(text[max(0, at - 12) : at]):
        return None
    if context.ASKING.search(_sentence(_line(text, match.end()))):
        return None
    named = shown.exactly(match["value"].lstrip(")]}*_:. ")) if match["value"] else match["letter"]
    return Claim(at, match.end(), agree(match["letter"], named)) if named else None


def _boxed(text: str, match: re.Match[str], shown: Shown) -> Claim | None:
    r"""A box with a letter, an option's text, or both, and nothing else in it."""
    at = _end_of_box(text, match.end())
    reading = read_alone(text[match.end() : at - 1], shown) if at else None
    if reading is None or context.ASKING.search(sentence := _sentence(_line(text, at))):
        return None
    if context.JOINED.search(text[max(0, match.start() - 12) : match.start()]) or forms.BOXED.search(sentence):
        return Claim(match.start(), at, SEVERAL, firm=True)
    return None if _spoiled(text, match.start()) else Claim(match.start(), at, reading, firm=True)


def _end_of_box(text: str, start: int) -> int:
    """Behind the brace that closes the one before `start`, or 0."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start : start + _BOX]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return start + brace.end()
    return 0


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str], Shown], Claim | None]], ...] = (
    (forms.STATED, _stated),
    (forms.ASKED, _asked),
    *((pattern, _chosen) for pattern in forms.CHOSEN),
    (forms.LETTER_FIRST, _letter_first),
    (forms.BOXED, _boxed),
)

# --- what is around --------------------------------------------------------------------------------------------


def _spoiled(text: str, at: int) -> bool:
    """Whether what stands before makes a statement a denial, a condition, somebody else's, or one of several."""
    # The statement's own first character belongs to it: a small one goes on with a sentence of the line above.
    before = "\x00" + text[max(0, at - _LOOK_BACK) : at + 1]
    sentence = before[_end_of_last(context.SENTENCE, before) :]
    clause = sentence[_end_of_last(context.CLAUSE, sentence) :]
    joined = context.JOINED_OR.search(text[max(0, at - 20) : at])
    return any((joined, context.CONDITIONAL.search(sentence), context.DENIED.search(clause)))


def _settle(text: str, match: re.Match[str], shown: Shown) -> Reading | None:
    """What a letter comes to with what follows it; None when it is a word, a quantity or part of a longer sentence."""
    letter, at = match["letter"].upper(), match.end("letter")
    line = _line(text, at)
    labelled = _labelled(line, shown)
    if labelled:
        if labelled[0] != letter:
            return agree(letter, labelled[0])
        rest = _past(context.CLOSE, labelled[1])
        follows = context.MAY_FOLLOW_VALUE.match(rest)
    else:
        rest = _past(context.CLOSE, line)
        follows = context.MAY_FOLLOW.match(rest)
    stops = follows is not None and follows["stop"] is not None
    if not follows or not (labelled or stops or _in_capitals_on_its_line(text, match)):
        return None
    if not labelled and _is_article(text, match, rest):
        return None
    quoted = text[match.start("letter") - 1] == '"' and context.JSON_NEXT.match(line) is not None
    if quoted and (value := context.JSON_VALUE.search(rest)):
        return agree(letter, shown.exactly(value["value"]) or letter)
    sentence = "" if stops or quoted else _sentence(rest)
    if context.ASKING.search(sentence):
        return None
    other = next((found for found in context.ANOTHER.finditer(sentence) if found[0] != letter), None)
    if other and not context.SETS_APART.search(sentence, 0, other.start()):
        return SEVERAL
    values = shown.within(_line_before(text, match.start())) | shown.within("" if quoted else rest)
    if values and not labelled and letter not in values:
        return agree(letter, min(values))
    return _unless_list(text, at + len(line), letter, rest, shown)


def _in_capitals_on_its_line(text: str, match: re.Match[str]) -> bool:
    """Whether prose may go on behind a letter: not behind a small one, nor behind one on a line below its word."""
    return match["letter"].isupper() and "\n" not in text[match.start() : match.start("letter")]


def _is_article(text: str, match: re.Match[str], rest: str) -> bool:
    """Whether a small "a" ends its line, and its noun begins the next."""
    ends_line = match["letter"] == "a" and not rest.strip()
    return ends_line and re.match(r"[^\n]{0,9}+\n[ \t]*+\w", text[match.end() :][:40]) is not None


def _unless_list(text: str, end: int, letter: str, rest: str, shown: Shown) -> Reading:
    """The letter, unless it is the first label of a list of options, or the line below holds another option's text."""
    following = text[end : end + LOOK_AHEAD]
    below = context.BELOW.match(following)
    labels = {found["letter"] for found in context.LABEL.finditer(rest)} - {letter}
    if labels or (below and below["letter"] == chr(ord(letter) + 1)):
        return SEVERAL
    value = context.VALUE_BELOW.match(following)
    return agree(letter, (shown.exactly(value["value"].strip(" ,")) if value else None) or letter)


def _labelled(rest: str, shown: Shown) -> tuple[str, str] | None:
    """The option whose text stands behind a letter, and what follows it."""
    rest = _past(context.LINK, _past(context.LABEL_END, rest))
    return shown.opening(rest) or shown.opening(rest.lstrip("([{$*_`\"'“‘\\"))


def _read_value(text: str, start: int, shown: Shown) -> Reading | None:
    ahead = text[start : start + LOOK_AHEAD]
    line = _line(text, start + len(ahead) - len(ahead.lstrip()))
    if named := shown.exactly(line) or shown.exactly(line.rstrip(" |<}").partition("</")[0]):
        return Reading(named)
    opened = shown.opening(line.lstrip(" \t*_`\"'“‘([{$\\"))
    if not opened:
        return None
    rest = _past(context.CLOSE, opened[1])
    if behind := forms.LETTER_BEHIND.match(rest):
        return agree(behind["letter"].upper(), opened[0])
    return Reading(opened[0]) if _VALUE_ENDS.match(rest) else None


def _ends_line(text: str, end: int, reading: Reading, shown: Shown) -> bool:
    line = _line(text, end)
    labelled = _labelled(line, shown)
    return not undressed((labelled[1] if labelled and labelled[0] == reading.letter else line).strip(" $.:,)"))


def _sentence(text: str) -> str:
    """`text` up to the end of its sentence, the sign included."""
    end = context.SENTENCE_END.search(text)
    return text[: end.end()] if end else text


def _end_of_last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=0)


def _past(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return text[match.end() :] if match else text


def _line(text: str, start: int) -> str:
    end = text.find("\n", start, start + LOOK_AHEAD)
    return text[start : end if end >= 0 else start + LOOK_AHEAD]


def _line_before(text: str, end: int) -> str:
    """What stands before on the same line; of a long line, enough to see that it is prose."""
    return text[max(0, end - _LOOK_BACK) : end].rpartition("\n")[2]
