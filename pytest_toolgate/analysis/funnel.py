"""How many candidates of the loop came to each gate, and what became of them there. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..audit import Recorded

_PASSED = ("accepted", "provisional")


@dataclass(frozen=True, slots=True)
class Step:
    """One gate. What came in was removed, has no verdict, or went on.

    Attributes:
        name: What it is called.
        removed: How many were removed.
        without_verdict: How many are not known: machinery failed, a run was killed, or the gate was never asked.
        out: How many went on.
        reasons: Reason -> how many were removed for it.
    """

    name: str
    removed: int
    without_verdict: int
    out: int
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def entered(self) -> int:
        """How many came in."""
        return self.removed + self.without_verdict + self.out

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "stage": self.name,
            "in": self.entered,
            "removed": self.removed,
            "out": self.out,
            "no_verdict": self.without_verdict,
            "reasons": dict(self.reasons),
        }


def funnel(found: Sequence[Recorded]) -> tuple[Step, ...]:
    """The gates in order, each candidate counted once, by the attempt that says what has become of it.

    Args:
        found: All candidates of the loop.
    """
    failed = _where(found, "failed")
    verified = [one for one in found if one.standing in ("verified", "refused")]
    steps = [_step("local verification", failed, len(found) - len(failed) - len(verified), verified)]
    refused = _where(verified, "refused")
    if refused:
        verified = [one for one in verified if one.standing != "refused"]
        steps.append(_step("extra checks", refused, 0, verified))
    easy = [one for one in verified if (one.outcome, one.gate) == ("rejected", "screen")]
    past = [one for one in verified if one.accepted or one.gate == "solve"]
    steps.append(_step("no-tool screens", easy, len(verified) - len(easy) - len(past), past))
    unsolved = [one for one in past if one.outcome in ("review", "rejected")]
    solved = [one for one in past if one.outcome in _PASSED]
    steps.append(_step("tool solve", unsolved, len(past) - len(unsolved) - len(solved), solved))
    return tuple(steps)


def _where(found: Sequence[Recorded], standing: str) -> list[Recorded]:
    return [one for one in found if one.standing == standing]


def _step(name: str, removed: Sequence[Recorded], without: int, out: Sequence[Recorded]) -> Step:
    reasons = Counter(one.reason or "unknown" for one in removed)
    return Step(name, len(removed), without, len(out), dict(sorted(reasons.items(), key=lambda one: (-one[1], one[0]))))
