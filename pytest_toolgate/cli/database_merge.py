"""`toolgate db merge`: the databases of shards, machines and jobs become one."""

import argparse
import json
from pathlib import Path

from ..store.merge import CHAINS, Merged, merge


def declare(views: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the view."""
    view = views.add_parser("merge", help="add to the database what others hold")
    view.add_argument("sources", nargs="+", type=Path, metavar="FILE", help="a database; it is only read")
    view.add_argument("--json", action="store_true", help="print as JSON")
    view.set_defaults(execute=execute)
    return view


def execute(options: argparse.Namespace) -> int:
    """Merge and say what was added."""
    merged = merge(options.db, options.sources)
    print(json.dumps(_plain(merged), indent=2) if options.json else _text(merged, options))
    return 0


def _plain(merged: Merged) -> dict[str, object]:
    return {"rows": merged.rows, "waiting": merged.waiting, "added": {k: n for k, n in merged.added.items() if n}}


def _text(merged: Merged, options: argparse.Namespace) -> str:
    what = ", ".join(f"{count} {table}" for table, count in merged.added.items() if count and table not in CHAINS)
    waiting = f"; {merged.waiting} of them waited in files beside their database" if merged.waiting else ""
    return f"{options.db}: {merged.rows} rows were added{': ' if what else ''}{what}{waiting}"
