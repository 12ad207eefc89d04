"""Which candidates become items, and which attempts are the evidence for them."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..audit.pool import ACCEPTED, AUDIT, PASSED, Recorded, audited, find_pool, in_loop
from ..audit.table import deduplicated, reported_pool
from ..store import Store

_ATTEMPTS: Final = """
SELECT attempts.id, attempts.path, attempts.fingerprint, attempts.content_id, attempts.time, runs.audit,
    outcomes.outcome, outcomes.time AS ended,
    (SELECT verdict FROM gates WHERE attempt_id = attempts.id AND gate = 'verify' ORDER BY time DESC LIMIT 1) AS verify
FROM attempts JOIN runs ON runs.id = attempts.run_id JOIN outcomes ON outcomes.attempt_id = attempts.id
WHERE attempts.fingerprint IS NOT NULL ORDER BY outcomes.time, outcomes.rowid
"""
CHANGED: Final = "their files were changed since, and a later version was judged"
UNVERIFIED: Final = "no script run on record has reproduced the answer"
REFUSED: Final = "local verification or an extra check has rejected them since"
TWINS: Final = "exact duplicates of another item"
_ID: Final = re.compile(r"[a-z0-9_-]+")


class ReleaseError(Exception):
    """There is nothing that could be released, as one sentence."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One candidate that becomes an item.

    Attributes:
        candidate: It.
        id: Its id in the release.
        content_id: Its content, as it was verified.
        attempts: Keys of the attempts that are its record: that which verified it first, then one of each audit.
    """

    candidate: Recorded
    id: str
    content_id: str
    attempts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What becomes an item.

    Attributes:
        pool: How they were chosen, in words.
        audits: Names of the audits that counted.
        chosen: They, by id.
        left_out: Why others of the pool are none -> how many.
    """

    pool: str
    audits: tuple[str, ...]
    chosen: tuple[Chosen, ...]
    left_out: Mapping[str, int]


def select(store: Store, pool: str = ACCEPTED, audits: Sequence[str] = ()) -> Selection:
    """Choose the items of a release.

    Args:
        store: The database.
        pool: `accepted`, or `audit:NAME,NAME` for those that all of these audits have passed.
        audits: Names of audits, for the reported pool; then `pool` does not count.

    Raises:
        AuditError: There is no such audit.
        ReleaseError: There is no such pool.
    """
    if audits:
        names, words = tuple(audits), f"the reported pool by the audits {', '.join(audits)}"
        found: Sequence[Recorded] = reported_pool(store, audits).pool
    elif pool == ACCEPTED:
        names, words = (), "accepted candidates"
        found = find_pool(store, ACCEPTED)
    elif pool.startswith(AUDIT):
        names = tuple(name.strip() for name in pool.removeprefix(AUDIT).split(","))
        words = f"candidates that the audits {', '.join(names)} have passed"
        found = find_pool(store, pool)
    else:
        raise ReleaseError(f"`{pool}` cannot be released: give {ACCEPTED} or {AUDIT}NAME, or name audits by --audits")
    return _selected(store, found, names, words, loop_decides=not names)


def _selected(
    store: Store, found: Sequence[Recorded], audits: tuple[str, ...], words: str, *, loop_decides: bool
) -> Selection:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    newest: dict[str, str] = {}
    for row in store.query(_ATTEMPTS):
        rows.setdefault(row["fingerprint"], []).append(row)
        if row["audit"] is None and row["outcome"] != "error":
            newest[row["path"]] = row["fingerprint"]
    refused = {one.fingerprint for one in in_loop(store) if one.standing in ("failed", "refused")}
    verdicts = [audited(store, name) for name in audits]
    left_out: Counter[str] = Counter()
    fit: dict[Recorded, tuple[str, tuple[str, ...]]] = {}
    for one in found:
        if one.fingerprint in refused:
            left_out[REFUSED] += 1
        elif one.round is None and newest.get(one.path, one.fingerprint) != one.fingerprint:
            left_out[CHANGED] += 1
        elif (evidence := _evidence(rows.get(one.fingerprint, ()), loop_decides)) is None:
            left_out[UNVERIFIED] += 1
        else:
            counted = [verdict.get(one.fingerprint) for verdict in verdicts]
            of_audits = _of_audits(rows[one.fingerprint], audits, counted, evidence["id"])
            fit[one] = evidence["content_id"], (evidence["id"], *of_audits)
    stage = deduplicated(list(fit))
    if stage.removed:
        left_out[TWINS] = len(stage.removed)
    ids = _ids(stage.out)
    chosen = [Chosen(one, ids[one.fingerprint], *fit[one]) for one in stage.out]
    return Selection(words, audits, tuple(sorted(chosen, key=lambda each: each.id)), dict(left_out))


def _evidence(rows: Sequence[Mapping[str, Any]], loop_decides: bool) -> Mapping[str, Any] | None:
    """The newest attempt that has verified it: one that was accepted, if that is what counts, else the best of all."""
    own = [row for row in rows if row["verify"] == "passed"]
    if loop_decides:
        own = [row for row in own if row["audit"] is None and row["outcome"] == ACCEPTED]
    best = [row for row in own if row["audit"] is None and row["outcome"] != "error"]
    found = best or own
    return found[-1] if found else None


def _of_audits(
    rows: Sequence[Mapping[str, Any]],
    audits: Sequence[str],
    counted: Sequence[Mapping[str, Any] | None],
    known: str,
) -> tuple[str, ...]:
    """The attempt of each audit that was its verdict, by the time of that verdict."""
    found = []
    for name, verdict in zip(audits, counted, strict=True):
        ends = [row for row in rows if row["audit"] == name and row["outcome"] in PASSED]
        of_audit = [row["id"] for row in ends if verdict is not None and row["ended"] == verdict["time"]]
        found += [key for key in of_audit[-1:] if key != known]
    return tuple(found)


def _ids(chosen: Collection[Recorded]) -> Mapping[str, str]:
    """Fingerprint -> id. An id that several have is told apart by their fingerprints."""
    shared = Counter(one.id for one in chosen)
    return {
        one.fingerprint: one.id
        if shared[one.id] == 1 and _ID.fullmatch(one.id)
        else f"{_plain(one.id)}-{one.fingerprint[:12]}"
        for one in chosen
    }


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()) or "item"
