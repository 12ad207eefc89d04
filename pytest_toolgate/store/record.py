"""The whole record of one attempt, put together from the database."""

import json
from collections.abc import Mapping
from typing import Any

from .database import Store, StoreError

# Columns that hold JSON.
_JSON = frozenset(
    (
        *("settings", "environment", "used", "called", "transcript", "warnings"),
        *("gates", "machine", "content", "request", "known"),
    )
)


def read_record(store: Store, attempt_id: str) -> dict[str, Any]:
    """Everything known about one attempt.

    Returns:
        `item` (the candidate's content, None when its file could not be read), `fingerprint`, `twin_key`, and
        `record`: run, gates, script runs, extra checks, replies and agent runs, the reused ones included, and `needed`.

    Raises:
        StoreError: There is no such attempt.
    """
    attempts = store.query("SELECT * FROM attempts WHERE id = ?", [attempt_id])
    if not attempts:
        raise StoreError(f"the database {store.path} holds no attempt `{attempt_id}`")
    attempt = attempts[0]
    contents = _rows(store, "SELECT * FROM candidates WHERE id = ?", attempt["content_id"])
    content = contents[0] if contents else {}
    runs = _rows(store, "SELECT * FROM runs WHERE id = ?", attempt["run_id"])
    for run in runs:
        run.pop("seal", None)  # nobody is to be shown it
    return {
        "item": content.get("content"),
        "fingerprint": content.get("fingerprint"),
        "twin_key": content.get("twin_key"),
        "record": {
            "attempt": attempt_id,
            "path": attempt["path"],
            "time": attempt["time"],
            "run": runs[0] if runs else None,
            "outcome": _rows(store, "SELECT * FROM outcomes WHERE attempt_id = ? ORDER BY time", attempt_id),
            "gates": _rows(store, "SELECT * FROM gates WHERE attempt_id = ? ORDER BY time", attempt_id),
            "script_runs": _rows(store, "SELECT * FROM script_runs WHERE attempt_id = ? ORDER BY time", attempt_id),
            "checks": _rows(store, "SELECT * FROM checks WHERE attempt_id = ? ORDER BY time", attempt_id),
            "cues": _rows(store, "SELECT * FROM cues WHERE attempt_id = ? ORDER BY cue", attempt_id),
            "replies": _used(store, "replies", "reply", attempt_id),
            "agent_runs": _used(store, "agent_runs", "agent_run", attempt_id),
            "generator": _generator(store, attempt["round_id"]),
            "needed": _needed(store, attempt_id, runs[0]["settings"] if runs else {}),
        },
    }


def _generator(store: Store, round_id: str | None) -> dict[str, Any] | None:
    """The round that has proposed it, with all that its generator was told and did; None if there was none."""
    if round_id is None:
        return None
    [begun] = _rows(store, "SELECT * FROM rounds WHERE id = ?", round_id)
    proposals = _rows(
        store, "SELECT *, content AS file FROM proposals WHERE round_id = ? ORDER BY time", round_id, without="content"
    )
    return {**begun, "proposals": proposals}


def _needed(store: Store, attempt_id: str, settings: Mapping[str, Any]) -> str | None:
    """Whether the software was needed: `no` if a control run solved it too, `unknown` if one that was due says nothing.

    None where no control run was due.
    """
    solvers = settings.get("solve")
    controlled = [each["name"] for each in solvers if each.get("control")] if isinstance(solvers, list) else []
    rows = store.query(
        "SELECT coalesce(solver, agent) AS solver, control, uses.correct AS solved FROM uses "
        "JOIN agent_runs ON agent_runs.id = uses.used_id WHERE uses.attempt_id = ? AND uses.kind = 'agent_run'",
        [attempt_id],
    )
    came_to = {row["solver"]: row["solved"] for row in rows if row["control"]}
    due = [row["solver"] for row in rows if not row["control"] and row["solved"] and row["solver"] in controlled]
    found = {came_to.get(solver) for solver in due}
    if not found:
        return None
    return "no" if 1 in found else "unknown" if None in found else "yes"


def _rows(store: Store, sql: str, key: str, without: str = "") -> list[dict[str, Any]]:
    return [
        {
            name: json.loads(value) if name in _JSON and isinstance(value, str) else value
            for name, value in row.items()
            if name != without
        }
        for row in store.query(sql, [key])
    ]


def _used(store: Store, table: str, kind: str, attempt_id: str) -> list[dict[str, Any]]:
    sql = (
        f"SELECT {table}.*, uses.reused FROM uses JOIN {table} ON {table}.id = uses.used_id "
        f"WHERE uses.attempt_id = ? AND uses.kind = '{kind}' ORDER BY uses.time"
    )
    return _rows(store, sql, attempt_id)
