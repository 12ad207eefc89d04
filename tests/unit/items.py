"""Hand-made candidates, and runs of their scripts, for the unit tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.sandbox import Finished, MiB

F1 = {"A": "0.058996", "B": "0.060723", "C": "0.060074", "D": "0.061291"}
SOLUTION = "print('ANSWER: 0.060723')\n"
# A run that used the software and printed nothing.
ENDED = Finished(
    ended="exited", exit_code=0, signal=None, stdout=b"", stdout_bytes=0, stderr=b"", stderr_bytes=0, stderr_cut=False,
    wall=1.0, cpu=1.0, peak_memory=10 * MiB, disk_used=0, files_made=12, used=("scipy",),
)  # fmt: skip


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
