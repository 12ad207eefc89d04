"""What has been paid for already."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .database import Store


def reuse_key(**parts: Any) -> str:  # noqa: ANN401 - any JSON type
    """The key under which equal work is found again."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def answered_replies(store: Store, key: str) -> Mapping[int, dict[str, Any]]:
    """Call index -> the first answered reply recorded under a key. Anything but an answer is asked again."""
    rows = store.query(
        "SELECT * FROM replies WHERE reuse_key = ? AND status = 'answered' ORDER BY call_index, time", [key]
    )
    first: dict[int, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["call_index"], row)
    return first


def judged_agent_run(store: Store, key: str) -> dict[str, Any] | None:
    """The first agent run under a key that ended in a verdict, or None."""
    rows = store.query(
        "SELECT * FROM agent_runs WHERE reuse_key = ? AND outcome IN ('passed', 'review') ORDER BY time LIMIT 1",
        [key],
    )
    return rows[0] if rows else None
