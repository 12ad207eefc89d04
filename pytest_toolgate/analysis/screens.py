"""What the screens were asked and what they chose, counted by SQLite over the attempts that count."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..store import Store
from .cases import LOOP, Cases
from .intervals import Share

Key = tuple[str, str, str, str | None, str | None]
"""Audit, screen, model, reasoning, mode."""

FEWEST_FIXED: Final = 4
"""From how many calls on it is no accident that all showed the options in their written order."""
# Each attempt that counts, with the replies that it used, whoever paid for them.
_ASKED: Final = """
WITH chosen AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS attempt, json_extract(value, '$[1]') AS place,
        json_extract(value, '$[2]') AS letter, json_extract(value, '$[3]') AS rank
    FROM json_each(:chosen)
), asked AS (
    SELECT chosen.*, attempts.run_id, coalesce(runs.audit, '') AS audit, replies.screen, replies.model_asked AS model,
        json_extract(replies.settings, '$.reasoning') AS reasoning, json_extract(replies.settings, '$.mode') AS mode,
        replies.presentation, replies.status, replies.chosen,
        replies.call_index,
        CASE replies.status WHEN 'answered' THEN coalesce(uses.correct, replies.correct) END AS correct
    FROM chosen CROSS JOIN attempts ON attempts.id = chosen.attempt JOIN runs ON runs.id = attempts.run_id
    CROSS JOIN uses ON uses.attempt_id = chosen.attempt AND uses.kind = 'reply'
    CROSS JOIN replies ON replies.id = uses.used_id
)
"""
# `presentation` names for each place the own letter of the option that stood there.
_CALLS: Final = f"""
{_ASKED}
SELECT audit, screen, model, reasoning, mode, letter, rank, instr(presentation, letter) AS stands,
    instr(presentation, chosen) AS picked, status, correct, presentation = 'ABCD' AS written, count(*) AS times
FROM asked GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
"""
# With c correct and m missing of n: c >= k is easy, c + m < k is not, and nothing else is known.
_VERDICTS: Final = f"""
{_ASKED}, counted AS (
    SELECT place, run_id, audit, screen, model, reasoning, count(DISTINCT call_index) AS calls,
        total(correct = 1) AS hits, total(correct = 0) AS misses
    FROM asked WHERE mode IS NULL GROUP BY place, screen, model, reasoning
), rules AS MATERIALIZED (
    SELECT runs.id AS run, json_extract(value, '$.name') AS name, json_extract(value, '$.samples') AS samples,
        json_extract(value, '$.reject_at') AS reject_at
    FROM runs, json_each(runs.settings, '$.screens')
), ruled AS (
    SELECT counted.*, coalesce(samples, calls) AS n, coalesce(reject_at, calls / 2 + 1) AS k
    FROM counted LEFT JOIN rules ON rules.run = counted.run_id AND rules.name = counted.screen
)
SELECT audit, screen, model, reasoning,
    CASE WHEN hits >= k THEN 1 WHEN n - misses < k THEN 0 END AS solved, group_concat(place) AS places
FROM ruled GROUP BY 1, 2, 3, 4, 5
"""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls that are alike in all that is counted.

    Attributes:
        letter: The answer's letter in the file.
        rank: Rank of the answer's value; None where it has none.
        stands: Where the answer was shown, 1 to 4.
        picked: Where the option stood that was chosen, 1 to 4; 0 where none was.
        status: Of the reply.
        correct: Whether it was right; None where nothing was answered.
        written: Whether the options stood in their written order.
        times: How many there are.
    """

    letter: str
    rank: int | None
    stands: int
    picked: int
    status: str
    correct: bool | None
    written: bool
    times: int


@dataclass(frozen=True, slots=True)
class Screen:
    """One model at one setting, in the loop or in an audit.

    Attributes:
        name: What it is called here; no other screen is called so.
        audit: The audit that asked it; `LOOP` if it is of the loop.
        model: The model that was asked.
        reasoning: The setting; None where it was left out.
        mode: `choices-only` or `question-only` for cue screens, which give no verdict.
        calls: Its calls.
        verdicts: Number of a candidate -> whether it solved it, where that is known.
        unknown: How many candidates it was asked about without a verdict.
    """

    name: str
    audit: str
    model: str
    reasoning: str | None
    mode: str | None
    calls: tuple[Calls, ...]
    verdicts: Mapping[int, bool]
    unknown: int = 0

    @property
    def is_fixed(self) -> bool:
        """Whether every call showed the options in their written order."""
        return all(one.written for one in self.calls) and sum(one.times for one in self.calls) >= FEWEST_FIXED

    @property
    def solved(self) -> Share:
        """Of the candidates with a verdict, how many it solved."""
        return Share(sum(self.verdicts.values()), len(self.verdicts))

    def plain(self) -> dict[str, Any]:
        """What it is, as JSON types."""
        statuses: dict[str, int] = {}
        for one in self.calls:
            statuses[one.status] = statuses.get(one.status, 0) + one.times
        return {
            "screen": self.name,
            "audit": self.audit or None,
            "model": self.model,
            "reasoning": self.reasoning,
            "mode": self.mode,
            "order": "fixed" if self.is_fixed else "shuffled",
            "replies": statuses,
            "solved": self.solved.plain(),
            "without_verdict": self.unknown,
        }


def read_screens(store: Store, cases: Cases) -> tuple[Screen, ...]:
    """All screens that were asked, those of the loop first, then by audit."""
    chosen = {"chosen": cases.chosen()}
    calls: dict[Key, list[Calls]] = {}
    for row in store.query(_CALLS, chosen):
        correct = None if row["correct"] is None else bool(row["correct"])
        calls.setdefault(_key(row), []).append(
            Calls(
                row["letter"], row["rank"], row["stands"], row["picked"] or 0, row["status"], correct,
                bool(row["written"]), row["times"],
            )
        )  # fmt: skip
    verdicts: dict[Key, dict[int, bool]] = {}
    unknown: dict[Key, int] = {}
    for row in store.query(_VERDICTS, chosen):
        key = _key({**row, "mode": None})
        numbers = cases.numbers(row["places"])
        if row["solved"] is None:
            unknown[key] = len(numbers)
        else:
            verdicts.setdefault(key, {}).update(dict.fromkeys(sorted(numbers), bool(row["solved"])))
    order = {audit: place for place, audit in enumerate((LOOP, *cases.audits))}
    keys = sorted(calls, key=lambda key: (order[key[0]], *map(str, key)))
    names = dict(zip(keys, unique_names([(key[0], key[1], key[2], key[3]) for key in keys]), strict=True))
    return tuple(
        Screen(names[key], key[0], *key[2:], tuple(calls[key]), verdicts.get(key, {}), unknown.get(key, 0))
        for key in keys
    )


def _key(row: Mapping[str, Any]) -> Key:
    return row["audit"], row["screen"], row["model"], row["reasoning"], row["mode"]


def unique_names(keys: list[tuple[str, str, str, str | None]]) -> Iterator[str]:
    """What to call screens or solvers so that no two are called alike.

    Args:
        keys: Audit, own name, model and reasoning of each.
    """
    short = [own if own == audit else f"{audit or 'loop'}/{own}" for audit, own, _, _ in keys]
    longer = [
        name if short.count(name) == 1 else f"{name} {key[2]} {key[3] or 'default'}"
        for name, key in zip(short, keys, strict=True)
    ]
    for place, name in enumerate(longer):
        before = longer[:place].count(name)
        yield f"{name} {before + 1}" if before else name
