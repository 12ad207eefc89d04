"""What every stage took: time, tokens and money. What nobody knows is unknown, never 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..store import Store

# Each row is one call or run that was really made, whoever used it again. A failed call costs nothing that is unknown.
_MONEY: Final = (
    "count(*) AS calls, {seconds} AS seconds, sum(input_tokens) AS input, sum(output_tokens) AS output, "
    "sum(status <> 'failed' AND (input_tokens IS NULL OR output_tokens IS NULL)) AS uncounted, "
    "sum(cost) AS usd, sum(cost IS NULL AND status <> 'failed') AS unpriced"
)
_OWN: Final = (
    "count(*) AS calls, sum({seconds}) AS seconds, NULL AS input, NULL AS output, 0 AS uncounted, NULL AS usd, "
    "{unpriced} AS unpriced"
)
# An agent that asked models of which there is no row of their own: what it paid is in nobody's books.
_UNSEEN: Final = "sum(turns > 0 AND cost IS NULL AND {key} NOT IN (SELECT attempt_id FROM agent_replies))"
_STAGES: Final = f"""
SELECT 1 AS place, NULL AS audit, 'generate' AS stage,
    {_OWN.format(seconds="wall", unpriced=_UNSEEN.format(key="round_id"))} FROM proposals
UNION ALL
SELECT 1, NULL, 'generate: model calls', {_MONEY.format(seconds="sum(latency)")} FROM agent_replies
    WHERE attempt_id IN (SELECT id FROM rounds)
UNION ALL
SELECT 2, audit, 'verify', {_OWN.format(seconds="script_runs.wall", unpriced=0)} FROM script_runs
    JOIN attempts ON attempts.id = attempt_id JOIN runs ON runs.id = run_id GROUP BY audit
UNION ALL
SELECT 3, audit, 'check: ' || name, {_OWN.format(seconds="checks.seconds", unpriced=0)} FROM checks
    JOIN attempts ON attempts.id = attempt_id JOIN runs ON runs.id = run_id GROUP BY audit, name
UNION ALL
SELECT 4, audit, 'screen: ' || screen, {_MONEY.format(seconds="sum(latency)")} FROM replies
    JOIN runs ON runs.id = run_id GROUP BY audit, screen
UNION ALL
SELECT 5, audit, 'solve: ' || coalesce(solver, agent) || iif(control, ' without software', ''),
    {_OWN.format(seconds="wall", unpriced=_UNSEEN.format(key="attempt_id"))}
    FROM agent_runs JOIN runs ON runs.id = run_id GROUP BY audit, 3
UNION ALL
SELECT 5, audit, 'solve: ' || coalesce(solver, 'agent') || iif(control, ' without software', '') || ': model calls',
    {_MONEY.format(seconds="sum(latency)")} FROM agent_replies JOIN runs ON runs.id = run_id
    WHERE attempt_id NOT IN (SELECT id FROM rounds) GROUP BY audit, 3
UNION ALL
SELECT 6, audit, 'preflights', {_MONEY.format(seconds="sum(latency)")} FROM preflights
    JOIN runs ON runs.id = run_id GROUP BY audit
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of work, in the loop or in an audit.

    Attributes:
        name: Of the stage.
        audit: Name of the audit; None of the loop.
        calls: How many calls or runs were made.
        seconds: How long they took, each for itself.
        input_tokens: What is known of them; None where nothing is, or where there are no tokens.
        output_tokens: Likewise.
        uncounted: Calls that brought a reply and said nothing of their tokens.
        usd: What is known; None where nothing is, or where nothing is paid.
        unpriced: Calls that brought a reply and whose price nobody knows.
    """

    name: str
    audit: str | None
    calls: int
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    uncounted: int
    usd: float | None
    unpriced: int

    def plain(self) -> dict[str, Any]:
        """As JSON types: `usd` is null where any price is unknown, and `usd_known` is what is known."""
        return {
            "stage": self.name,
            "audit": self.audit,
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "hours": round(self.seconds / 3600, 2),
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "calls_without_token_counts": self.uncounted,
            "usd": None if self.unpriced or self.usd is None else round(self.usd, 6),
            "usd_known": None if self.usd is None else round(self.usd, 6),
            "calls_of_unknown_price": self.unpriced,
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """All stages, and what the loop's come to for each accepted item.

    Attributes:
        stages: In the order of the loop, then by audit.
        accepted: How many items were accepted.
    """

    stages: tuple[Stage, ...]
    accepted: int

    @property
    def loop(self) -> Stage:
        """The stages of the loop together; an agent's model calls are part of its time, and not counted twice."""
        return total("the loop", [stage for stage in self.stages if stage.audit is None])

    @property
    def audits(self) -> Stage:
        """Those of all audits together."""
        return total("all audits", [stage for stage in self.stages if stage.audit is not None])

    def per_item(self) -> dict[str, Any]:
        """What the loop has taken for each accepted item; everything is null where none was accepted."""
        all_of_it, accepted = self.loop.plain(), self.accepted
        return {
            "accepted": accepted,
            "unknown": bool(all_of_it["calls_of_unknown_price"]),
            **{
                name: round(value / accepted, 6) if accepted and value is not None else None
                for name in ("seconds", "input_tokens", "output_tokens", "usd", "usd_known")
                for value in (all_of_it[name],)
            },
        }

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "stages": [stage.plain() for stage in self.stages],
            "loop": self.loop.plain(),
            "audits": self.audits.plain(),
            "per_accepted_item": self.per_item(),
        }


def read_costs(store: Store, accepted: int) -> Costs:
    """What every stage has taken.

    Args:
        store: The database.
        accepted: How many items were accepted.
    """
    rows = store.query(f"SELECT * FROM ({_STAGES}) WHERE calls > 0 ORDER BY audit IS NOT NULL, audit, place, stage")
    stages = [
        Stage(
            row["stage"], row["audit"], row["calls"], row["seconds"] or 0.0, row["input"], row["output"],
            row["uncounted"] or 0, row["usd"], row["unpriced"] or 0,
        )
        for row in rows
    ]  # fmt: skip
    return Costs(tuple(stages), accepted)


def total(name: str, stages: Sequence[Stage]) -> Stage:
    """Stages together. Model calls of agents are part of the agents' time."""
    return Stage(
        name,
        None,
        sum(stage.calls for stage in stages),
        sum(stage.seconds for stage in stages if not stage.name.endswith(": model calls")),
        _sum([stage.input_tokens for stage in stages]),
        _sum([stage.output_tokens for stage in stages]),
        sum(stage.uncounted for stage in stages),
        _sum([stage.usd for stage in stages]),
        sum(stage.unpriced for stage in stages),
    )


def _sum[Number: (int, float)](values: Sequence[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
