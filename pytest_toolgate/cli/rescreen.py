"""`toolgate rescreen`: an audit, i.e. screens and solvers over recorded candidates, under a name."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ..audit import Recorded, Rescreen, check_name, check_same, chosen, find_pool
from ..audit.pool import AUDIT, PASSED, VERIFIED, audited, read_candidates
from ..config import Settings
from ..store.spending import spent
from . import configuration, database
from .errors import CommandError
from .own_run import own_run
from .shown import Shown, cost_and_end
from .watch import watch


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("rescreen", help="audit recorded candidates with screens and solvers, under a name")
    parser.add_argument("--name", required=True, help="name of the audit; the same name again takes up the rest")
    parser.add_argument("--screens", type=names, default=[], metavar="A,B", help="screens of the configuration")
    parser.add_argument("--solvers", type=names, default=[], metavar="A,B", help="solvers of the configuration")
    parser.add_argument(
        "--pool",
        default=VERIFIED,
        help=f"which candidates: {VERIFIED}, accepted, or {AUDIT}NAME,NAME for what audits have passed ({VERIFIED})",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of every shuffle (0)")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    database.add_option(parser)
    configuration.add_option(parser)
    parser.set_defaults(execute=execute)


def names(text: str) -> list[str]:
    """The names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def execute(options: argparse.Namespace) -> int:
    """Judge those of the pool that have no verdict under this name.

    Returns:
        0 when all of the pool have one, 1 when some have none: a budget, an interruption, or machinery that failed.
    """
    name = check_name(options.name)
    settings = chosen(configuration.read(options), options.screens, options.solvers)
    gates = tuple(gate for gate in settings.configured_gates() if gate in ("screen", "solve"))
    with closing(database.open_store(options)) as store:
        check_same(store, name, options.seed, gates, settings)
        pool = find_pool(store, options.pool)
        if not pool:
            raise CommandError(f"the pool `{options.pool}` of {options.db} holds no candidate")
        before = audited(store, name)
        due = [one for one in pool if one.fingerprint not in before]
        judged = _judge(due, len(pool), gates, settings, options) if due else _NOTHING_DUE
        told = {
            "audit": name,
            "pool": options.pool,
            "earlier": len(pool) - len(due),
            **_counts(pool, audited(store, name)),
            **judged,
        }
    print(json.dumps(told, indent=2) if options.json else _text(told))
    return int(told["no_verdict"] > 0)


_NOTHING_DUE: Mapping[str, Any] = {"run": None, "usd": 0.0, "calls_of_unknown_cost": 0, "errors": [], "stopped": ""}


def _judge(
    due: Sequence[Recorded], most: int, gates: tuple[str, ...], settings: Settings, options: argparse.Namespace
) -> Mapping[str, Any]:
    """One run of the audit, and what it has cost."""
    with own_run(
        settings,
        seed=options.seed,
        gates=gates,
        database=options.db.absolute(),
        accepted=Path(os.environ.get("TOOLGATE_ACCEPTED") or "accepted").absolute(),
        alone=(f"audit-{options.name}", f"`toolgate rescreen` is at work on `{options.name}`"),
        audit=options.name,
    ) as bench:
        run, store = bench.run, bench.store
        work = Rescreen(read_candidates(store, due, run.root), bench, done=most - len(due))
        watch(work, Shown(most, store, run.id, quiet=options.json, unit="candidate"))
        paid = spent(store, run.id)
        return {
            "run": run.id,
            "usd": paid.usd,
            "calls_of_unknown_cost": paid.unknown,
            "errors": list(work.progress.errors),
            "stopped": work.progress.stopped,
        }


def _counts(pool: Sequence[Recorded], verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """How the pool stands under all verdicts of the audit."""
    found = [verdicts[one.fingerprint] for one in pool if one.fingerprint in verdicts]
    removed = [row for row in found if row["outcome"] not in PASSED]
    endings = Counter(f"{row['outcome']} at {row['gate']}: {row['reason']}" for row in removed)
    return {
        "in": len(pool),
        "removed": len(removed),
        "out": len(found) - len(removed),
        "no_verdict": len(pool) - len(found),
        "endings": dict(endings.most_common()),
    }


def _text(told: Mapping[str, Any]) -> str:
    """The same for people."""
    earlier = f" ({told['earlier']} judged by earlier runs)" if told["earlier"] else ""
    lines = [
        f"audit `{told['audit']}` of the pool `{told['pool']}`: {told['in']} in, {told['removed']} removed, "
        f"{told['out']} out, {told['no_verdict']} without verdict{earlier}"
    ]
    lines += [f"  {times:>5} {ending}" for ending, times in told["endings"].items()]
    return "\n".join([*lines, *cost_and_end(told)])
