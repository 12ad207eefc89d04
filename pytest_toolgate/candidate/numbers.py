"""Reading numbers the way people write them, exactly.

One reader serves lint (are two options the same number?) and matching (which option does a printed value
round to?), so that the two can never disagree. Everything is `decimal.Decimal`: a binary float would
decide ties at random.
"""

import decimal
import functools
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from .unicode_form import compose, visible

# Text longer than this, or a power of ten further out than this, is not a number anybody meant to write,
# and bounds the cost of exact arithmetic on strangers' text.
MAX_LENGTH = 200
MAX_EXPONENT = 1000

_EXACT = decimal.Context(prec=2 * MAX_EXPONENT + 2 * MAX_LENGTH, rounding=decimal.ROUND_HALF_EVEN)

# Every dash that people paste for a minus. NFKC does not map U+2212, and float() raises on it.
DASHES = "‐‑‒–—−﹣－"
_TO_MINUS = str.maketrans(dict.fromkeys(DASHES, "-"))
_SUPERSCRIPTS = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FROM_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
# Signs of other scripts that NFKC either leaves alone or that stand in numbers only.
_SIGNS = str.maketrans("٫٬٪．，％＋", ".,%.,%+")

# The spaces that TeX puts into numbers, and its comma without one.
_TEX_SPACE = re.compile(r"\\[,;:! ]|~|(?<=[0-9])\{,\}(?=[0-9])")
# Spaces between digits group them by three; any others stand between two numbers.
_GROUPED = re.compile(
    r"(?<![0-9.])[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|(?<=\.)[0-9]{3}(?: [0-9]{3})*(?: [0-9]{1,3})(?![0-9])"
)
_APART = re.compile(r"[0-9.] [0-9]")

_POWER = r"10(?:\^|\*\*)(?:\{[-+]?[0-9]+\}|\([-+]?[0-9]+\)|[-+]?[0-9]+)"
_SCALE = rf"(?:[eE][-+]?[0-9]+|(?:\*|x|X|×|·|\\times|\\cdot){_POWER})"
_NUMBER = re.compile(
    rf"""(?P<sign>[-+]?)
        (?: (?P<power>{_POWER})
          | (?P<whole>[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+ | [1-9][0-9]{{0,2}}(?:['’][0-9]{{3}})+
                    | [0-9]+(?:_[0-9]+)* | (?=\.[0-9]))
            (?P<fraction>\.[0-9]*)?
            (?P<scale>{_SCALE})? )
        (?P<percent>\\?%)?""",
    re.VERBOSE,
)
_EXPONENT = re.compile(r"[-+]?[0-9]+(?=[)}]?$)")
_DECIMAL_COMMA = re.compile(rf"([-+]?(?:[0-9]{{1,3}}(?:\.[0-9]{{3}})+|[0-9]+),[0-9]+){_SCALE}?[^0-9,.();]*")
_NOT_FINITE = re.compile(r"[-+]?(?:s?nan[0-9]*|inf|infinity|∞|\\infty|1\.#(?:inf|ind|q?nan)[0-9]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A finite decimal as somebody wrote it.

    Attributes:
        value: The exact value.
        decimals: How many decimals the exact value states, or None when the text has no decimal point or the
            value a positive exponent (`1.5e3`): such a text stands for exactly its value.
    """

    value: Decimal
    decimals: int | None

    def rounds_from(self, printed: Decimal) -> bool:
        """Whether `printed`, rounded half-even to this number's own decimals, is this number."""
        if self.decimals is None:
            return printed == self.value
        return _round(printed, self.decimals) == self.value

    def reach(self) -> tuple[Decimal, Decimal, bool]:
        """The closed or open interval of printed values that round to this number.

        Returns:
            Lower end, upper end, and whether the two ends belong to it: under half-even rounding a tie
            goes to the even last digit.
        """
        if self.decimals is None:
            return self.value, self.value, True
        half = Decimal((0, (5,), -self.decimals - 1))
        last_digit = _EXACT.scaleb(self.value, self.decimals)
        return (
            _EXACT.subtract(self.value, half),
            _EXACT.add(self.value, half),
            _EXACT.remainder(last_digit, 2) == 0,
        )


def _round(value: Decimal, decimals: int) -> Decimal:
    return _EXACT.quantize(value, Decimal((0, (1,), -decimals)))


def plain(text: str) -> str:
    """`text` as it is compared.

    Every dash is a minus; surrounding dollar signs, unseen characters and outer or doubled spaces are gone.
    """
    text = " ".join(visible(compose(text)).translate(_TO_MINUS).split())
    while len(text) > 1 and text.startswith("$") and text.endswith("$"):
        text = text[1:-1].strip()
    return text


def _bare(text: str) -> str:
    """`text` without the spaces that a number may hold, in ASCII digits and signs, superscripts as powers."""
    text = plain(text).translate(_SIGNS)
    text = _SUPERSCRIPTS.sub(lambda power: "^" + power[0].translate(_FROM_SUPERSCRIPT), text)
    text = "".join(str(unicodedata.decimal(c)) if not c.isascii() and c.isdecimal() else c for c in text)
    text = plain(_TEX_SPACE.sub(lambda found: "," if found[0] == "{,}" else " ", text))
    text = _GROUPED.sub(lambda digits: digits[0].replace(" ", ""), text)
    return text if _APART.search(text) else text.replace(" ", "")


def read_number(text: str) -> Number | None:
    r"""The finite decimal that `text` is, or None when it is anything else.

    Understands every dash, surrounding `$` and spaces, thousands separators, percent, exponents
    (`1e-3`, `1.5 \times 10^{-3}`) and digits of other scripts.
    """
    return _read(text) if len(text) <= MAX_LENGTH else None


# The same four options are read again and again: for their ranks, and by each guesser.
@functools.lru_cache(maxsize=64)
def _read(text: str) -> Number | None:
    match = _NUMBER.fullmatch(_bare(text))
    if match is None:
        return None
    whole = re.sub("[,_'’]", "", match["whole"] or "") if match["power"] is None else "1"
    fraction = match["fraction"] or ""
    exponent_text = _EXPONENT.search(match["power"] or match["scale"] or "")
    exponent = int(exponent_text[0]) if exponent_text else 0
    if abs(exponent) > MAX_EXPONENT:
        return None
    digits = (whole + fraction[1:]).lstrip("0") or "0"
    shift = exponent - max(len(fraction) - 1, 0) - (2 if match["percent"] else 0)
    value = Decimal((1 if match["sign"] == "-" else 0, tuple(map(int, digits)), shift))
    return Number(value, -shift if fraction and shift <= 0 else None)


def is_not_finite(text: str) -> bool:
    """Whether `text` writes a NaN or an infinity."""
    return len(text) <= MAX_LENGTH and _NOT_FINITE.fullmatch(_bare(text)) is not None


def has_decimal_comma(text: str) -> bool:
    """Whether `text` is a number, perhaps with a unit, that uses a comma as its decimal point."""
    if len(text) > MAX_LENGTH or read_number(text) is not None:
        return False
    match = _DECIMAL_COMMA.fullmatch(_bare(text))
    return match is not None and read_number(match[1]) is None


def overlap(left: Number, right: Number) -> bool:
    """Whether some printed value would round to both numbers."""
    first, second = sorted((left.reach(), right.reach()), key=lambda reach: (reach[0], reach[1]))
    if second[0] != first[1]:
        return second[0] < first[1]
    return first[2] and second[2]


def nearest_gap(printed: Decimal, numbers: list[Number]) -> tuple[int, Decimal]:
    """Index of the number nearest to `printed` and the distance to it: for messages, never for a verdict."""
    gaps = [abs(_EXACT.subtract(printed, number.value)) for number in numbers]
    index = gaps.index(min(gaps))
    return index, gaps[index]
