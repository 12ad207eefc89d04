"""What the replies of a screen come to: each by itself, and all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..candidate import Candidate
from ..candidate.presentation import Presentation
from ..config.model import Mode
from ..providers import Response
from ..screen.reading import read_reply
from ..screen.value_reading import read_value
from .calls import ScreenCall
from .result import GateResult


@dataclass(frozen=True, slots=True)
class Reply:
    """One call as it counts.

    Attributes:
        status: `answered`, or why the reply is missing.
        correct: Whether the chosen value is the proposed answer's; None when nothing was chosen.
        note: Why the reply is missing, in words.
        served: The model that answered, as the server names it.
        chosen: The candidate's own letter of what was chosen, or None.
        value: The text of that option or, without options to choose from, the value that was stated.
    """

    status: str
    correct: bool | None = None
    note: str = ""
    served: str | None = None
    chosen: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """The replies of one screen.

    Attributes:
        correct: Replies that chose the proposed answer, *c*.
        missing: Calls without a valid choice, made or not, *m*.
        samples: Calls in all, *n*.
        reject_at: Correct replies that reject, *k*.
    """

    correct: int
    missing: int
    samples: int
    reject_at: int

    @property
    def decided(self) -> str | None:
        """`rejected`, `passed`, or None while the missing replies could turn it."""
        if self.correct >= self.reject_at:
            return "rejected"
        return "passed" if self.correct + self.missing < self.reject_at else None

    def __str__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        return f"{self.correct} of {self.samples} correct{missing}"


def deciding(results: Sequence[GateResult]) -> GateResult:
    """Which of the results of several screens is that of the gate.

    Any rejection is a verdict; only without one does an undecided screen leave the candidate undecided.
    """
    for verdict in ("rejected", "error"):
        if found := next((result for result in results if result.verdict == verdict), None):
            return found
    return results[-1]


def grade(candidate: Candidate, mode: Mode | None, call: ScreenCall, response: Response) -> Reply:
    """What a response says, by value: the letters of different presentations mean different things."""
    if response.status != "complete":
        return Reply(response.status, note=response.error, served=response.model_served)
    return grade_text(candidate, mode, call.presentation, response.text, response.model_served)


def grade_text(
    candidate: Candidate, mode: Mode | None, presentation: Presentation, text: str, served: str | None
) -> Reply:
    """What the text of a whole reply says.

    Args:
        candidate: The candidate.
        mode: What was left out of the prompt.
        presentation: The order in which the options were shown.
        text: The text.
        served: The model that answered.
    """
    if mode == "question-only":
        return _grade_value(candidate, text, served)
    reading = read_reply(text, presentation.show(candidate.options))
    if reading.letter is None:
        return Reply("wrong-form", note=reading.note, served=served)
    chosen = presentation.original(reading.letter)
    value = candidate.options[chosen]
    return Reply("answered", value == candidate.value, served=served, chosen=chosen, value=value)


def grade_again(candidate: Candidate, mode: Mode | None, row: Mapping[str, Any]) -> Reply | None:
    """A recorded reply as it counts now; None when it says nothing any more.

    Answer and letters may have been edited since, so that only its value, or its words, are what they were.
    """
    if mode == "question-only":
        reply = _grade_value(candidate, row["text"], row["model_served"])
        return reply if reply.correct is not None else None
    value = row["value"]
    if value not in candidate.options.values():
        return None  # nothing that was shown, so nothing that could be right or wrong
    return Reply("answered", value == candidate.value, served=row["model_served"], chosen=row["chosen"], value=value)


def _grade_value(candidate: Candidate, text: str, served: str | None) -> Reply:
    """The same for a model that was shown no options and may state any value."""
    reading = read_value(text, candidate.options)
    if reading.letter is None and reading.value is None:
        return Reply("wrong-form", note=reading.note, served=served)
    chosen = reading.letter
    right = chosen is not None and candidate.options[chosen] == candidate.value
    value = reading.value if chosen is None else candidate.options[chosen]
    return Reply("answered", right, reading.note, served, chosen, value)
