"""`toolgate db`: what the database holds, for people and for programs."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from ..store import Store, StoreError
from ..store.record import read_record
from . import database_merge, database_verify, explain
from .errors import CommandError

_RUNS = """
SELECT runs.id, runs.time, runs.gates, runs.audit,
    count(attempts.id) AS attempts,
    total(outcomes.outcome = 'accepted') AS accepted, total(outcomes.outcome = 'provisional') AS provisional,
    total(outcomes.outcome = 'rejected') AS rejected, total(outcomes.outcome = 'review') AS review,
    total(outcomes.outcome = 'error') AS error
FROM runs LEFT JOIN attempts ON attempts.run_id = runs.id LEFT JOIN outcomes ON outcomes.attempt_id = attempts.id
GROUP BY runs.id ORDER BY runs.time
"""
_ATTEMPTS = """
SELECT attempts.id, attempts.time, attempts.path, attempts.fingerprint,
    coalesce(outcomes.outcome, 'unfinished') AS outcome, coalesce(outcomes.gate, '') AS gate,
    coalesce(outcomes.reason, '') AS reason, coalesce(outcomes.sentence, '') AS sentence
FROM attempts LEFT JOIN outcomes ON outcomes.attempt_id = attempts.id
WHERE (:path IS NULL OR attempts.path LIKE '%' || :path || '%') ORDER BY attempts.time
"""


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with its views."""
    parser = commands.add_parser("db", help="look into the database")
    views = parser.add_subparsers(title="views", required=True, metavar="VIEW")
    for name, text, execute in (
        ("runs", "every run with its outcomes", _runs),
        ("attempts", "every attempt with its outcome", _attempts),
        ("show", "the whole record of one attempt, as JSON", _show),
        ("explain", "what a run of one candidate would reuse, and why not the rest", _explain),
    ):
        view = views.add_parser(name, help=text)
        add_option(view)
        view.set_defaults(execute=execute)
        if name == "show":
            view.add_argument(
                "attempt", help="key of the attempt or its beginning; or a candidate's id or path, for the latest"
            )
        else:
            view.add_argument("--json", action="store_true", help="print as JSON")
        if name == "explain":
            explain.add_options(view)
        if name == "attempts":
            view.add_argument("path", nargs="?", help="only candidates whose path holds this text")
    for module in (database_verify, database_merge):
        add_option(module.declare(views))


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--db`."""
    parser.add_argument(
        "--db",
        type=Path,
        default=Path(os.environ.get("TOOLGATE_DB") or ".toolgate/toolgate.db"),
        help="the database file (default: TOOLGATE_DB, or .toolgate/toolgate.db)",
    )


def open_store(options: argparse.Namespace) -> Store:
    """The database, which must be there.

    Raises:
        CommandError: It is not, or cannot be opened.
    """
    if not options.db.is_file():
        raise CommandError(f"there is no database {options.db}")
    try:
        return Store(options.db)
    except StoreError as error:
        raise CommandError(str(error)) from None


def _runs(options: argparse.Namespace) -> int:
    rows = open_store(options).query(_RUNS)
    for row in rows:
        row["gates"] = json.loads(row["gates"])
        row.update({name: int(row[name]) for name in ("accepted", "provisional", "rejected", "review", "error")})
    return _print(
        rows, options, ("id", "time", "attempts", "accepted", "provisional", "rejected", "review", "error", "audit")
    )


def _attempts(options: argparse.Namespace) -> int:
    rows = open_store(options).query(_ATTEMPTS, {"path": options.path})
    return _print(rows, options, ("id", "path", "outcome", "gate", "reason", "sentence"))


def _show(options: argparse.Namespace) -> int:
    store = open_store(options)
    found = store.query("SELECT id FROM attempts WHERE id LIKE ? || '%' LIMIT 2", [options.attempt])
    if not found:
        by_name = "SELECT id FROM attempts WHERE candidate_id = ? OR path = ? ORDER BY time DESC LIMIT 1"
        found = store.query(by_name, [options.attempt, options.attempt])
    if not found:
        raise CommandError(f"there is no attempt `{options.attempt}`: give its key, a candidate's id or its path")
    if len(found) > 1:
        raise CommandError(f"several attempts begin with `{options.attempt}`")
    try:
        print(json.dumps(read_record(store, found[0]["id"]), indent=2, ensure_ascii=False))
    except StoreError as error:
        raise CommandError(str(error)) from None
    return 0


def _explain(options: argparse.Namespace) -> int:
    return explain.execute(options, open_store(options))


def _print(rows: list[dict[str, Any]], options: argparse.Namespace, columns: tuple[str, ...]) -> int:
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    table = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    return 0


def _cell(value: object) -> str:
    text = str(value).splitlines()[0] if value not in (None, "") else ""
    return text if len(text) <= 90 else text[:87] + "..."
