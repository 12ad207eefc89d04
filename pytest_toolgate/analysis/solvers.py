"""What the solvers came to, over the attempts that count."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..store import Store
from .cases import LOOP, Cases
from .intervals import Share
from .screens import unique_names

# Of an attempt with several runs of one solver, the last one counts.
_RUNS: Final = """
WITH chosen AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS attempt, json_extract(value, '$[1]') AS place FROM json_each(:chosen)
), ran AS (
    SELECT chosen.place, coalesce(runs.audit, '') AS audit, coalesce(agent_runs.solver, agent_runs.agent) AS solver,
        json_extract(agent_runs.settings, '$.model') AS model,
        json_extract(agent_runs.settings, '$.reasoning') AS reasoning, agent_runs.control, agent_runs.reason,
        uses.correct AS solved, max(uses.time)
    FROM chosen CROSS JOIN attempts ON attempts.id = chosen.attempt JOIN runs ON runs.id = attempts.run_id
    CROSS JOIN uses ON uses.attempt_id = chosen.attempt AND uses.kind = 'agent_run'
    CROSS JOIN agent_runs ON agent_runs.id = uses.used_id
    GROUP BY place, solver, agent_runs.control
)
SELECT audit, solver, model, reasoning, control, solved, reason, group_concat(place) AS places
FROM ran GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
_Key = tuple[str, str, str, str | None, bool]


@dataclass(frozen=True, slots=True)
class Solver:
    """One solver, in the loop or in an audit, or its control runs.

    Attributes:
        name: What it is called here; no other solver is called so.
        audit: The audit that asked it; `LOOP` if it is of the loop.
        model: Its model.
        reasoning: The setting; None where it was left out.
        control: Whether these are the control runs, without the software.
        verdicts: Number of a candidate -> whether it solved it, where that is known.
        failures: Reason -> how many candidates it did not solve for it.
        unknown: How many candidates have no verdict, since machinery failed.
    """

    name: str
    audit: str
    model: str
    reasoning: str | None
    control: bool
    verdicts: Mapping[int, bool]
    failures: Mapping[str, int]
    unknown: int

    @property
    def solved(self) -> Share:
        """Of the candidates with a verdict, how many it solved."""
        return Share(sum(self.verdicts.values()), len(self.verdicts))

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "solver": self.name,
            "audit": self.audit or None,
            "model": self.model,
            "reasoning": self.reasoning,
            "control": self.control,
            "solved": self.solved.plain(),
            "failures": dict(self.failures),
            "without_verdict": self.unknown,
        }


def read_solvers(store: Store, cases: Cases) -> tuple[Solver, ...]:
    """All solvers that ran, those of the loop first, then by audit."""
    verdicts: dict[_Key, dict[int, bool]] = {}
    failures: dict[_Key, Counter[str]] = {}
    unknown: Counter[_Key] = Counter()
    for row in store.query(_RUNS, {"chosen": cases.chosen()}):
        key = row["audit"], row["solver"], row["model"] or "", row["reasoning"], bool(row["control"])
        numbers = cases.numbers(row["places"])
        known, lost = verdicts.setdefault(key, {}), failures.setdefault(key, Counter())
        if row["solved"] is None:
            unknown[key] += len(numbers)
            continue
        known.update(dict.fromkeys(numbers, bool(row["solved"])))
        if not row["solved"]:
            # A reused run was judged again, and the record names no reason of its own for that.
            lost[row["reason"] or "wrong"] += len(numbers)
    order = {audit: place for place, audit in enumerate((LOOP, *cases.audits))}
    keys = sorted(verdicts, key=lambda key: (order[key[0]], *map(str, key)))
    own = [(key[0], f"{key[1]} without software" if key[4] else key[1], key[2], key[3]) for key in keys]
    return tuple(
        Solver(
            name, key[0], *key[2:], dict(sorted(verdicts[key].items())), dict(failures[key].most_common()), unknown[key]
        )
        for key, name in zip(keys, unique_names(own), strict=True)
    )
