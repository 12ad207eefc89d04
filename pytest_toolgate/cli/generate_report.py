"""What `toolgate generate` says at its end: how rounds have ended, and what the pool is like."""

from collections.abc import Mapping
from typing import Any

from ..generator.loop import Loop
from ..pool.balance import balance, middle_value_warning
from ..pool.clusters import templates
from ..pool.shingles import of_candidate
from ..screen.cues import pool_scores, scores
from ..store import Store
from ..store.spending import spent
from .shown import cost_and_end


def report(loop: Loop, store: Store, run_id: str) -> dict[str, Any]:
    """The outcome of all rounds so far, as JSON types."""
    progress = loop.progress
    kept = loop.kept
    known = balance((each.options, each.answer) for each in kept.values())
    cues = [scores(each.options, each.answer) for each in kept.values()]
    found = templates({name: of_candidate(each) for name, each in kept.items()}) if kept else None
    paid = spent(store, run_id)
    middle = pool_scores(cues).get("middle-value") if cues else None
    return {
        "run": run_id,
        "domain": loop.domain,
        "rounds": progress.done,
        "endings": dict(progress.endings),
        "kept": len(kept),
        "ranks": {str(rank): count for rank, count in known.ranks.items()},
        "letters": dict(known.letters),
        "templates": None if found is None else {
            "clusters": found.clusters, "effective": round(found.effective, 2), "largest": round(found.largest, 4),
        },
        "warnings": [warning] if (warning := middle_value_warning(middle)) else [],
        "usd": paid.usd,
        "calls_of_unknown_cost": paid.unknown,
        "errors": list(progress.errors),
        "stopped": progress.stopped,
    }  # fmt: skip


def text(told: Mapping[str, Any]) -> str:
    """The same for people."""
    lines = [f"{told['rounds']} rounds of {told['domain']}"]
    lines += [f"  {times:>5} {ending}" for ending, times in told["endings"].items()]
    if told["kept"]:
        ranks = ", ".join(f"{rank}: {count}" for rank, count in told["ranks"].items())
        letters = ", ".join(f"{letter} {count}" for letter, count in told["letters"].items())
        found = told["templates"]
        lines.append(
            f"{told['kept']} kept, in {found['clusters']} templates (effective number {found['effective']:g}, largest "
            f"{100 * found['largest']:.0f} %); answers by rank {ranks}; by letter {letters}"
        )
    lines += [f"warning: {warning}" for warning in told["warnings"]]
    return "\n".join([*lines, *cost_and_end(told)])
