"""What a gate decides."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "rejected", "review", "error"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdict of one gate.

    Attributes:
        verdict: `error` is no verdict: machinery failed.
        reason: One of the reasons of the gate, empty when it passed.
        sentence: The reason in words a contributor can act on.
        warnings: What a reviewer should look at all the same.
        reused: Paid results of earlier runs that were used instead of new ones.
        made: Paid results that were bought now.
    """

    verdict: Verdict
    reason: str = ""
    sentence: str = ""
    warnings: tuple[str, ...] = ()
    reused: int = 0
    made: int = 0


def passed(*warnings: str, reused: int = 0, made: int = 0) -> GateResult:
    """The candidate goes on."""
    return GateResult("passed", warnings=warnings, reused=reused, made=made)


def rejected(reason: str, sentence: str) -> GateResult:
    """A verdict against the candidate."""
    return GateResult("rejected", reason, sentence)


def error(reason: str, sentence: str, *, made: int = 0) -> GateResult:
    """Machinery failed; nothing is known about the candidate."""
    return GateResult("error", reason, sentence, made=made)
