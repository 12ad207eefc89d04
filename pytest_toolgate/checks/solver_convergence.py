"""Did every solver converge? PETSc says so only to those who ask, and the script goes on either way."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .fenicsx_observer import observe
from .protocol import CheckResult, CheckTask

_SHOWN = 10
# What ends a solver that was given so many steps and no more.
_BY_COUNT = re.compile("MAX_IT|ITERATING")
_TOLD = re.compile(
    r"\b(?:iterations?|sweeps?|(?:newton|picard|cg|gmres|krylov|richardson|jacobi)[ -]steps?)\b", re.IGNORECASE
)


def check(task: CheckTask) -> CheckResult | None:
    """Reject an answer behind a solver that did not converge and was not asked; flag one that was."""
    reports = [report for report in observe(task).reports if report["kind"] in ("solver", "asked")]
    return judge(reports, task.candidate.question)


def judge(reports: Sequence[Mapping[str, Any]], question: str) -> CheckResult:
    """What failed solves come to; one that nobody asked about, a rejection."""
    failed = [report for report in reports if report["kind"] == "solver"]
    if not failed:
        return CheckResult("passed")
    asked = {report["number"] for report in reports if report["kind"] == "asked"}
    lines = [_line(report, asked) for report in failed]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    evidence = "\n".join([*lines[:_SHOWN], *more])
    silent = [
        report
        for report in failed
        if report["number"] not in asked and not (_BY_COUNT.search(report["reason"]) and _TOLD.search(question))
    ]
    worst = (silent or failed)[0]
    times = f" ({len(failed)} solves)" if len(failed) > 1 else ""
    what = f"{worst['solver']} did not converge: {worst['reason']}{times}"
    if silent:
        return CheckResult("rejected", f"{what}, and the script goes on without asking", evidence)
    return CheckResult("flagged", f"{what}, and the script goes on", evidence)


def _line(report: Mapping[str, Any], asked: set[Any]) -> str:
    after = "" if report["iterations"] is None else f" after {report['iterations']} iterations"
    known = "the script asked" if report["number"] in asked else "the script did not ask"
    return f"{report['solver']}: {report['reason']}{after}; {known}"
