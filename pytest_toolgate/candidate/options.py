"""What makes four option texts unfit for a multiple-choice question, and what deserves a warning."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import combinations

from .faults import Fault
from .model import Candidate
from .numbers import has_decimal_comma, is_not_finite, overlap, plain, read_number
from .unicode_form import visible

MAX_OPTION = 2000

# `B`, `(B)`, `B)`, `B. 3`, `Option B: 3`: once the options are shuffled, such a text names another option.
_LABEL_START = re.compile(
    r"(?:(?:option|answer|choice)(?:\s+|\s*:\s*))?(?:[(\[{][a-d][)\]}].*|[a-d](?:[)\]].*|[.:]\s.*|[.:,;])?)",
    re.IGNORECASE | re.DOTALL,
)
# What people put around a label without making it anything else.
_DRESSING = "*_`~$\"'“”‘’ "
_LABEL_INSIDE = re.compile(r"(?:^|\s)[(\[][A-D][)\]](?=$|[\s.,;:])|\b[Oo]ptions?\s+[A-D]\b")
_POSITION = re.compile(
    r"""\b(?:all|none|any|both|neither|either|some|two|each|one)\s+of\s+(?:the\s+)?
          (?:(?:other|given|listed|stated|offered|possible)\s+)?
          (?:above|below|these|those|them|options|answers|choices|values|others?|preceding|following|given|listed)\b
      | \b(?:all|none|any)\s+(?:the\s+)?above\b
      | ^(?:all|none|both|neither|either|any|two|some)\s+(?:is\s+|are\s+)?
          (?:correct|right|true|wrong|false|incorrect)\.?$
      | ^(?:both|neither|either)\.?$
      | \b(?:options?|answers?|choices?|values?)\s+(?:above|below)\b
      | \b(?:same|equal|identical)\s+(?:as|to)\s+\(?[A-D]\)?$
      | \b(?:all|any|everything)\s+(?:but|except)\s+(?:for\s+)?\(?[A-D]\)?$
      | \b(?:both|either|neither)\s+\(?[A-D]\)?\s+(?:and|or|nor)\s+\(?[A-D]\)?(?!\w)
      | ^\(?[A-D]\)?(?:\s*(?:,\s*(?:and|or)?|and|or|&|/)\s*\(?[A-D]\)?)+
          (?:\s+(?:only|alone|(?:is|are)\s+(?:both\s+)?(?:correct|right|true)))?\.?$
      | ^(?:(?:only|not|neither)\s+\(?[A-D]\)?|\(?[A-D]\)?\s+(?:only|alone))\.?$
      | \b(?:above|below|previous|preceding|following|first|second|third|fourth|last|other)
          \s+(?:two\s+|three\s+)?(?:options?|answers?|choices?)\b
      | ^(?:(?:the|both|all)\s+)?(?:previous|preceding|following|first|second|third|fourth|last|other|others)
          (?:\s+(?:ones?|two|three))?(?:\s+(?:is|are)\s+\w+)?\.?$
      | \b(?:al{1,2}e|keine?)\s+(?:de[rn]\s+)?(?:obigen|genannten)\b
      | \b(?:todas?|ninguna)\s+(?:de\s+)?las\s+anteriores\b
      | \b(?:toutes|aucune)\b.*\b(?:ci-dessus|précédentes)\b
      | 以上(?:都|皆|均|全)
      | ^(?:the\s+)?(?:above|other(?:\s+options?)?)$""",
    re.VERBOSE | re.IGNORECASE,
)
_SELECT_ALL = re.compile(
    r"select\s+all|all\s+that\s+apply|(?:one|two)\s+or\s+more\s+(?:options|answers)", re.IGNORECASE
)
_INTEGRATES = re.compile(r"\bintegra(?:ls?|te[sd]?|ting|tion)\b|∫|\\int\b|\bassembl|\bd[xs]\b", re.IGNORECASE)
# A degree of freedom states no degree.
_DEGREE = re.compile(r"quadrature|gauss|degree\b(?!\s+of\s+freedom)", re.IGNORECASE)
_ENTITY = r"(?:dof|degrees?\s+of\s+freedom|row|column|cell|facet|face|edge|vert(?:ex|ice)|node|basis\s+function)"
_NUMBERING = re.compile(
    rf"\b{_ENTITY}s?\s+(?:number\s+|numbered\s+|no\.\s*|index\s+|indices\s+|#\s*)?\d+\b(?!\s*(?:x|by|×)\s*\d)"
    rf"|\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|last)\s+{_ENTITY}\b",
    re.IGNORECASE,
)


def option_faults(options: Mapping[str, str], line: int | None) -> Iterator[Fault]:
    """Faults of complete, non-empty options: form first, then pairs that no reply could tell apart."""
    for letter, text in options.items():
        sentence = _fault_of_one(text)
        if sentence:
            yield Fault("bad-options", f"option {letter} `{_short(text)}` {sentence}", line, f"options.{letter}")
    for left, right in combinations(options, 2):
        first, second = read_number(options[left]), read_number(options[right])
        names = f"options {left} `{_short(options[left])}` and {right} `{_short(options[right])}`"
        field = f"options.{right}"
        if same_text(options[left], options[right]):
            yield Fault("equal-options", f"{names} are equal after normalisation", line, field)
        elif first is not None and second is not None and first.value == second.value:
            yield Fault("equal-options", f"{names} are the same number", line, field)
        elif first is not None and second is not None and overlap(first, second):
            sentence = f"{names} cannot be told apart: some printed value rounds to both"
            sentence += "; write them to the same decimals"
            yield Fault("close-options", sentence, line, field)


def same_text(left: str, right: str) -> bool:
    """Whether two option texts are equal but for dashes, surrounding `$`, spaces and Unicode form."""
    return plain(left) == plain(right)


def warnings(candidate: Candidate) -> list[str]:
    """What a reviewer should look at, though it is no reason to reject."""
    found = []
    question, script = candidate.question, candidate.solution
    if _SELECT_ALL.search(question):
        found.append("the question seems to ask for several options, and exactly one is graded")
    if candidate.domain == "fenicsx" and _INTEGRATES.search(question) and not _DEGREE.search(question):
        found.append("quadrature degree not stated: the question integrates, and the default depends on the form")
    if match := _NUMBERING.search(question):
        found.append(f"depends on numbering: `{match[0]}` may be another entity in another version")
    if ".show(" in script:
        found.append("the script calls `.show(`, which has no screen to show on")
    return found


def _fault_of_one(text: str) -> str | None:
    if len(text) > MAX_OPTION:
        return f"is longer than {MAX_OPTION} characters"
    if len(text.splitlines()) > 1:
        return "must be one line"
    compatible = visible(unicodedata.normalize("NFKC", text)).strip()
    if not compatible:
        return "shows nothing"
    if is_not_finite(text):
        return "is not a finite number, and no printed value can match it"
    if has_decimal_comma(text):
        return "uses a decimal comma; write a decimal point"
    if _POSITION.search(compatible):
        return "depends on the other options or their position, and the options are shuffled"
    if _LABEL_START.fullmatch(compatible.strip(_DRESSING)) or _LABEL_INSIDE.search(compatible):
        return "looks like an option label, and the options are shuffled"
    return None


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."
