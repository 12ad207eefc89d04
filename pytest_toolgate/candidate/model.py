"""What a candidate is once its file has been read, and how it is identified."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from .unicode_form import compose

LETTERS = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An unaccepted item: everything its file says.

    Attributes:
        id: Name of the item, `[a-z0-9_-]+`.
        question: The question, as written.
        options: Letter -> option text, exactly as written.
        answer: The letter of the proposed answer.
        solution: The script that computes the answer.
        domain: Name of the target software's domain, e.g. `fenicsx`.
        path: The file it was read from.
        tags: Free labels.
        distractors: Wrong letter -> the mistake its value comes from.
        metadata: Anything else the author wants to keep with the item.
        lines: Top-level key, or `options.A` and so on -> line in the file, counted from 1.
    """

    id: str
    question: str
    options: Mapping[str, str]
    answer: str
    solution: str
    domain: str
    path: Path
    tags: tuple[str, ...] = ()
    distractors: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_content(cls, content: Mapping[str, Any], path: Path) -> Self:
        """The candidate whose `content` this is, as the database holds it.

        Args:
            content: The content.
            path: The file that it was read from; it need not be there any more.

        Raises:
            TypeError: It lacks something.
        """
        return cls(**{**content, "tags": tuple(content["tags"])}, path=path)

    @property
    def value(self) -> str:
        """The text of the proposed answer."""
        return self.options[self.answer]

    @property
    def fingerprint(self) -> str:
        """Hash of the normalised content: changes when question, options, answer, script or domain do."""
        return _digest(
            _flowing(self.question),
            {letter: _flowing(text) for letter, text in self.options.items()},
            self.answer,
            _code(self.solution),
            self.domain,
        )

    @property
    def presented(self) -> str:
        """Hash of what a screen or an agent gets to see; shuffles and reuse of paid replies hang on it."""
        return presented_hash(self.question, self.options)

    @property
    def twin_key(self) -> str:
        """Hash of the question and the *set* of options: equal for duplicates whatever their order."""
        return _digest(_flowing(self.question), sorted(_flowing(text) for text in self.options.values()))

    def content(self) -> dict[str, Any]:
        """The item as plain JSON types."""
        return {
            "id": self.id,
            "domain": self.domain,
            "question": self.question,
            "options": dict(self.options),
            "answer": self.answer,
            "solution": self.solution,
            "tags": list(self.tags),
            "distractors": dict(self.distractors),
            "metadata": dict(self.metadata),
        }


def presented_hash(question: str, options: Mapping[str, str]) -> str:
    """Hash of a question with its lettered options, whitespace and Unicode form aside."""
    return _digest(_flowing(question), {letter: _flowing(text) for letter, text in options.items()})


def _digest(*parts: str | Mapping[str, str] | Sequence[str]) -> str:
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _flowing(text: str) -> str:
    """Running text: whitespace and Unicode form do not matter, every digit does."""
    return " ".join(compose(text).split())


def _code(text: str) -> str:
    """Python source: only line ends, trailing spaces and Unicode form do not matter."""
    lines = compose(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")
