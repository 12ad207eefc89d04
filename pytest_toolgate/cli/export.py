"""`toolgate export`: from the database to a folder that can be published."""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from ..audit import AuditError
from ..audit.pool import ACCEPTED, AUDIT
from ..exporters import Exporter, ExporterError, MissingExtra, exporter_names, load_exporter
from ..release import Release, ReleaseError
from ..release.folder import check_place, write_release
from ..release.reading import read_release, release_name
from . import database
from .errors import CommandError
from .rescreen import names

ALL: Final = "all"
_LICENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("export", help="write a release: items, records, rejected attempts, card, checksums")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write; it must not be there, or be empty")
    parser.add_argument(
        "--format", type=names, default=["jsonl"], metavar="A,B", help=f"formats besides jsonl, or {ALL} (jsonl)"
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--pool", default=ACCEPTED, help=f"{ACCEPTED}, or {AUDIT}NAME,NAME for what audits have passed ({ACCEPTED})"
    )
    chosen.add_argument(
        "--audits", type=names, default=[], metavar="A,B", help="the reported pool of `toolgate report --pool`"
    )
    parser.add_argument("--seed", type=int, help="of the order of options; none may have been used before")
    parser.add_argument("--licence", "--license", default="CC-BY-4.0", help="SPDX identifier (CC-BY-4.0)")
    parser.add_argument("--name", help="name of the release (the folder's)")
    parser.add_argument("--date", help="day of the release, YYYY-MM-DD (that of the newest verdict)")
    parser.add_argument("--force", action="store_true", help="put it in the place of a release that is there")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    database.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the release."""
    place = options.out.absolute()
    if not _LICENCE.fullmatch(options.licence):
        raise CommandError("the licence is an SPDX identifier, for example CC-BY-4.0 or CC0-1.0")
    if options.date is not None and not _DATE.fullmatch(options.date):
        raise CommandError("the date is written YYYY-MM-DD")
    try:
        exporters = _exporters(options.format)
        check_place(place, force=options.force)
        with closing(database.open_store(options)) as store:
            release = read_release(
                store,
                name=release_name(options.name or place.name),
                licence=options.licence,
                pool=options.pool,
                audits=options.audits,
                seed=options.seed,
                date=options.date,
            )
        write_release(release, place, exporters)
    except (AuditError, ReleaseError, ExporterError, MissingExtra) as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{place} cannot be written: {error.strerror}") from None
    told = _told(release, options.out, list(exporters))
    print(json.dumps(told, indent=2) if options.json else _text(told))
    return 0


def _exporters(wanted: Sequence[str]) -> Mapping[str, Exporter]:
    """The formats by name, `jsonl` always among them."""
    known = exporter_names()
    found = sorted(known) if ALL in wanted else wanted
    for name in found:
        if name not in known:
            raise CommandError(f"there is no format `{name}`; there are {', '.join(sorted(known))} and {ALL}")
    return {name: load_exporter(name) for name in dict.fromkeys(["jsonl", *found])}


def _told(release: Release, out: Path, formats: list[str]) -> dict[str, Any]:
    return {
        "folder": str(out),
        "name": release.name,
        "pool": release.pool,
        "items": len(release.items),
        "rejected": len(release.rejected),
        "reviewed": sum(bool(item.reviews) for item in release.items),
        "left_out": dict(release.left_out),
        "formats": formats,
        "seed": release.seed,
        "canary": release.canary,
    }


def _text(told: Mapping[str, Any]) -> str:
    """The same for people."""
    lines = [
        f"{told['folder']}: {told['items']} items of {told['pool']}, {told['rejected']} rejected attempts, "
        f"{told['reviewed']} items with a review",
        *(f"  {count} left out: {reason}" for reason, count in told["left_out"].items()),
        f"  formats: {', '.join(told['formats'])}",
        f"  canary: {told['canary']}",
    ]
    return "\n".join(lines)
