"""Faults of a candidate file, as sentences its author can act on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a candidate.

    Attributes:
        reason: The lint reason, e.g. `bad-schema`.
        sentence: What is wrong and what would be right.
        line: Line in the candidate file, counted from 1, or None when no line is to blame.
        field: Dotted name of the field, e.g. `options.B`, or empty for the whole file.
    """

    reason: str
    sentence: str
    line: int | None = None
    field: str = ""


class CandidateError(Exception):
    """A candidate file that cannot be read as a candidate.

    Attributes:
        faults: All that was found, the first one decides the reason; never empty.
    """

    def __init__(self, *faults: Fault) -> None:
        super().__init__(faults[0].sentence)
        self.faults = faults
