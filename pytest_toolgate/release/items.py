"""What is released: items, rejected attempts, and what they have in common. Data only."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

FORM: Final = 1
"""Version of the form of a release; it goes up when a reader of an earlier one would be misled."""
_CANARIES: Final = uuid.UUID("5a1d0c6e-1d0f-4c1c-9a8e-6f4b8a2f7c53")


@dataclass(frozen=True, slots=True)
class ScriptEvidence:
    """One run of an item's script that came to its answer.

    Attributes:
        number: 0 for the first run.
        printed: What stood behind `ANSWER:`.
        value: The text of the option that it stands for.
        python: Version of the interpreter.
        packages: Distributions of the target software -> their versions.
        sandbox: The kind of isolation.
        time: When it was done.
    """

    number: int
    printed: str
    value: str
    python: str
    packages: Mapping[str, str]
    sandbox: str
    time: str


@dataclass(frozen=True, slots=True)
class Reproduced:
    """What is known about an answer: a script came to it, under these conditions. It does not say that it is right.

    Attributes:
        runs: The runs of the script.
    """

    runs: tuple[ScriptEvidence, ...]

    @property
    def packages(self) -> Mapping[str, str]:
        """The target software of the last run."""
        return self.runs[-1].packages if self.runs else {}

    @property
    def python(self) -> str:
        """The interpreter's version in the last run; empty if nothing is known."""
        return self.runs[-1].python if self.runs else ""


@dataclass(frozen=True, slots=True)
class Review:
    """What one expert has said last of an item.

    Attributes:
        reviewer: Who says so.
        verdict: `sound`, `defect` or `unsure`.
        note: Why.
        time: When.
    """

    reviewer: str
    verdict: str
    note: str
    time: str


@dataclass(frozen=True, slots=True)
class Item:
    """One released item.

    Attributes:
        id: Its name, unique in the release, `[a-z0-9_-]+`.
        question: The question, as written.
        options: Letter -> text, in the order of the release.
        answer: The letter of the reproduced answer, in that order.
        solution: The script.
        domain: The target software.
        tags: Free labels.
        distractors: Letter in that order -> the mistake that its value comes from.
        presentation: The author's own letters shown as A, B, C, D; a record speaks of the author's own letters.
        fingerprint: The candidate's.
        reproduced: What is known about the answer.
        reviews: What experts say of it; empty if none has looked at it.
    """

    id: str
    question: str
    options: Mapping[str, str]
    answer: str
    solution: str
    domain: str
    tags: tuple[str, ...]
    distractors: Mapping[str, str]
    presentation: str
    fingerprint: str
    reproduced: Reproduced
    reviews: tuple[Review, ...] = ()

    @property
    def value(self) -> str:
        """The text of the answer."""
        return self.options[self.answer]

    @property
    def record(self) -> str:
        """Its record, relative to the release."""
        return f"records/{self.id}.json"


@dataclass(frozen=True, slots=True)
class Rejected:
    """One attempt that did not lead to an item.

    Attributes:
        attempt: Its key.
        id: The candidate's id; empty where the file could not be read as a candidate.
        path: Its file.
        outcome: `rejected`, or `review`: no solver solved it, which does not make it bad.
        gate: Where it ended.
        reason: Why, as one word.
        sentence: Why, in words.
        audit: The audit that rejected it; empty for the loop.
        time: When.
        content: The candidate itself, letters as the author chose them; None where it could not be read.
        fingerprint: The candidate's, or empty.
    """

    attempt: str
    id: str
    path: str
    outcome: str
    gate: str
    reason: str
    sentence: str
    audit: str
    time: str
    content: Mapping[str, Any] | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Made:
    """How the items of a release were made, as its records say.

    Attributes:
        toolgate: Versions of pytest-toolgate.
        pythons: Versions of the interpreters that ran scripts.
        packages: Distributions of the target software -> their versions.
        screens: Each screen with its model and settings, in words.
        solvers: Likewise each solver.
        seeds: Every seed of a shuffle that a model has seen, which the release's own is not.
    """

    toolgate: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    screens: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """All that is published.

    Attributes:
        name: `[a-z0-9-]+`.
        licence: SPDX identifier.
        date: ISO 8601.
        seed: Of the permutations.
        pool: How its items were chosen, in words.
        items: The items, by id.
        rejected: The other attempts, by time.
        records: Id of an item -> its records: those of the loop, and of each audit that counted.
        made: How they were made.
        left_out: Why candidates of the pool are no items, in words -> how many.
    """

    name: str
    licence: str
    date: str
    seed: int
    pool: str
    items: tuple[Item, ...]
    rejected: tuple[Rejected, ...] = ()
    records: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    made: Made = field(default_factory=Made)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def canary(self) -> str:
        """The GUID by which copies of this release can be found; drawn from what is released, so it comes again."""
        content = "\n".join([self.name, str(self.seed), *(item.fingerprint for item in self.items)])
        return str(uuid.uuid5(_CANARIES, content))

    @property
    def canary_line(self) -> str:
        """The same in words."""
        return f"toolgate canary GUID {self.canary}: benchmark data, keep it out of training corpora"
