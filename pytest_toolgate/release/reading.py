"""A release, put together from the database."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..audit.pool import PASSED, audited
from ..candidate.model import LETTERS, presented_hash
from ..candidate.presentation import Presentation, draw
from ..store import Store
from ..store.record import read_record
from .items import Item, Rejected, Release, Reproduced, Review, ScriptEvidence
from .making import made
from .public import Public, of_store, writable
from .selection import Chosen, ReleaseError, select

_PURPOSE: Final = "release"
_SEEDS: Final = "SELECT seed FROM runs UNION SELECT seed FROM replies UNION SELECT seed FROM agent_runs"
_REJECTED: Final = """
SELECT attempts.id AS attempt, attempts.path, attempts.candidate_id, attempts.fingerprint, runs.audit,
    outcomes.time, outcomes.outcome, outcomes.gate, outcomes.reason, outcomes.sentence, candidates.content
FROM outcomes JOIN attempts ON attempts.id = outcomes.attempt_id JOIN runs ON runs.id = attempts.run_id
LEFT JOIN candidates ON candidates.id = attempts.content_id
WHERE outcomes.outcome IN ('rejected', 'review')
AND (runs.audit IS NULL OR runs.audit IN (SELECT value FROM json_each(?)))
ORDER BY outcomes.time, attempts.path, attempts.id
"""


def read_release(
    store: Store,
    *,
    name: str,
    licence: str,
    pool: str = "accepted",
    audits: Sequence[str] = (),
    seed: int | None = None,
    date: str | None = None,
) -> Release:
    """Everything that is published of a database.

    Args:
        store: The database.
        name: Of the release.
        licence: SPDX identifier.
        pool: See `selection.select`.
        audits: See `selection.select`.
        seed: Of the permutations; None for one that follows from the name and the items.
        date: Day of the release; None for the time of the newest verdict in it.

    Raises:
        AuditError: There is no such audit.
        ReleaseError: There is no such pool, nothing in it, or a model has seen this seed's permutations.
    """
    selection = select(store, pool, audits)
    if not selection.chosen:
        raise ReleaseError(f"there is nothing to release in {store.path}: {_why_nothing(selection.left_out)}")
    public = of_store(store)
    fresh = _seed(store, seed, [name, *(each.candidate.fingerprint for each in selection.chosen)])
    documents = {each.id: [read_record(store, key) for key in each.attempts] for each in selection.chosen}
    reviews = _reviews(store)
    items = tuple(
        _item(each, documents[each.id][0], fresh, reviews.get(each.candidate.fingerprint, ()))
        for each in selection.chosen
    )
    rejected = tuple(_rejected(store, selection.audits, public))
    times = [outcome["time"] for each in documents.values() for one in each for outcome in one["record"]["outcome"]]
    return Release(
        name=name,
        licence=licence,
        date=date or max(times)[:10],
        seed=fresh,
        pool=selection.pool,
        items=items,
        rejected=rejected,
        records={key: [_public(one, public) for one in each] for key, each in documents.items()},
        made=made([one["record"] for each in documents.values() for one in each], _recorded_seeds(store), public),
        left_out=selection.left_out,
    )


def _why_nothing(left_out: Mapping[str, int]) -> str:
    reasons = [f"{count} left out, since {reason}" for reason, count in left_out.items()]
    return "; ".join(reasons) or "the pool is empty"


def _public(document: Mapping[str, Any], public: Public) -> Mapping[str, Any]:
    """A record for everybody. The item itself stays as its author has written it."""
    rest = {name: public.value(value) for name, value in document.items() if name != "item"}
    return {"item": clean(document["item"]), **rest}


# --- items ------------------------------------------------------------------------------------------------


def _item(chosen: Chosen, document: Mapping[str, Any], seed: int, reviews: Sequence[Review]) -> Item:
    content = clean(document["item"])
    order = draw(seed, presented_hash(document["item"]["question"], document["item"]["options"]), _PURPOSE, 0)
    return Item(
        id=chosen.id,
        question=content["question"],
        options=order.show(content["options"]),
        answer=_shown(order, content["answer"]),
        solution=content["solution"],
        domain=content["domain"],
        tags=tuple(content["tags"]),
        distractors={
            letter: content["distractors"][order.original(letter)]
            for letter in LETTERS
            if order.original(letter) in content["distractors"]
        },
        presentation=str(order),
        fingerprint=chosen.candidate.fingerprint,
        reproduced=_reproduced(document["record"]["script_runs"], content),
        reviews=tuple(reviews),
    )


def _shown(order: Presentation, original: str) -> str:
    return LETTERS[order.order.index(original)]


def _reproduced(runs: Iterable[Mapping[str, Any]], content: Mapping[str, Any]) -> Reproduced:
    return Reproduced(
        tuple(
            ScriptEvidence(
                number=run["number"],
                printed=writable(run["answer"] or ""),
                value=content["options"][run["matched"]],
                python=run["environment"].get("version", ""),
                packages=dict(sorted(run["environment"].get("packages", {}).items())),
                sandbox=run["sandbox"],
                time=run["time"],
            )
            for run in runs
            if run["matched"] == content["answer"]
        )
    )


def _reviews(store: Store) -> Mapping[str, tuple[Review, ...]]:
    """Fingerprint -> the last word of each reviewer, by name."""
    found: dict[str, dict[str, Review]] = {}
    for row in store.query("SELECT * FROM reviews ORDER BY time, rowid"):
        last = Review(*(writable(row[name]) for name in ("reviewer", "verdict", "note", "time")))
        found.setdefault(row["fingerprint"], {})[last.reviewer] = last
    return {key: tuple(by_name[name] for name in sorted(by_name)) for key, by_name in found.items()}


# --- rejected attempts ------------------------------------------------------------------------------------


def _rejected(store: Store, audits: Sequence[str], public: Public) -> Iterable[Rejected]:
    """Every attempt of the loop with a verdict against it, and the newest of each audit that counts."""
    counted = {
        (name, key): row["time"]
        for name in audits
        for key, row in audited(store, name).items()
        if row["outcome"] not in PASSED
    }
    for row in store.query(_REJECTED, [json.dumps(list(audits))]):
        if row["audit"] is not None and counted.get((row["audit"], row["fingerprint"])) != row["time"]:
            continue
        yield Rejected(
            attempt=row["attempt"],
            id=row["candidate_id"] or "",
            path=public.value(row["path"]),
            outcome=row["outcome"],
            gate=row["gate"],
            reason=row["reason"],
            sentence=public.text(row["sentence"]),
            audit=row["audit"] or "",
            time=row["time"],
            content=None if row["content"] is None else clean(json.loads(row["content"])),
            fingerprint=row["fingerprint"] or "",
        )


# --- what holds for all of them ---------------------------------------------------------------------------


def _recorded_seeds(store: Store) -> tuple[int, ...]:
    return tuple(sorted(row["seed"] for row in store.query(_SEEDS)))


def _seed(store: Store, wanted: int | None, content: Sequence[str]) -> int:
    """A seed that no run, reply or agent has had."""
    seen = set(_recorded_seeds(store))
    if wanted is not None:
        if wanted in seen:
            raise ReleaseError(f"seed {wanted} has ordered the options for models already: give another one, or none")
        return wanted
    seed = int(presented_hash("\n".join(content), {})[:8], 16)
    while seed in seen:
        seed += 1
    return seed


def clean(value: Any) -> Any:  # noqa: ANN401 - any JSON type
    """JSON in characters that every encoding holds; nothing else is changed."""
    if isinstance(value, Mapping):
        return {writable(name): clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    return writable(value) if isinstance(value, str) else value


def release_name(text: str) -> str:
    """A name that fits everywhere: in file names, YAML, TOML, Python.

    Raises:
        ReleaseError: Nothing of it does.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")
    if not name or not name[0].isalpha():
        raise ReleaseError(f"`{text[:60]}` is no name for a release: begin it with a letter from a to z")
    return name
