"""What a generator may know of the rounds before its own. Pure.

Only outcomes of the loop have a place in these types. What audits find later has none, so that it can reach no prompt.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

NEWEST: Final = 20
"""Records that a prompt shows (arXiv 2609.02067, section on the generator)."""
# Rounds that are looked at for failures that recur, and how often is often.
_LOOKED_AT: Final = 50
_RECURS: Final = 2
# Gates at which a candidate fails by its own making; a screen or a solver says nothing of how it was written.
_OWN_FAULTS: Final = ("generate", "lint", "verify", "check")


@dataclass(frozen=True, slots=True)
class Record:
    """One round of the loop and what came of it.

    Attributes:
        number: Of the round.
        outcome: Its outcome: `accepted`, `provisional`, `rejected` or `review`.
        gate: The last gate that it came to; `generate` if there was no file.
        reason: Why it went no further, empty when it passed.
        sentence: The same in words.
        question: Of the candidate; empty if the file could not be read as one.
        options: Letter -> text.
        answer: Its letter.
        tags: Of the candidate.
    """

    number: int
    outcome: str
    gate: str
    reason: str = ""
    sentence: str = ""
    question: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    tags: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether every gate of the run has passed it."""
        return self.outcome in ("accepted", "provisional")

    @property
    def ending(self) -> str:
        """What came of it, in a few words."""
        return self.outcome if not self.reason else f"{self.outcome} at {self.gate}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A way to fail that is the candidate's own making.

    Attributes:
        gate: Where.
        reason: How.
        times: How often among the rounds looked at.
        sentence: How it was last put.
        recurs: It has happened more than once among the newest records.
    """

    gate: str
    reason: str
    times: int
    sentence: str
    recurs: bool


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the pool needs most, by what was accepted so far.

    Attributes:
        letter: Letter that the answer is to have.
        rank: Rank that it is to have among the four values, 1 for the smallest.
        full: Tags of which there are enough.
        wanted: Tags of which there are not.
        crowded: Beginnings of questions that have too many like them already.
    """

    letter: str
    rank: int
    full: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """All that a generator is told of earlier rounds.

    Attributes:
        counts: Ending -> how many rounds have ended so.
        newest: The newest records, the newest last.
        failures: The most frequent first.
        wishes: What the pool needs.
    """

    counts: Mapping[str, int]
    newest: tuple[Record, ...]
    failures: tuple[Failure, ...]
    wishes: Wishes


def feedback(records: Sequence[Record], wishes: Wishes) -> Feedback:
    """What a generator is told of these rounds.

    Args:
        records: All rounds that are known, in any order.
        wishes: What the pool needs.
    """
    ordered = sorted(records, key=lambda record: record.number)
    counts = Counter(record.ending for record in ordered)
    return Feedback(
        counts=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        newest=tuple(ordered[-NEWEST:]),
        failures=tuple(_failures(ordered)),
        wishes=wishes,
    )


def _failures(ordered: Sequence[Record]) -> list[Failure]:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in ordered[-_LOOKED_AT:]:
        if record.outcome == "rejected" and record.gate in _OWN_FAULTS:
            found.setdefault((record.gate, record.reason), []).append(record)
    newest = {record.number for record in ordered[-NEWEST:]}
    failures = [
        Failure(gate, reason, len(those), those[-1].sentence, sum(each.number in newest for each in those) >= _RECURS)
        for (gate, reason), those in found.items()
    ]
    return sorted(failures, key=lambda failure: (-failure.times, failure.gate, failure.reason))
