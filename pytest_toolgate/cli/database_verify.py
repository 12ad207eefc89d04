"""`toolgate db verify`: whether a database is what was written, and its verdicts what follows from it."""

import argparse
import dataclasses
import json

from ..evidence import Verified, verify_database


def declare(views: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the view."""
    view = views.add_parser("verify", help="hold every row against its chain and every verdict against its grounds")
    view.add_argument(
        "--head", action="append", default=[], metavar="DIGEST", help="a head noted earlier; several if repeated"
    )
    view.add_argument("--json", action="store_true", help="print as JSON")
    view.set_defaults(execute=execute)
    return view


def execute(options: argparse.Namespace) -> int:
    """Verify and tell; 1 where something does not hold."""
    verified = verify_database(options.db, options.head)
    print(json.dumps(_plain(verified), indent=2) if options.json else _text(verified))
    return int(verified.found > 0)


def _plain(verified: Verified) -> dict[str, object]:
    return {**dataclasses.asdict(verified), "schema": verified.version}


def _text(verified: Verified) -> str:
    lines = [f"chain {head.origin}: {head.length} links, head {head.digest}" for head in verified.heads]
    if not verified.heads:
        lines.append(
            f"schema {verified.version}: no chains, so that a changed row cannot be found; see docs/evidence.md"
        )
    rows, links = verified.held.get("rows", 0), verified.held.get("links", 0)
    lines.append(f"chained: {rows} rows are what was written, by {links} links")
    again = {name: count for name, count in verified.held.items() if name not in ("rows", "links")}
    told = ", ".join(f"{count} {name}" for name, count in sorted(again.items())) or "nothing"
    lines.append(f"computed again and found the same: {told}")
    lines += [f"not computed again: {count}: {why}" for why, count in sorted(verified.unknown.items())]
    lines += map(str, verified.findings)
    if verified.found > len(verified.findings):
        lines.append(f"... and {verified.found - len(verified.findings)} more")
    lines.append(f"does not hold: {verified.found}" if verified.found else "all of it holds")
    return "\n".join(lines)
