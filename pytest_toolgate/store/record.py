"""The whole record of one attempt, put together from the database."""

import json
from typing import Any

from .database import Store, StoreError

# Columns that hold JSON.
_JSON = frozenset(
    {"settings", "environment", "used", "transcript", "warnings", "gates", "machine", "content", "request"}
)


def read_record(store: Store, attempt_id: str) -> dict[str, Any]:
    """Everything known about one attempt.

    Returns:
        `item` (the candidate's content, None when its file could not be read), `fingerprint`, `twin_key`, and
        `record`: run, gates, script runs, replies and agent runs, the reused ones included.

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
            "cues": _rows(store, "SELECT * FROM cues WHERE attempt_id = ? ORDER BY cue", attempt_id),
            "replies": _used(store, "replies", "reply", attempt_id),
            "agent_runs": _used(store, "agent_runs", "agent_run", attempt_id),
        },
    }


def _rows(store: Store, sql: str, key: str) -> list[dict[str, Any]]:
    return [
        {name: json.loads(value) if name in _JSON and isinstance(value, str) else value for name, value in row.items()}
        for row in store.query(sql, [key])
    ]


def _used(store: Store, table: str, kind: str, attempt_id: str) -> list[dict[str, Any]]:
    sql = (
        f"SELECT {table}.*, uses.reused FROM uses JOIN {table} ON {table}.id = uses.used_id "
        f"WHERE uses.attempt_id = ? AND uses.kind = '{kind}' ORDER BY uses.time"
    )
    return _rows(store, sql, attempt_id)
