"""Every candidate that was not accepted, with its reason and what shows it; read in a few queries for all of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..candidate.model import LETTERS
from ..store import Store
from .cases import Cases

MOST_ITEMS: Final = 5000
"""Candidates whose evidence is listed."""
_MOST_LINES: Final = 24
# Evidence is cut where it is read: texts are strangers', and some are huge.
_QUERIES: Final[Mapping[str, str]] = {
    "gates": "SELECT attempt_id, gate, verdict, reason, substr(sentence, 1, 2000) AS sentence, "
    "length(sentence) AS long, substr(warnings, 1, 2000) AS warnings FROM gates WHERE {chosen} ORDER BY time",
    "script_runs": "SELECT attempt_id, number, ended, exit_code, substr(answer, 1, 200) AS answer, matched, wall, "
    "substr(stdout, -600) AS stdout, substr(stderr, -600) AS stderr, length(stdout) AS out_long, "
    "length(stderr) AS err_long FROM script_runs WHERE {chosen} ORDER BY time",
    "checks": "SELECT attempt_id, name, verdict, substr(sentence, 1, 1000) AS sentence, "
    "substr(evidence, 1, 1000) AS evidence FROM checks WHERE {chosen} ORDER BY time",
    "replies": "SELECT uses.attempt_id, screen, model_asked, call_index, presentation, status, chosen, "
    "substr(value, 1, 120) AS value, coalesce(uses.correct, replies.correct) AS correct, substr(note, 1, 300) AS note "
    "FROM uses CROSS JOIN replies ON replies.id = used_id WHERE kind = 'reply' AND uses.{chosen} "
    "ORDER BY screen, call_index",
    "agent_runs": "SELECT uses.attempt_id, coalesce(solver, agent) AS solver, control, reason, "
    "substr(note, 1, 600) AS note, substr(answer, 1, 200) AS answer, chosen, uses.correct, wall "
    "FROM uses CROSS JOIN agent_runs ON agent_runs.id = used_id WHERE kind = 'agent_run' AND uses.{chosen} "
    "ORDER BY uses.time",
    "outcomes": "SELECT attempt_id, outcome, gate, reason, substr(sentence, 1, 2000) AS sentence FROM outcomes "
    "WHERE {chosen} ORDER BY time",
}
_CHOSEN: Final = "attempt_id IN (SELECT value FROM json_each(:ids))"
_QUESTIONS: Final = """
SELECT id, substr(json_extract(content, '$.question'), 1, 1500) AS question,
    length(json_extract(content, '$.question')) AS long
FROM candidates WHERE id IN (SELECT value FROM json_each(:ids))
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate of the loop, with what there is to show of it.

    Attributes:
        id: Its id, or its path where it has none.
        path: Its file.
        round: Its round, if a generator proposed it.
        attempt: Key of the attempt that counts.
        outcome: Of that attempt; `unfinished` if it came to no end.
        gate: Where it ended; empty likewise.
        reason: Why.
        sentence: Why, in words.
        question: The beginning of its question.
        evidence: Lines that show it: kind and text.
    """

    id: str
    path: str
    round: int | None
    attempt: str
    outcome: str
    gate: str
    reason: str
    sentence: str
    question: str
    evidence: tuple[tuple[str, str], ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON types, without the evidence."""
        return {
            "id": self.id,
            "path": self.path,
            "round": self.round,
            "attempt": self.attempt,
            "outcome": self.outcome,
            "gate": self.gate,
            "reason": self.reason,
            "sentence": self.sentence,
        }


def read_items(store: Store, cases: Cases) -> tuple[Item, ...]:
    """All candidates of the loop in their order; those not accepted, up to `MOST_ITEMS`, with evidence."""
    loop = cases.loop
    lost = [one for one in loop if not one.accepted][:MOST_ITEMS]
    rows = _rows(store, [one.attempt for one in lost])
    # What is said of one that is beyond the limit, or of one that was accepted.
    ends = {row["attempt_id"]: row for row in store.query(_QUERIES["outcomes"].format(chosen=_CHOSEN), {
        "ids": json.dumps([one.attempt for one in loop])
    })}  # fmt: skip
    ids = json.dumps([one.content_id for one in (*lost, *(one for one in loop if one.accepted)) if one.content_id])
    questions = {row["id"]: _cut(row["question"], row["long"]) for row in store.query(_QUESTIONS, {"ids": ids})}
    audits = _audits(cases)
    found = []
    for number, one in enumerate(loop):
        end = ends.get(one.attempt, {})
        evidence = (*_evidence(rows.get(one.attempt, {})), *audits.get(number, ()))
        found.append(
            Item(
                one.id or one.path, one.path, one.round, one.attempt, one.outcome or "unfinished", one.gate, one.reason,
                end.get("sentence") or "", questions.get(one.content_id, ""), evidence,
            )
        )  # fmt: skip
    return tuple(found)


def _rows(store: Store, attempts: Sequence[str]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Attempt -> table -> rows."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for table, sql in _QUERIES.items():
        if table != "outcomes":
            for row in store.query(sql.format(chosen=_CHOSEN), {"ids": json.dumps(attempts)}):
                found.setdefault(row["attempt_id"], {}).setdefault(table, []).append(row)
    return found


def _audits(cases: Cases) -> dict[int, list[tuple[str, str]]]:
    """Number of a candidate -> what audits said of it."""
    found: dict[int, list[tuple[str, str]]] = {}
    for judged in cases.judged:
        if judged.audit:
            told = " ".join(filter(None, (judged.outcome, "at", judged.gate, judged.reason)))
            for number in judged.cases:
                found.setdefault(number, []).append((f"audit {judged.audit}", told))
    return found


def _evidence(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    lines = [line for table in _TELLERS for row in rows.get(table, ()) for line in _TELLERS[table](row)]
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield "cut", f"{len(lines) - _MOST_LINES} further lines are in the record"


def _gate(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if row["sentence"]:
        yield f"gate {row['gate']}", _cut(row["sentence"], row["long"])
    if row["warnings"] not in ("[]", ""):
        yield f"warnings at {row['gate']}", row["warnings"]


def _script(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    answer = "no answer line" if row["answer"] is None else f"answered `{row['answer']}`"
    matched = f", which is option {row['matched']}" if row["matched"] else ""
    code = "" if row["exit_code"] is None else f" with exit code {row['exit_code']}"
    yield f"script run {row['number'] + 1}", f"{row['ended']}{code} after {row['wall']:.1f} s, {answer}{matched}"
    for name, long in (("stdout", "out_long"), ("stderr", "err_long")):
        if row[name].strip():
            yield f"{name} of run {row['number'] + 1}", ("... " if row[long] > 600 else "") + row[name]


def _check(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if row["verdict"] != "passed":
        yield f"check {row['name']}: {row['verdict']}", f"{row['sentence']}\n{row['evidence']}".strip()


def _reply(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = f"screen {row['screen']}, call {row['call_index'] + 1}"
    if row["status"] != "answered":
        yield name, f"{row['status']}: {row['note']}"
        return
    place = row["presentation"].find(row["chosen"]) if row["chosen"] else -1
    shown = f"{LETTERS[place]}, which is option {row['chosen']}" if place >= 0 else "a value"
    yield name, f"{'right' if row['correct'] else 'wrong'}: chose {shown}: {row['value'] or ''}"


def _agent(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = f"solver {row['solver']}{' without software' if row['control'] else ''}"
    ending = {1: "solved", 0: row["reason"] or "not solved"}.get(row["correct"], f"no verdict: {row['reason']}")
    answer = "" if row["answer"] is None else f", answer.txt holds `{row['answer']}`"
    yield name, f"{ending} after {row['wall']:.1f} s{answer}" + (f": {row['note']}" if row["note"] else "")


_TELLERS: Final = {"gates": _gate, "script_runs": _script, "checks": _check, "replies": _reply, "agent_runs": _agent}


def _cut(text: str, length: int) -> str:
    return text if length <= len(text) else f"{text} ... ({length} characters in all)"
