"""The candidates of a database, and for each of them the attempts by which the loop and every audit have judged it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..audit import Recorded, in_loop, known_audits
from ..audit.pool import audited
from ..candidate.model import LETTERS
from ..pool.balance import answer_rank
from ..store import Store

LOOP: Final = ""
"""The name that stands for the loop beside those of audits."""
_LONGEST: Final = 20_000
# Of what was written, only what is counted; options beyond any sense are not looked at.
_CONTENTS: Final = """
SELECT id, json_extract(content, '$.answer') AS answer, CASE
    WHEN length(json_extract(content, '$.options')) <= :longest THEN json_extract(content, '$.options') END AS options
FROM candidates WHERE id IN (SELECT value FROM json_each(:ids))
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate, with what counts of its answer.

    Attributes:
        recorded: The candidate as the record has it.
        letter: The letter of its answer in its file; empty where the file could not be read.
        options: Letter -> option text; empty likewise.
        rank: Rank of the answer's value, 1 for the smallest; None where the options are not four different numbers.
        in_loop: Whether the loop has judged it; an audit by `pytest` may have been the first to.
    """

    recorded: Recorded
    letter: str = ""
    options: Mapping[str, str] | None = None
    rank: int | None = None
    in_loop: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """An attempt that counts for one or, where rounds repeat each other, several candidates.

    Attributes:
        attempt: Its key.
        audit: Name of the audit; `LOOP` if it is of the loop.
        cases: Numbers of the candidates.
        outcome: Of the attempt; empty if it came to no end.
        gate: Where it ended.
        reason: Why.
    """

    attempt: str
    audit: str
    cases: tuple[int, ...]
    outcome: str
    gate: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cases:
    """All candidates, and the attempts that count.

    Attributes:
        cases: Those of the loop first, in their order; a candidate's number is its place here.
        judged: The attempts, those of the loop first.
        audits: Names of all audits, the oldest first.
    """

    cases: tuple[Case, ...]
    judged: tuple[Judged, ...]
    audits: tuple[str, ...]

    @property
    def loop(self) -> list[Recorded]:
        """The candidates of the loop."""
        return [case.recorded for case in self.cases if case.in_loop]

    def verified(self) -> list[Case]:
        """Those that have passed local verification, whatever extra checks then said."""
        return [case for case in self.cases if case.recorded.standing in ("verified", "refused")]

    def chosen(self) -> str:
        """The attempts as JSON for a query: key, place, and the letter and rank of the answer."""
        return json.dumps([
            [one.attempt, place, self.cases[one.cases[0]].letter, self.cases[one.cases[0]].rank]
            for place, one in enumerate(self.judged)
        ])  # fmt: skip

    def numbers(self, places: str | None) -> list[int]:
        """The candidates of the attempts whose places a query has joined by commas."""
        return [number for place in (places or "").split(",") if place for number in self.judged[int(place)].cases]


def read_cases(store: Store) -> Cases:
    """Find them: a candidate that was judged several times counts once, in the loop and in each audit."""
    loop, audits = in_loop(store), known_audits(store)
    found: list[tuple[Recorded, bool]] = [(one, True) for one in loop]
    judged = [
        Judged(one.attempt, LOOP, (number,), one.outcome, one.gate, one.reason) for number, one in enumerate(loop)
    ]
    owners: dict[str, list[int]] = {}
    for number, one in enumerate(loop):
        if one.fingerprint:
            owners.setdefault(one.fingerprint, []).append(number)
    for audit in audits:
        for fingerprint, row in audited(store, audit).items():
            if fingerprint not in owners:
                owners[fingerprint] = [len(found)]
                found.append((_named(row), False))
            ending = row["outcome"] or "", row["gate"] or "", row["reason"] or ""
            judged.append(Judged(row["attempt_id"], audit, tuple(owners[fingerprint]), *ending))
    contents = _contents(store, [one.content_id for one, _ in found if one.content_id])
    cases = tuple(_case(one, contents.get(one.content_id), known) for one, known in found)
    return Cases(cases, tuple(judged), tuple(audits))


def _named(row: Mapping[str, Any]) -> Recorded:
    return Recorded(
        path=row["path"],
        id=row["candidate_id"] or "",
        fingerprint=row["fingerprint"] or "",
        twin_key=row["twin_key"] or "",
        content_id=row["content_id"] or "",
        time=row["time"],
    )


def _contents(store: Store, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    rows = store.query(_CONTENTS, {"ids": json.dumps(ids), "longest": _LONGEST})
    return {row["id"]: row for row in rows}


def _case(recorded: Recorded, content: Mapping[str, Any] | None, in_loop: bool) -> Case:
    if content is None or content["answer"] not in LETTERS:
        return Case(recorded, in_loop=in_loop)
    options = json.loads(content["options"]) if content["options"] else None
    rank = answer_rank(options, content["answer"]) if options else None
    return Case(recorded, content["answer"], options, rank, in_loop)
