"""What has been paid for already."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .database import Store


def reuse_key(**parts: Any) -> str:  # noqa: ANN401 - any JSON type
    """The key under which equal work is found again."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def answered_replies(store: Store, keys: Sequence[str], run_id: str | None = None) -> Mapping[str, dict[str, Any]]:
    """Key -> the first answered reply recorded under it, by one run if it is named.

    Anything but an answer is asked again.
    """
    marks = ", ".join("?" * len(keys))
    rows = store.query(
        f"SELECT * FROM replies WHERE reuse_key IN ({marks}) AND status = 'answered' "
        "AND run_id = coalesce(?, run_id) ORDER BY time",
        [*keys, run_id],
    )
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["reuse_key"], row)
    return first


def judged_agent_run(store: Store, key: str) -> dict[str, Any] | None:
    """The first agent run under a key that ended in a verdict, or None."""
    rows = store.query(
        "SELECT * FROM agent_runs WHERE reuse_key = ? AND outcome IN ('passed', 'review') ORDER BY time LIMIT 1",
        [key],
    )
    return rows[0] if rows else None
