"""The name of an audit stands for one question: the same screens and solvers at the same settings, every time."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from ..config import Settings
from ..store import Store, StoreError

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,60}")
# Where a program lies changes nothing of what was asked.
_ELSEWHERE: Final = ("program", "show")


class AuditError(StoreError):
    """An audit that cannot be made as it is asked for, as one sentence."""


def check_name(name: str) -> str:
    """The name, if it can be one.

    Raises:
        AuditError: It has signs that no name has.
    """
    if not _NAME.fullmatch(name):
        raise AuditError(f"an audit's name has 1 to 60 letters, digits, `.`, `_` or `-`, unlike `{name[:80]}`")
    return name


def known_audits(store: Store) -> list[str]:
    """The names of all audits that a database holds, the oldest first."""
    rows = store.query("SELECT audit, min(time) AS first FROM runs WHERE audit IS NOT NULL GROUP BY 1 ORDER BY 2")
    return [row["audit"] for row in rows]


def check_same(store: Store, name: str, seed: int, gates: tuple[str, ...], settings: Settings) -> None:
    """Refuse to go on with an audit under other settings than it was begun with.

    Servers, limits on the wire and the budget may change. Where verdicts come from may not: candidates of one audit
    that were asked different questions could not be told from each other afterwards.

    Raises:
        AuditError: It was begun otherwise.
    """
    rows = store.query("SELECT seed, gates, settings FROM runs WHERE audit = ? ORDER BY time LIMIT 1", [name])
    if not rows:
        return
    before, now = json.loads(rows[0]["settings"]), settings.plain()
    differences = {
        "another seed": rows[0]["seed"] != seed,
        "other gates": json.loads(rows[0]["gates"]) != list(gates),
        "other screens": "screen" in gates and not _alike(before.get("screens", []), now["screens"]),
        "other solvers": "solve" in gates and not _alike(before.get("solve", []), now["solve"]),
        "another `accept`": "solve" in gates and before.get("accept", "any") != now["accept"],
    }
    if found := [difference for difference, there in differences.items() if there]:
        raise AuditError(
            f"the audit `{name}` was begun with {' and '.join(found)}: give this one another name, or the old settings"
        )


def _alike(before: list[Mapping[str, Any]], now: list[Mapping[str, Any]]) -> bool:
    """Whether two lists of settings say the same, as far as both say anything: later versions know more settings."""
    return len(before) == len(now) and all(
        old[key] == new[key]
        for old, new in zip(before, now, strict=True)
        for key in old.keys() & new.keys()
        if key not in _ELSEWHERE
    )
