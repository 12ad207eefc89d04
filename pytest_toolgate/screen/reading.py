"""Which option a model's reply chooses.

The polarity of a screen is treacherous: a reply read as a wrong choice lets a candidate through. So nothing
is guessed. A choice is a *statement* ("ANSWER: B", "Antwort: B", "I would pick B", a lone "B"), the last
valid one wins, and a reply without one is of the wrong form, which is no verdict.

Replies are strangers' text of any length: every repetition in the patterns below is possessive or bounded, so
that reading takes linear time.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..candidate.matching import options_by_text
from ..candidate.numbers import plain
from ..candidate.unicode_form import compose, visible

_WORD = (
    "(?:answer|antwort|réponse|reponse|respuesta|risposta|resposta|odpowiedź|odpověď|antwoord|svar|vastaus|cevap"
    "|ответ|відповідь|答案|答え|回答|解答|正解|정답|답|উত্তর|उत्तर|الإجابة|الجواب)"
)
# "Antwort lautet", "respuesta correcta es", "answer must therefore be", "Answer - ", "<answer>".
_IS = (
    r"(?:(?:correcta|correcte|corretta|choice|option)\s++)?+"
    r"(?:[:=]>?+|->|→|⇒|>|[-–—](?=\s)|\b(?:ist|lautet|est|es|è|é)\b:?+|[是为為]:?+|[は은는]"
    r"|\b(?:is|(?:should|would|must|will|has\s++to)(?:\s++(?:therefore|thus|then|hence))?+\s++be)\b"
    r"(?:\s++(?:therefore|thus|then|hence|clearly|indeed))?+:?+)"
)
# What people put around a word: emphasis, quotes, TeX dollars, ticks, space.
_DRESS = r"[*_`~$\"'“”‘’✅✔☑👉➡\uFE0F\s]*+"
_NOUN = r"(?:(?:the\s++letter|letter|the|la|le|die|answer|option|choice|选项|選項)\s++|选项|選項)?+"
_OPEN = rf"{_DRESS}(?:\\[(\[]{_DRESS})?+(?:\\[a-z]{{2,8}}\{{{_DRESS}){{0,3}}+{_NOUN}[(\[{{<]?+{_DRESS}"
# Not the beginning of a word, of "D'oh", of "B-spline", of "C++".
_END = r"(?![A-Za-z0-9À-ɏ_^])(?!['’‑-][A-Za-z])(?!\+\+|#)"

_STATEMENTS = (
    re.compile(rf"{_WORD}{_DRESS}{_IS}{_OPEN}(?P<letter>[A-D]){_END}", re.IGNORECASE),
    re.compile(
        r"\b(?:I|we|We|let['’]s|Let['’]s)(?:['’](?:d|ll|m|re)|\s++(?:would|will|shall|must|am|are))?+(?:\s++have\s++to)?+"
        r"\s++(?:pick(?:ing)?+|choos(?:e|ing)|select(?:ing)?+|go(?:ing)?+\s++(?:with|for)|(?<!s )say"
        r"|answer(?:\s++with)?+)"
        rf"{_OPEN}(?P<letter>[A-D]){_END}(?!\s++(?:such|so|to|large|small|sufficiently)\b)"
    ),
    re.compile(
        r"\b(?:[Cc]orrect|[Rr]ight|[Bb]est|[Cc]hosen|[Ff]inal|[Mm]y)\s++(?:option|choice|guess)"
        rf"{_DRESS}(?:\bis\b|:){_OPEN}(?P<letter>[A-D]){_END}"
    ),
    re.compile(rf"^[#>*_ \t]*+(?:Option|Choice|OPTION|CHOICE)[*_]*+\s*+:{_OPEN}(?P<letter>[A-D]){_END}", re.MULTILINE),
    re.compile(
        rf"^[#>*_ \t]*+(?:(?:the|my|your|final|correct)\s++){{0,2}}+{_WORD}[*_ \t]*+\n"
        rf"{_OPEN}(?P<letter>[A-D]){_END}",
        re.MULTILINE | re.IGNORECASE,
    ),
    re.compile(rf"(?:选择?|選擇?){_OPEN}(?P<letter>[A-D]){_END}"),
    re.compile(
        r"(?<![A-Za-z0-9À-ɏ_^'’])(?P<letter>[A-D])[)\]}*_`]*+\s++(?:is|would\s++be|must\s++be)\s++(?:the\s++|therefore\s++)?+"
        r"(?:correct|right|best)(?:\s++(?:answer|option|choice|one))?+(?=[*_]*+\s*+(?:[.,;!\n]|$|because\b|since\b|as\b))"
    ),
)
# The form that the prompt asks for: at the start of a line, or in capitals anywhere.
_ASKED = re.compile(
    rf"(?:^[#>*_ \t]*+(?i:{_WORD})|\bANSWER){_DRESS}[:=]{_OPEN}(?P<letter>(?i:[A-D])){_END}", re.MULTILINE
)
_CORRECTED = re.compile(
    r"\b(?:wrong|incorrect|mistaken?|wait|correction|actually|sorry|oops|re-?check\w*)\b|不对|错",
    re.IGNORECASE,
)
# Statements that name their letter first: what stands before it may join it with others.
_LETTER_FIRST = _STATEMENTS[-1]
_JOINED = re.compile(r"(?:[/&、]|\b(?:or|and|nor|both|neither|either)\b|[A-D][)\]}]?,?)\s*+[(\[*]*+$")
# "C = 0.5": a quantity of that name, unless it is the option's own text.
_EQUATION = re.compile(r"\s*+[=≈]|\s++[<>]\s")
# The form that was asked for, filled with something that is no option.
_NO_OPTION = re.compile(
    r"^[#>*_ \t]*+answer[*_]*+\s*+:[*_(\[ \t]*+"
    r"(?:(?:[E-Z]|none|neither|unknown|unclear|undetermined|n/a|cannot|no)\b|\?)",
    re.MULTILINE | re.IGNORECASE,
)
_VALUE_STATEMENT = re.compile(rf"{_WORD}[*_`\s]*+[:=]", re.IGNORECASE)
_LONE = re.compile(rf"{_OPEN}(?P<letter>[A-Da-d]){_END}")
_DENIED = re.compile(
    r"(?:(?:\b(?:not|cannot|doubt\w*|wrong|incorrect|false|no|never|neither|nor|kein\w*|nicht|falsche?|if|whether|unless|suppose"
    r"|suppos\w+|assum\w+|wenn)\b|n['’]t\b)[^.,;:!?\n。，；—]{0,40}|(?:不|错误|錯誤|如果|假设)[^.\n。，；]{0,6})$",
    re.IGNORECASE,
)
# "B is wrong", "B cannot be right", "B?"
_TAKEN_BACK = re.compile(
    r"[)\]}*_`]*+\s*+(?:\?|(?:is|was|are|would\s++be|seems|looks|can(?:not|['’]t)\s++be|isn['’]t)\s++"
    r"(?:not\b|wrong\b|incorrect\b|false\b|impossible\b|too\b)|(?:isn['’]t|cannot|can['’]t)\b)",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    rf"[)\]}}]*+{_DRESS}(?:[,/&+;、]|\b(?:or|and|oder|und|ou|et|o|y)\b|或|和|と)?+{_DRESS}[(\[]?+[A-D](?![A-Za-z0-9'’])"
)
_ARTICLE = re.compile(r"\s+[a-z]+\s+[a-z]+")
_CLAUSE = re.compile(r"\s+(?:because|since|as|is|but|for|due|from|with|by)\b")
# `<|im_end|>`, `</s>`
_SPECIAL = re.compile(r"<\|[a-z_]{1,20}\|>|</?s>")
_THINKING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_WIDE = str.maketrans(
    {
        **{chr(0xFF21 + i): letter for i, letter in enumerate("ABCD")},
        "：": ":",
        "（": "(",
        "）": ")",
        "［": "[",
        "］": "]",
    }
    | {chr(0x24B6 + i): letter for i, letter in enumerate("ABCD")}
)
_MOST_STATEMENTS = 2000
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
    text = _SPECIAL.sub("\n", _THINKING.sub("\n", visible(compose(text)))).translate(_WIDE)
    options = _Options(options_by_text(shown), max(map(len, shown.values())) + 64)
    whole = text.strip()
    if whole and "\n" not in whole and len(whole) <= _LOOK_AHEAD:
        lone = _read_lone(whole, options)
        if lone is not None:
            return lone
    # A statement that contradicts itself is still the last word: an earlier one does not come back to life.
    last = max(_statements(text, options), key=lambda found: found[0], default=None)
    if last:
        return _unless_contradicted(last[1], text, options)
    return _read_outer_lines(whole, options) or Reading(None, "states no answer")


def _unless_contradicted(last: Reading, text: str, options: "_Options") -> Reading:
    """The last statement, unless it is a loose one that says otherwise than a line of the form that was asked for.

    "ANSWER: C. The answer would be A with linear elements." must not turn a right answer into a wrong one.
    """
    for match in _last(_ASKED, text):
        asked = _read_letter(match["letter"], _rest_of_line(text, match.end()), options)
        if asked is not None:
            between = text[match.end() : match.end() + _LOOK_AHEAD]
            if asked.letter and last.letter and asked.letter != last.letter and not _CORRECTED.search(between):
                return Reading(None, f"answers {asked.letter}, and then names {last.letter}")
            break
    return last


def _read_outer_lines(text: str, options: "_Options") -> Reading | None:
    """The answer of a reply whose first or last line is one by itself; two that differ are none."""
    first, last = text.partition("\n")[0].strip(), text.rpartition("\n")[2].strip()
    found = [
        _read_lone(line, options) for line in (first, last) if 0 < len(line) <= _LOOK_AHEAD and not line[:1].islower()
    ]
    letters = {reading.letter for reading in found if reading is not None}
    if len(letters) > 1:
        return Reading(None, "names several letters")
    return next((reading for reading in found if reading is not None), None)


@dataclass(frozen=True, slots=True)
class _Options:
    """The shown options, prepared once for a reply with many statements.

    Attributes:
        by_text: Plain text -> letter.
        longest: No text longer than this is an option with what is put around it.
    """

    by_text: Mapping[str, str]
    longest: int

    def named(self, text: str) -> str | None:
        """The option with this text."""
        return self.by_text.get(plain(text)) if 0 < len(text) <= self.longest else None


def _read_lone(text: str, options: _Options) -> Reading | None:
    """A reply that is nothing but a letter, an option's text, or both."""
    match = _LONE.match(text)
    if match:
        rest = _after_letter(text[match.end() :])
        if not rest:
            return Reading(match["letter"].upper())
        if options.named(rest):
            return _agree(match["letter"].upper(), rest, options)
    named = options.named(_undress(text))
    return Reading(named) if named else None


def _statements(text: str, options: _Options) -> Iterator[tuple[int, Reading]]:
    for pattern in _STATEMENTS:
        for match in _last(pattern, text):
            if _denied(text, match.start()) or (pattern is _LETTER_FIRST and _joined(text, match.start())):
                continue
            reading = _read_letter(match["letter"], _rest_of_line(text, match.end()), options)
            if reading is not None:
                yield match.start("letter"), reading
                break
    for match in _last(_VALUE_STATEMENT, text):
        named = options.named(_undress(_rest_of_line(text, match.end())))
        if named and not _denied(text, match.start()):
            yield match.end(), Reading(named)
            break
    for match in _last(_NO_OPTION, text):
        yield match.end(), Reading(None, f"states `{match[0].strip()[:40]}`, which is no option")
        break


def _last(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Where a pattern matches, the last first; the early ones of a degenerate reply are left out."""
    return reversed(deque(pattern.finditer(text), maxlen=_MOST_STATEMENTS))


def _read_letter(written: str, after: str, options: _Options) -> Reading | None:
    rest = _after_letter(after)
    if _TAKEN_BACK.match(after) or (_EQUATION.match(after) and not options.named(rest)):
        return None
    if written.islower() and rest and not options.named(rest):
        return None  # "the answer is a car": an article, not an option
    if written == "A" and _ARTICLE.match(after) and not _CLAUSE.match(after):
        return None
    if _ANOTHER.match(after):
        return Reading(None, "names several letters")
    return _agree(written.upper(), rest, options)


def _agree(letter: str, rest: str, options: _Options) -> Reading:
    named = options.named(rest)
    if named and named != letter:
        return Reading(None, f"names the letter {letter} with the text of option {named}")
    return Reading(letter)


def _denied(text: str, start: int) -> bool:
    return _DENIED.search(text[max(0, start - 60) : start]) is not None


def _joined(text: str, start: int) -> bool:
    return _JOINED.search(text[max(0, start - 12) : start]) is not None


def _rest_of_line(text: str, start: int) -> str:
    end = text.find("\n", start, start + _LOOK_AHEAD)
    return text[start : end if end >= 0 else start + _LOOK_AHEAD]


def _after_letter(text: str) -> str:
    return _undress(text.lstrip(_DRESSING + "$.:,、-–—="))


def _undress(text: str) -> str:
    return text.strip(_DRESSING).rstrip(".,;:").rstrip(_DRESSING).removesuffix("\\")
