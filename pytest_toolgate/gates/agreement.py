"""What the runs of solvers come to: each with its control run, and all of them together. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from ..config import SolveSettings
from .result import GateResult, Verdict

NOT_NEEDED = "solved without the software being there"
Results = Mapping[str, GateResult | None]
"""Name of each solver, in order -> what came of it; None where it was not asked."""


@dataclass(frozen=True, slots=True)
class Votes:
    """The solvers of one candidate.

    Attributes:
        solved: Those that solved it, *s*.
        unknown: Those of which nothing is known: machinery failed, or they were not asked, *e*.
        solvers: All of them, *n*.
        needed: Those that must solve it, *k*.
    """

    solved: int
    unknown: int
    solvers: int
    needed: int

    @property
    def decided(self) -> Literal["passed", "review"] | None:
        """None while those of which nothing is known could turn it."""
        if self.solved >= self.needed:
            return "passed"
        return "review" if self.solved + self.unknown < self.needed else None

    def __str__(self) -> str:
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        return f"{self.solved} of {self.solvers} solvers solved it{unknown}, {self.needed} needed"


def votes(results: Results, needed: int) -> Votes:
    """Count them."""
    found = [result.verdict for result in results.values() if result is not None]
    unknown = found.count("error") + len(results) - len(found)
    return Votes(found.count("passed"), unknown, len(results), needed)


def is_decided(results: Results, needed: int) -> bool:
    """Whether no solver that was not asked could change the outcome."""
    return any(_is(result, "rejected") for result in results.values()) or votes(results, needed).decided is not None


def verdict_of(results: Results, needed: int) -> Verdict:
    """What all solvers come to: a rejection stands whatever the others did."""
    if any(_is(result, "rejected") for result in results.values()):
        return "rejected"
    return votes(results, needed).decided or "error"


def with_control(
    solver: SolveSettings, packages: Collection[str], solved: GateResult, control: GateResult
) -> GateResult:
    """A solve, together with what came of its control run."""
    made, reused = solved.made + control.made, solved.reused + control.reused
    if control.verdict == "passed":
        if not solver.reject_if_control_solves:
            return GateResult("passed", "", "", (*solved.warnings, NOT_NEEDED), reused, made)
        names = ", ".join(f"`{name}`" for name in packages)
        sentence = f"the {solver.title} solved it also where {names} could not be imported"
        return GateResult("rejected", "tool-not-needed", sentence, solved.warnings, reused, made)
    if control.verdict == "review":
        return GateResult("passed", "", "", solved.warnings, reused, made)
    sentence = f"whether the software was needed is not known: {control.sentence}"
    if solver.reject_if_control_solves:
        return GateResult("error", control.reason, sentence, solved.warnings, reused, made)
    return GateResult("passed", "", "", (*solved.warnings, sentence), reused, made)


def together(results: Results, needed: int) -> GateResult:
    """What all solvers come to. One alone is what it is; of several each is named.

    A rejection stands whatever the others did. Where nothing is decided, the first failure of machinery is named.

    Args:
        results: What came of each.
        needed: How many must solve it.
    """
    asked = {name: result for name, result in results.items() if result is not None}
    if len(results) == 1 and asked:
        [only] = asked.values()
        return only
    made, reused = sum(each.made for each in asked.values()), sum(each.reused for each in asked.values())
    warnings = tuple(f"`{name}`: {warning}" for name, each in asked.items() for warning in each.warnings)
    count = votes(results, needed)
    rejections = [each for each in asked.values() if each.verdict == "rejected"]
    verdict = verdict_of(results, needed)
    if verdict == "passed":
        return GateResult("passed", "", "", warnings, reused, made)
    reason = next(each.reason for each in asked.values() if each.verdict == verdict)
    told = rejections[0].sentence if rejections else f"{count}: {'; '.join(map(_line, results, results.values()))}"
    return GateResult(verdict, reason, told, warnings, reused, made)


def _is(result: GateResult | None, verdict: str) -> bool:
    return result is not None and result.verdict == verdict


def _line(name: str, result: GateResult | None) -> str:
    if result is None:
        return f"`{name}` was not asked"
    if result.verdict == "passed":
        return f"`{name}` solved it"
    return f"`{name}` {result.reason}: {' '.join(result.sentence.split())}"
