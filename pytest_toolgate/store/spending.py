"""What the calls of a run have cost so far."""

from dataclasses import dataclass

from .database import Store


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of some calls.

    Attributes:
        usd: What they are known to have cost.
        unknown: Calls that brought a reply and whose cost nobody knows, which is not the same as nothing.
    """

    usd: float
    unknown: int


def spent(store: Store, run_id: str, attempt_id: str | None = None) -> Spent:
    """What the calls of a run, or of one of its attempts, have cost."""
    # What a preflight costs is spent for the run, and for no candidate.
    preflights = "" if attempt_id else "UNION ALL SELECT cost, status FROM preflights WHERE run_id = :run "
    # A candidate that was begun again, after a process had died over it, has several attempts in the run.
    # One that a generator has proposed has its round as well, whose calls are recorded under the round's key.
    same = "SELECT path FROM attempts WHERE id = :attempt OR round_id = :attempt"
    twins = (
        f"SELECT id FROM attempts WHERE run_id = :run AND path IN ({same}) UNION "
        f"SELECT round_id FROM attempts WHERE run_id = :run AND path IN ({same})"
    )
    where = "run_id = :run" + ("" if attempt_id is None else f" AND (attempt_id = :attempt OR attempt_id IN ({twins}))")
    rows = store.query(
        "SELECT total(cost) AS usd, coalesce(sum(cost IS NULL AND status <> 'failed'), 0) AS unknown FROM "
        f"(SELECT cost, status FROM replies WHERE {where} "
        f"UNION ALL SELECT cost, status FROM agent_replies WHERE {where} {preflights})",
        {"run": run_id, "attempt": attempt_id},
    )
    return Spent(rows[0]["usd"], rows[0]["unknown"])


def dearest_call(
    store: Store, run_id: str, provider: str, model: str, reasoning: str | None, max_output_tokens: int | None
) -> float | None:
    """The highest cost of one call of a run to a model at a setting so far; None while none is known."""
    to_model = "run_id = :run AND provider = :provider AND model_asked = :model"
    rows = store.query(
        f"SELECT max(cost) AS usd FROM (SELECT cost FROM replies WHERE {to_model} "
        "AND json_extract(settings, '$.reasoning') IS :reasoning "
        "AND json_extract(settings, '$.max_output_tokens') IS :cap "
        f"UNION ALL SELECT cost FROM agent_replies WHERE {to_model} AND status <> 'abandoned')",  # that is a guess
        {"run": run_id, "provider": provider, "model": model, "reasoning": reasoning, "cap": max_output_tokens},
    )
    usd: float | None = rows[0]["usd"]
    return usd
