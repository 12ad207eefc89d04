"""The rounds of a domain as the database has them: those that are over, and how far the others have come."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..candidate import Candidate
from ..candidate.duplicates import Entry
from ..store import Store
from .feedback import Record
from .proposal import Proposal

# Outcomes of the loop: no audit's, and none of machinery that failed.
_OVER: Final = (
    "SELECT rounds.number, attempts.id AS attempt_id, "
    "outcomes.outcome, outcomes.gate, outcomes.reason, outcomes.sentence, attempts.path, "
    "candidates.content, candidates.twin_key, candidates.fingerprint "
    "FROM rounds JOIN attempts ON attempts.round_id = rounds.id JOIN outcomes ON outcomes.attempt_id = attempts.id "
    "JOIN runs ON runs.id = attempts.run_id LEFT JOIN candidates ON candidates.id = attempts.content_id "
    "WHERE rounds.domain = ? AND outcomes.outcome <> 'error' AND runs.audit IS NULL "
    "AND coalesce(rounds.number = ?, 1) ORDER BY rounds.number, outcomes.time"
)


@dataclass(frozen=True, slots=True)
class Past:
    """One round that is over.

    Attributes:
        record: What the generator may know of it.
        attempt_id: Key of the attempt that ended it.
        entry: What identifies its candidate; None if the file could not be read as one.
        candidate: The candidate itself; None likewise.
    """

    record: Record
    attempt_id: str
    entry: Entry | None
    candidate: Candidate | None


@dataclass(frozen=True, slots=True)
class Begun:
    """One round that is not over.

    Attributes:
        id: Its key.
        number: Its number.
        prompt: What its generator was told.
        proposal: What became of that; None if it is not known to have been done.
    """

    id: str
    number: int
    prompt: str
    proposal: Proposal | None


def counted_twice(store: Store, domain: str) -> int | None:
    """The first number that two rounds of a domain have, which comes of merging databases; None if there is none."""
    rows = store.query(
        "SELECT number FROM rounds WHERE domain = ? GROUP BY number HAVING count(*) > 1 ORDER BY number LIMIT 1",
        [domain],
    )
    return rows[0]["number"] if rows else None


def rounds_over(store: Store, domain: str, number: int | None = None) -> list[Past]:
    """The rounds of a domain that are over, by number; or that one of them, if it is."""
    found: dict[int, Past] = {}
    for row in store.query(_OVER, [domain, number]):
        found.setdefault(row["number"], _past(row))
    return list(found.values())


def rounds_begun(store: Store, domain: str) -> list[Begun]:
    """The rounds that were begun and are not over, by number."""
    over = {past.record.number for past in rounds_over(store, domain)}
    rows = store.query(
        "SELECT rounds.id, number, prompt, ended, note, content FROM rounds "
        "LEFT JOIN proposals ON round_id = rounds.id AND ended <> 'error' "
        "WHERE domain = ? ORDER BY number, rounds.time, proposals.time",
        [domain],
    )
    found = {
        row["number"]: Begun(
            row["id"],
            row["number"],
            row["prompt"],
            None if row["ended"] is None else Proposal(row["ended"], row["content"], sentence=row["note"]),
        )
        for row in rows
        if row["number"] not in over
    }
    return list(found.values())


def _past(row: Mapping[str, Any]) -> Past:
    content = json.loads(row["content"]) if row["content"] else None
    record = Record(
        number=row["number"],
        outcome=row["outcome"],
        gate=row["gate"],
        reason=row["reason"],
        sentence=row["sentence"],
        **({} if content is None else _shown(content)),
    )
    if content is None:
        return Past(record, row["attempt_id"], None, None)
    path = Path(row["path"])
    return Past(
        record,
        row["attempt_id"],
        Entry(row["path"], content["id"], row["twin_key"], row["fingerprint"]),
        Candidate.of_content(content, path),
    )


def _shown(content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "question": content["question"],
        "options": content["options"],
        "answer": content["answer"],
        "tags": tuple(content["tags"]),
    }
