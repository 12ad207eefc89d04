"""Which option a model's reply chooses.

The polarity of a screen is treacherous: a reply read as a wrong choice lets a candidate through. So nothing
is guessed. A choice is a *statement* ("ANSWER: B", "Antwort: B", "I would pick B", a lone "B"), the last
valid one wins, and a reply without one is of the wrong form, which is no verdict.

Replies are strangers' text of any length: every repetition in the patterns below is possessive or bounded, so
that reading takes linear time.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..candidate.matching import exact_option

_WORD = (
    "(?:answer|antwort|réponse|reponse|respuesta|risposta|resposta|odpowiedź|odpověď|antwoord|svar|vastaus|cevap"
    "|ответ|відповідь|答案|答え|回答|解答|정답|답|উত্তর|उत्तर|الإجابة|الجواب)"
)
_IS = r"(?:[:=]|\bis\b:?+|\bist\b|\best\b|\bes\b|是|为|為|は)"
# What people put around a word: emphasis, quotes, TeX dollars, space.
_DRESS = r"[*_`~$\"'“”‘’\s]*+"
_OPEN = rf"{_DRESS}(?:\\[a-z]{{2,8}}\{{{_DRESS}){{0,3}}+(?:(?:option|choice|选项|選項)\s*+)?+[(\[{{]?+{_DRESS}"
_END = r"(?![A-Za-z0-9À-ɏ_^])(?!['’][A-Za-z])"

_STATEMENTS = (
    re.compile(rf"{_WORD}{_DRESS}{_IS}{_OPEN}(?P<letter>[A-D]){_END}", re.IGNORECASE),
    re.compile(
        r"\b(?:I|we)(?:['’](?:d|ll)|\s++(?:would|will|shall|must))?+(?:\s++have\s++to)?+"
        rf"\s++(?:pick|choose|select|go\s++with|say|answer(?:\s++with)?+){_OPEN}(?P<letter>[A-D]){_END}"
    ),
    re.compile(rf"\b(?:correct|right|best|chosen|final)\s++(?:option|choice)\s*+(?:is|:){_OPEN}(?P<letter>[A-D]){_END}"),
)
_VALUE_STATEMENT = re.compile(rf"{_WORD}{_DRESS}[:=]", re.IGNORECASE)
_LONE = re.compile(rf"{_OPEN}(?P<letter>[A-Da-d]){_END}")
_DENIED = re.compile(
    r"(?:\b(?:not|wrong|incorrect|false|no|never|isn['’]t|kein\w*|falsche?)\b|不|错误|錯誤)[^.\n]{0,12}$", re.IGNORECASE
)
_ANOTHER = re.compile(
    rf"[)\]}}]*+{_DRESS}(?:[,/&+;、]|\b(?:or|and|oder|und|ou|et|o|y)\b|或|和|と)?+{_DRESS}[(\[]?+[A-D](?![A-Za-z0-9'’])"
)
_ARTICLE = re.compile(r"\s+[a-z]+\s+[a-z]+")
_CLAUSE = re.compile(r"\s+(?:because|since|as|is|but|for|due|from|with|by)\b")
_THINKING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_WIDE = str.maketrans(
    {**{chr(0xFF21 + i): letter for i, letter in enumerate("ABCD")}, "：": ":", "（": "(", "）": ")", "［": "[", "］": "]"}
)
# No option is longer than this together with what is put around it.
_LOOK_AHEAD = 2100
_DRESSING = "*_`~\"'“”‘’ \t()[]{}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says.

    Attributes:
        letter: The shown letter that is chosen, or None.
        note: Why none is, in words; empty when one is.
    """

    letter: str | None
    note: str = ""


def read_reply(text: str, shown: Mapping[str, str]) -> Reading:
    """The choice in a complete reply.

    Args:
        text: The reply.
        shown: Letter -> option text as the model saw them.
    """
    text = _THINKING.sub("\n", unicodedata.normalize("NFC", text)).translate(_WIDE)
    whole = text.strip()
    if whole and "\n" not in whole and len(whole) <= _LOOK_AHEAD:
        lone = _read_lone(whole, shown)
        if lone is not None:
            return lone
    # A statement that contradicts itself is still the last word: an earlier one does not come back to life.
    last = max(_statements(text, shown), key=lambda found: found[0], default=None)
    return last[1] if last else Reading(None, "states no answer")


def _read_lone(text: str, shown: Mapping[str, str]) -> Reading | None:
    """A reply that is nothing but a letter, an option's text, or both."""
    match = _LONE.match(text)
    if match:
        rest = _after_letter(text[match.end() :])
        if not rest:
            return Reading(match["letter"].upper())
        if exact_option(rest, shown):
            return _agree(match["letter"].upper(), rest, shown)
    named = exact_option(_undress(text), shown)
    return Reading(named) if named else None


def _statements(text: str, shown: Mapping[str, str]) -> Iterator[tuple[int, Reading]]:
    for pattern in _STATEMENTS:
        for match in pattern.finditer(text):
            if not _denied(text, match.start()):
                reading = _read_letter(match["letter"], _rest_of_line(text, match.end()), shown)
                if reading is not None:
                    yield match.start(), reading
    longest = max(map(len, shown.values())) + 64
    for match in _VALUE_STATEMENT.finditer(text):
        rest = _rest_of_line(text, match.end())
        named = exact_option(_undress(rest), shown) if len(rest) <= longest else None
        if named and not _denied(text, match.start()):
            yield match.start(), Reading(named)


def _read_letter(written: str, after: str, shown: Mapping[str, str]) -> Reading | None:
    rest = _after_letter(after)
    if written.islower() and rest and not exact_option(rest, shown):
        return None  # "the answer is a car": an article, not an option
    if written == "A" and _ARTICLE.match(after) and not _CLAUSE.match(after):
        return None
    if _ANOTHER.match(after):
        return Reading(None, "names several letters")
    return _agree(written.upper(), rest, shown)


def _agree(letter: str, rest: str, shown: Mapping[str, str]) -> Reading:
    named = exact_option(rest, shown) if rest else None
    if named and named != letter:
        return Reading(None, f"names the letter {letter} with the text of option {named}")
    return Reading(letter)


def _denied(text: str, start: int) -> bool:
    return _DENIED.search(text[max(0, start - 40) : start]) is not None


def _rest_of_line(text: str, start: int) -> str:
    end = text.find("\n", start, start + _LOOK_AHEAD)
    return text[start : end if end >= 0 else start + _LOOK_AHEAD]


def _after_letter(text: str) -> str:
    return _undress(text.lstrip(_DRESSING + "$.:,、-–—="))


def _undress(text: str) -> str:
    return text.strip(_DRESSING).rstrip(".,;:").rstrip(_DRESSING + "$")
