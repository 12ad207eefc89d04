"""What a gate decides."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Control characters but the line feed, lone surrogates, and what changes the direction of text.
_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")

Verdict = Literal["passed", "rejected", "review", "error"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdict of one gate.

    Attributes:
        verdict: `error` is no verdict: machinery failed.
        reason: One of the reasons of the gate, empty when it passed.
        sentence: The reason in words a contributor can act on; further lines name further faults, or the evidence.
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


def escaped(text: str) -> str:
    """A stranger's text as it may be shown: what a terminal would obey, or no encoding can hold, is written out."""
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def fault(problem: BaseException) -> str:
    """An unforeseen exception as one sentence that still says where to look."""
    frames = traceback.extract_tb(problem.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{where}: {escaped(' '.join(str(problem).split()))[:300]}"


def passed(*warnings: str, reused: int = 0, made: int = 0) -> GateResult:
    """The candidate goes on."""
    return GateResult("passed", warnings=warnings, reused=reused, made=made)


def rejected(reason: str, sentence: str) -> GateResult:
    """A verdict against the candidate."""
    return GateResult("rejected", reason, sentence)


def error(reason: str, sentence: str, *, made: int = 0) -> GateResult:
    """Machinery failed; nothing is known about the candidate."""
    return GateResult("error", reason, sentence, made=made)
