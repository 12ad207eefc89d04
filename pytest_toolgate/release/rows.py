"""Items and rejected attempts as rows: one form for both splits, so that they are splits of one data set."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..candidate.model import LETTERS
from .items import Item, Rejected, Release

REPRODUCED: Final = "reproduced"
TEST: Final = "test"
REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True)
class Struct:
    """A column of named parts.

    Attributes:
        parts: Name -> the part's kind.
        many: Whether it is a list of such.
    """

    parts: Mapping[str, "Kind"]
    many: bool = False


Kind = Literal["string", "int64", "strings"] | Struct
"""What a column holds; every one may be null."""
_LETTERED: Final = Struct(dict.fromkeys(LETTERS, "string"))
_RUN: Final = Struct(
    {
        "number": "int64",
        "printed": "string",
        "value": "string",
        "python": "string",
        "packages": Struct({"name": "string", "version": "string"}, many=True),
        "sandbox": "string",
        "time": "string",
    },
    many=True,
)
_REVIEW: Final = Struct(
    {"reviewer": "string", "verdict": "string", "note": "string", "time": "string"}, many=True
)  # fmt: skip
COLUMNS: Final[Mapping[str, Kind]] = {
    "id": "string",
    "domain": "string",
    "question": "string",
    "options": _LETTERED,
    "answer": "string",
    "value": "string",
    "tags": "strings",
    "distractors": _LETTERED,
    "solution": "string",
    "fingerprint": "string",
    "presentation": "string",
    "outcome": "string",
    "gate": "string",
    "reason": "string",
    "sentence": "string",
    "audit": "string",
    "reproduced": _RUN,
    "review": _REVIEW,
    "attempt": "string",
    "path": "string",
    "record": "string",
    "canary": "string",
}
"""The columns of both splits, in order."""


def rows(release: Release) -> Mapping[str, list[dict[str, Any]]]:
    """Split -> its rows."""
    return {
        TEST: [item_row(item, release) for item in release.items],
        REJECTED: [rejected_row(one, release) for one in release.rejected],
    }


def item_row(item: Item, release: Release) -> dict[str, Any]:
    """One item. `outcome` says `reproduced`: nobody has said that the answer is right, unless `review` does."""
    return {
        "id": item.id,
        "domain": item.domain,
        "question": item.question,
        "options": _lettered(item.options),
        "answer": item.answer,
        "value": item.value,
        "tags": list(item.tags),
        "distractors": _lettered(item.distractors),
        "solution": item.solution,
        "fingerprint": item.fingerprint,
        "presentation": item.presentation,
        "outcome": REPRODUCED,
        "gate": None,
        "reason": None,
        "sentence": None,
        "audit": None,
        "reproduced": [_evidence(dataclasses.asdict(run)) for run in item.reproduced.runs],
        "review": [dataclasses.asdict(review) for review in item.reviews] or None,
        "attempt": None,
        "path": None,
        "record": item.record,
        "canary": release.canary,
    }


def rejected_row(one: Rejected, release: Release) -> dict[str, Any]:
    """One rejected attempt; its letters are the author's own, and its answer is what the author proposed."""
    content = one.content or {}
    options = content.get("options") or {}
    answer = content.get("answer")
    return {
        "id": one.id or None,
        "domain": content.get("domain"),
        "question": content.get("question"),
        "options": _lettered(options) if options else None,
        "answer": answer,
        "value": options.get(answer),
        "tags": list(content.get("tags", ())),
        "distractors": _lettered(content.get("distractors", {})),
        "solution": content.get("solution"),
        "fingerprint": one.fingerprint or None,
        "presentation": "".join(LETTERS) if options else None,
        "outcome": one.outcome,
        "gate": one.gate,
        "reason": one.reason,
        "sentence": one.sentence,
        "audit": one.audit or None,
        "reproduced": [],
        "review": None,
        "attempt": one.attempt,
        "path": one.path,
        "record": None,
        "canary": release.canary,
    }


def _lettered(texts: Mapping[str, str]) -> dict[str, str | None]:
    return {letter: texts.get(letter) for letter in LETTERS}


def _evidence(run: dict[str, Any]) -> dict[str, Any]:
    """Packages as a list: a column for each name there is would differ from release to release."""
    packages = [{"name": name, "version": version} for name, version in run["packages"].items()]
    return {**run, "packages": packages}


def json_lines(found: Iterable[Mapping[str, Any]]) -> str:
    """One JSON text a line; ASCII, so that no reader takes a stranger's line separator for the end of one."""
    return "".join(f"{json.dumps(row, ensure_ascii=True)}\n" for row in found)
