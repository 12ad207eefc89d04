"""`toolgate review`: what experts say of candidates, beside what the gates have found."""

import argparse
import json
from contextlib import closing
from typing import Any, Final

from ..gates.result import escaped
from ..store import Store
from . import database
from .errors import CommandError

VERDICTS: Final = ("sound", "defect", "unsure")
_MOST: Final = 10_000
_LEAST_PREFIX: Final = 6
_KNOWN: Final = """
SELECT DISTINCT attempts.candidate_id AS id, attempts.fingerprint FROM attempts
WHERE attempts.fingerprint IS NOT NULL AND (attempts.candidate_id = :given OR attempts.fingerprint = :given
    OR (length(:given) >= :least AND substr(attempts.fingerprint, 1, length(:given)) = :given))
ORDER BY attempts.candidate_id, attempts.fingerprint
"""
_ALL: Final = """
SELECT time, candidate_id, fingerprint, verdict, reviewer, note FROM reviews
WHERE (:given IS NULL OR candidate_id = :given OR fingerprint = :given) ORDER BY time, rowid
"""


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("review", help="record what an expert says of a candidate, or list what was said")
    parser.add_argument(
        "candidate", nargs="?", metavar="ID", help="a candidate's id, or the beginning of a fingerprint"
    )
    parser.add_argument("--verdict", choices=VERDICTS, help="what the expert says")
    parser.add_argument("--reviewer", help="who says so; the last word of each reviewer counts")
    parser.add_argument("--note", default="", help="why")
    parser.add_argument("--list", action="store_true", help="print the reviews, of one candidate or of all")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    database.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Record a review, or print those that there are."""
    with closing(database.open_store(options)) as store:
        if options.list:
            return _list(store, options)
        if not (options.candidate and options.verdict and options.reviewer and options.reviewer.strip()):
            raise CommandError("a review needs ID, --verdict and --reviewer; --list prints those that there are")
        if len(options.note) > _MOST or len(options.reviewer) > _MOST:
            raise CommandError(f"a note has {_MOST:,} characters at most")
        found = _candidate(store, options.candidate)
        said = {
            "candidate_id": found["id"],
            "fingerprint": found["fingerprint"],
            "verdict": options.verdict,
            "reviewer": options.reviewer.strip(),
            "note": options.note,
        }
        store.append("reviews", said)
    print(json.dumps(said, indent=2) if options.json else _line(said))
    return 0


def _candidate(store: Store, given: str) -> dict[str, Any]:
    """The one candidate that is meant.

    Raises:
        CommandError: There is none, or there are several.
    """
    rows = store.query(_KNOWN, {"given": given, "least": _LEAST_PREFIX})
    fingerprints = sorted({row["fingerprint"] for row in rows})
    if not fingerprints:
        raise CommandError(f"the database {store.path} holds no candidate `{escaped(given[:80])}`")
    if len(fingerprints) > 1:
        shown = ", ".join(fingerprints[:10]) + (", ..." if len(fingerprints) > 10 else "")
        raise CommandError(f"`{escaped(given[:80])}` is several candidates: give one of the fingerprints {shown}")
    return rows[0]


def _list(store: Store, options: argparse.Namespace) -> int:
    rows = store.query(_ALL, {"given": options.candidate})
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(f"{row['time']}  {_line(row)}")
    return 0


def _line(said: dict[str, Any]) -> str:
    note = " ".join(said["note"].split())
    shown = note if len(note) <= 90 else f"{note[:87]}..."
    words = f"{said['candidate_id']} ({said['fingerprint'][:12]}): {said['verdict']}, says {said['reviewer']}"
    return escaped(f"{words}: {shown}" if shown else words)
