"""Hand-made candidates for the unit tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_toolgate.candidate import Candidate

F1 = {"A": "0.058996", "B": "0.060723", "C": "0.060074", "D": "0.061291"}
SOLUTION = "print('ANSWER: 0.060723')\n"


def candidate(**changes: object) -> Candidate:
    """A candidate without fault, changed as said."""
    fields: dict[str, Any] = {
        "id": "item",
        "question": "What is the energy to six decimals?",
        "options": F1,
        "answer": "B",
        "solution": SOLUTION,
        "domain": "scipy",
        "path": Path("candidates/item.yaml"),
    }
    return Candidate(**(fields | changes))


def yaml_text(**changes: str | None) -> str:
    """The text of a candidate file without fault; a key set to None is left out."""
    entries: Mapping[str, str | None] = {
        "question": "What is it?",
        "options": "{A: '0.1', B: '0.2', C: '0.3', D: '0.4'}",
        "answer": "B",
        "solution": "|\n  print('ANSWER: 0.2')",
        "domain": "scipy",
    } | changes
    return "".join(f"{key}: {text}\n" for key, text in entries.items() if text is not None)
