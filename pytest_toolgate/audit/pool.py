"""The candidates that a database holds, as the loop has left them, and those of them that an audit looks at."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ..candidate import Candidate
from ..store import Store
from .names import AuditError, known_audits

Standing = Literal["verified", "failed", "refused", "unknown"]
"""Where local verification has left a candidate: `refused` is what an extra check rejects, after it was verified."""

VERIFIED: Final = "verified"
ACCEPTED: Final = "accepted"
AUDIT: Final = "audit:"
PASSED: Final = ("accepted", "provisional")
_LOCAL: Final = ("generate", "lint", "verify")
_CHECK: Final = "check"
# Every attempt of the loop: of `pytest` and of the generator, and of no audit.
_IN_LOOP: Final = """
SELECT attempts.id AS attempt_id, attempts.time, attempts.path, attempts.candidate_id, attempts.fingerprint,
    attempts.content_id, attempts.round_id, rounds.number, rounds.domain, candidates.twin_key, outcomes.outcome,
    outcomes.gate, outcomes.reason,
    (SELECT verdict FROM gates WHERE attempt_id = attempts.id AND gate = 'verify' ORDER BY time DESC LIMIT 1) AS verify
FROM attempts JOIN runs ON runs.id = attempts.run_id LEFT JOIN rounds ON rounds.id = attempts.round_id
LEFT JOIN candidates ON candidates.id = attempts.content_id LEFT JOIN outcomes ON outcomes.attempt_id = attempts.id
WHERE runs.audit IS NULL ORDER BY attempts.time, attempts.rowid
"""
# The verdicts of an audit: the newest of each candidate counts, and what failed by machinery is none.
_AUDITED: Final = """
SELECT attempts.id AS attempt_id, attempts.path, attempts.candidate_id, attempts.fingerprint, attempts.content_id,
    candidates.twin_key, outcomes.time, outcomes.outcome, outcomes.gate, outcomes.reason
FROM outcomes JOIN attempts ON attempts.id = outcomes.attempt_id JOIN runs ON runs.id = attempts.run_id
JOIN candidates ON candidates.id = attempts.content_id
WHERE runs.audit = ? AND outcomes.outcome <> 'error' ORDER BY outcomes.time, outcomes.rowid
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One candidate of the record: what came of a round of a generator, or a file by its content.

    Attributes:
        path: Its file, as shown to people; there may be none any more.
        id: Its id; empty where the file could not be read as a candidate.
        fingerprint: Its fingerprint; empty likewise.
        twin_key: What it shares with exact duplicates; empty likewise.
        content_id: Its row in `candidates`; empty likewise.
        round: Number of its round; None if no generator proposed it.
        domain: The domain whose rounds are counted; empty likewise.
        time: When it was first attempted.
        standing: Where its latest attempt with a verdict of local verification has left it.
        accepted: Whether its latest attempt that ended in acceptance or not was accepted.
        attempt: Key of the attempt that says what has become of it: that latest one; where there is none, the latest
            that passed what was asked of it, else the latest of all.
        outcome: Of that attempt; empty if it came to no end.
        gate: Where it ended.
        reason: Why.
    """

    path: str
    id: str
    fingerprint: str
    twin_key: str
    content_id: str
    round: int | None = None
    domain: str = ""
    time: str = ""
    standing: Standing = "unknown"
    accepted: bool = False
    attempt: str = ""
    outcome: str = ""
    gate: str = ""
    reason: str = ""


def in_loop(store: Store) -> list[Recorded]:
    """All candidates of the loop: those of rounds by number, then the others as they came.

    A round is a candidate of its own, even if it repeats another one. Any other attempt belongs to the candidate of
    its fingerprint, or of its path if it could not be read; so a file that was judged again counts once.
    """
    rows = store.query(_IN_LOOP)
    owners: dict[str, str] = {}  # fingerprint -> the round that proposed it first
    for row in sorted((row for row in rows if row["round_id"]), key=lambda row: (row["number"] or 0, row["time"])):
        if row["fingerprint"]:
            owners.setdefault(row["fingerprint"], row["round_id"])
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        fingerprint = row["fingerprint"]
        key = row["round_id"] or owners.get(fingerprint) or fingerprint or row["path"]
        groups.setdefault(key, []).append(row)
    found = [_recorded(group) for group in groups.values()]
    return sorted(found, key=lambda one: (one.round is None, one.round or 0, one.time, one.path))


def _recorded(attempts: Sequence[Mapping[str, Any]]) -> Recorded:
    """One candidate, by its attempts in their order."""
    standings = [(row, standing) for row in attempts if (standing := _standing(row)) != "unknown"]
    row, standing = standings[-1] if standings else (attempts[-1], "unknown")
    ends = [each for each in attempts if each["outcome"] in ("accepted", "rejected", "review")]
    end = (ends or [each for each in attempts if each["outcome"] == "provisional"] or attempts)[-1]
    numbered = next((each for each in attempts if each["number"] is not None), None)
    return dataclasses.replace(
        _named(row),
        round=None if numbered is None else numbered["number"],
        domain="" if numbered is None else numbered["domain"],
        time=attempts[0]["time"],
        standing=standing,
        accepted=end["outcome"] == "accepted",
        attempt=end["attempt_id"],
        outcome=end["outcome"] or "",
        gate=end["gate"] or "",
        reason=end["reason"] or "",
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    rejected = row["outcome"] == "rejected"
    if rejected and row["gate"] == _CHECK:
        return "refused"
    if row["verify"] == "passed":
        return "verified"
    return "failed" if rejected and row["gate"] in _LOCAL else "unknown"


def audited(store: Store, name: str) -> dict[str, Mapping[str, Any]]:
    """The verdicts of an audit: fingerprint -> the row of the newest one."""
    return {row["fingerprint"]: row for row in store.query(_AUDITED, [name])}


def find_pool(store: Store, what: str) -> list[Recorded]:
    """The candidates that an audit is to look at.

    Args:
        store: The database.
        what: `verified`: those that have passed gate verify in the loop, whatever came of them then. `accepted`: those
            that were accepted. `audit:NAME,NAME`: those that earlier audits have passed, each of them.

    Raises:
        AuditError: There is no such pool.
    """
    if what.startswith(AUDIT):
        return _passed_by([name.strip() for name in what.removeprefix(AUDIT).split(",")], store)
    if what == VERIFIED:
        return [one for one in in_loop(store) if one.standing == "verified"]
    if what == ACCEPTED:
        return [one for one in in_loop(store) if one.accepted]
    raise AuditError(f"`{what}` is not a pool: give {VERIFIED}, {ACCEPTED} or {AUDIT}NAME")


def _passed_by(audits: Sequence[str], store: Store) -> list[Recorded]:
    for name in audits:
        if name not in known_audits(store):
            raise AuditError(no_audit(store, name))
    passed = [
        {fingerprint: row for fingerprint, row in audited(store, name).items() if row["outcome"] in PASSED}
        for name in audits
    ]
    common = {key: row for key, row in passed[0].items() if all(key in others for others in passed[1:])}
    found = [one for one in in_loop(store) if one.fingerprint in common]
    # An audit by `pytest` may have judged what the loop has not.
    known = {one.fingerprint for one in found}
    others = [_named(row) for fingerprint, row in common.items() if fingerprint not in known]
    return found + sorted(others, key=lambda one: (one.path, one.fingerprint))


def no_audit(store: Store, name: str) -> str:
    """What to say of an audit that is not there."""
    known = ", ".join(f"`{each}`" for each in known_audits(store))
    return f"the database {store.path} holds no audit `{name}`; it holds {known or 'none'}"


def _named(row: Mapping[str, Any]) -> Recorded:
    return Recorded(
        path=row["path"],
        id=row["candidate_id"] or "",
        fingerprint=row["fingerprint"] or "",
        twin_key=row["twin_key"] or "",
        content_id=row["content_id"] or "",
    )


def read_candidates(store: Store, pool: Sequence[Recorded], root: Path) -> list[Candidate]:
    """The candidates themselves, each content once, as the database has them: files may have changed or gone.

    Args:
        store: The database.
        pool: Which.
        root: Directory that recorded paths are relative to.
    """
    rows = store.query(
        "SELECT id, content FROM candidates WHERE id IN (SELECT value FROM json_each(?))",
        [json.dumps([one.content_id for one in pool])],
    )
    contents = {row["id"]: json.loads(row["content"]) for row in rows}
    first = {one.fingerprint: one for one in reversed(pool)}
    return [_candidate(contents[one.content_id], root / one.path) for one in reversed(first.values())]


def _candidate(content: Mapping[str, Any], path: Path) -> Candidate:
    return Candidate(**{**content, "tags": tuple(content["tags"])}, path=path)
