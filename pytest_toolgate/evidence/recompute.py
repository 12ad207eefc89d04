"""Every verdict again, from the raw replies and outputs that are stored, by the rules that gave it. Nothing runs."""

import sqlite3
from collections.abc import Collection
from typing import Final

from . import recorded_candidates, recorded_outcomes, recorded_replies, recorded_scripts, recorded_solvers
from .findings import Findings
from .material import Material

# What each part cannot do without.
_NEEDED: Final = frozenset({"runs", "candidates", "attempts", "gates", "script_runs", "replies", "agent_runs", "uses"})


def recompute(connection: sqlite3.Connection, tables: Collection[str], found: Findings) -> None:
    """Hold what is stored of verdicts against what comes out of what is stored of their grounds.

    Args:
        connection: The database.
        tables: The tables that are there.
        found: Takes what does not hold.
    """
    if missing := _NEEDED - set(tables):
        found.add("database", min(missing), "verdicts cannot be computed again without this table")
        return
    material = Material(connection, found)
    for part in (
        recorded_candidates.candidates,
        recorded_candidates.cues,
        recorded_scripts.script_runs,
        recorded_scripts.verify_gates,
        recorded_replies.replies,
        recorded_replies.uses_of_replies,
        recorded_replies.screen_gates,
        recorded_solvers.agent_runs,
        recorded_solvers.solve_gates,
        recorded_outcomes.check_gates,
        recorded_outcomes.outcomes,
    ):
        try:
            part(material)
        except sqlite3.Error as error:
            found.add("database", part.__name__, f"it cannot be computed again: {error}")
