"""Does the answer depend on a numerical choice of which the question says nothing?

Whoever solves the item makes such choices anew: a quadrature degree, how rectangles are cut into triangles, and how
vertices and cells are numbered. The script is run again with another one, and if its answer is another option then, or
none, the question is to say which.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .fenicsx_observer import observe
from .protocol import CheckResult, CheckRun, CheckTask


@dataclass(frozen=True, slots=True)
class Choice:
    """A numerical choice.

    Attributes:
        name: What it is called.
        seen: The kind of report that says that the script makes it.
        told: What makes it otherwise.
        otherwise: What was done then, in words.
        stated: What a question says that states it.
    """

    name: str
    seen: str
    told: Mapping[str, Any]
    otherwise: str
    stated: re.Pattern[str]


CHOICES = (
    Choice(
        "quadrature degree",
        "integral",
        {"degree": 2},
        "with all quadrature degrees 2 higher",
        re.compile(
            r"quadrature|\bgauss|integration (?:rule|degree|order)|integrated? exactly|exact integration", re.IGNORECASE
        ),
    ),
    Choice(
        "diagonal of the mesh",
        "diagonal",
        {"diagonal": True},
        "with the rectangles cut the other way",
        re.compile(r"diagonal|\bcrossed\b|\b(?:left|right)[_ /-](?:left|right)\b|criss", re.IGNORECASE),
    ),
    Choice(
        "numbering of the mesh",
        "mesh",
        {"numbering": True},
        "with vertices and cells numbered otherwise",
        re.compile(r"\bnumber(?:ed|ing)\b|\bind(?:ex|ices)\b|\boriginal order\b|\blisted\b", re.IGNORECASE),
    ),
)


def check(task: CheckTask) -> CheckResult | None:
    """Flag an answer that depends on a choice which the question does not state."""
    first, answer = observe(task), task.candidate.answer
    choices = [
        choice
        for choice in CHOICES
        if not choice.stated.search(task.candidate.question)
        and any(report["kind"] == choice.seen for report in first.reports)
    ]
    if not choices:
        return None
    if len(choices) > 1:
        # Mostly nothing depends on any of them, and one run says so of all.
        together = observe(task, **{name: value for choice in choices for name, value in choice.told.items()})
        if together.matched == answer:
            lines = [f"as it stands: {task.answer}", f"{'; '.join(c.otherwise for c in choices)}: {together.answer}"]
            return CheckResult("passed", "", "\n".join(lines))
    return judge(task.answer, [(choice, observe(task, **choice.told)) for choice in choices], answer)


def judge(printed: str, found: Sequence[tuple[Choice, CheckRun]], answer: str) -> CheckResult:
    """What runs with other choices come to; one that did not end with an answer says nothing."""
    lines = [f"as it stands: {printed}"]
    depends = []
    for choice, run in found:
        lines.append(f"{choice.otherwise}: {run.answer or 'no answer'}")
        if run.answer is not None and run.matched != answer:
            depends.append(f"the {choice.name} ({printed} as it stands, {run.answer} {choice.otherwise})")
    evidence = "\n".join(lines)
    if not depends:
        return CheckResult("passed", "", evidence)
    return CheckResult(
        "flagged", f"the answer depends on {' and on '.join(depends)}, and the question does not state it", evidence
    )
