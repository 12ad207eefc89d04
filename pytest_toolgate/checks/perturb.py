"""Does the answer depend on the constants of the question?

A constant that stands in the question and in the script is changed in a copy of the script. If the copy prints the same
answer, digit by digit, the script does not do with it what the question says, or the question says it to no purpose.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ..candidate import Candidate
from .protocol import CheckResult, CheckTask

MOST = 3
# One change may fall between two nodes of a mesh, or below what is printed; a second one goes further, the other way.
_FACTORS = (1.1, 0.6)
# Tolerances, on which no answer should depend.
_TOLERANCE = Decimal("1e-5")
# Longer ones are nobody's constants, and Python converts no whole number of any length.
_LONGEST = 40
_MOST_BITS = 128
_NUMBER = re.compile(r"(?<![\w.])\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+(?![\w.]*\w)")


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the question that stands in the script, too.

    Attributes:
        text: As the question writes it.
        places: Where it stands in the script: line from 1, and the first and the last column in bytes.
        whole: Whether the script writes it as a whole number everywhere.
    """

    text: str
    places: tuple[tuple[int, int, int], ...]
    whole: bool


def check(task: CheckTask) -> CheckResult | None:
    """Flag constants of the question on which the answer does not depend."""
    constants = constants_of(task.candidate)
    if not constants:
        return None
    original = task.answer
    if original in task.candidate.options:
        return CheckResult("passed", "the script prints a letter, which shows no small change")
    still, lines = [], [f"as it stands: {original}"]
    for constant in constants:
        answers = []
        for factor in _FACTORS:
            script, value = changed(task.candidate.solution, constant, factor)
            answers.append(task.run_script(script).answer)
            lines.append(f"{constant.text} changed to {value}: {answers[-1] or 'no answer'}")
            if answers[-1] != original:
                break
        else:
            still.append(f"`{constant.text}`")
    if not still:
        return CheckResult("passed", "", "\n".join(lines))
    return CheckResult("flagged", f"the answer does not depend on {', '.join(still)}", "\n".join(lines))


def constants_of(candidate: Candidate) -> list[Constant]:
    """The constants to change, at most `MOST`: numbers with decimals first, those with most digits before the others.

    Whole numbers often only count something, so they are taken where there is nothing else, and 0, 1 and 2 never.
    """
    places = _literals(candidate.solution)
    options = {_decimal(text) for text in candidate.options.values()}
    found: dict[Decimal, Constant] = {}
    for text in _NUMBER.findall(candidate.question):
        value = _decimal(text)
        if value is None or value in options or value in found or not value > _TOLERANCE or value not in places:
            continue
        whole, where = places[value]
        found[value] = Constant(text, where, whole)
    fractions = [constant for value, constant in found.items() if value != value.to_integral_value()]
    counts = [constant for value, constant in found.items() if value == value.to_integral_value() and value > 2]
    fractions.sort(key=lambda constant: -len(constant.text))
    return (fractions or counts)[:MOST]


def changed(script: str, constant: Constant, factor: float) -> tuple[str, str]:
    """The script with a constant changed wherever it stands, and what it was changed to."""
    value = Decimal(constant.text)
    new = str(int(value) + (1 if factor > 1 else 2)) if constant.whole else f"{float(value) * factor:.12g}"
    lines = [line.encode() for line in _lines(script)]
    for line, begin, end in sorted(constant.places, reverse=True):
        lines[line - 1] = lines[line - 1][:begin] + new.encode() + lines[line - 1][end:]
    return b"".join(lines).decode(), new


def _literals(script: str) -> dict[Decimal, tuple[bool, tuple[tuple[int, int, int], ...]]]:
    """The numbers in a script: value -> whether all of them are whole, and where they stand."""
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[Decimal, list[tuple[bool, tuple[int, int, int]]]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float) or node.lineno != node.end_lineno:
            continue
        if isinstance(node.value, int) and node.value.bit_length() > _MOST_BITS:
            continue
        value = _decimal(repr(node.value))
        if value is not None:
            place = (node.lineno, node.col_offset, node.end_col_offset or node.col_offset)
            found.setdefault(value, []).append((type(node.value) is int, place))
    return {
        value: (all(whole for whole, _ in each), tuple(place for _, place in each)) for value, each in found.items()
    }


def _decimal(text: str) -> Decimal | None:
    if len(text) > _LONGEST:
        return None
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _lines(script: str) -> Sequence[str]:
    """The lines as Python counts them, each with its end."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", script)
