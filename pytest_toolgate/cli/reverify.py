"""`toolgate reverify`: do the accepted items still hold with the software of today?"""

import argparse
import dataclasses
import json
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ..audit import Rescreen
from ..audit.reverify import DRIFT, Compared, Known, compared, items_of, known_items
from ..checks import check_names
from ..config import Settings
from ..config.model import Severity
from ..gates.result import escaped
from . import configuration, database
from .errors import CommandError
from .own_run import own_run
from .shown import Shown
from .watch import watch


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("reverify", help="run the scripts of accepted items with the software of today")
    parser.add_argument(
        "--accepted", type=Path, metavar="DIR", help="the items of this directory, instead of the database's"
    )
    parser.add_argument("--domain", help="only items of this domain")
    parser.add_argument("--json", action="store_true", help="print what came of each item as JSON")
    database.add_option(parser)
    configuration.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run them and tell.

    Returns:
        0 when all of them print what they printed, or the same option; 1 when some do not; 2 when of some nothing is
        known, and of the others none has drifted.
    """
    items = _items(options)
    found, stopped = _today(items, _verify_alone(configuration.read(options)), options)
    counts = Counter(one.now for one in found)
    if options.json:
        document = {"items": [dataclasses.asdict(one) for one in found], "counts": counts, "stopped": stopped}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(_text(found, counts, stopped))
    if any(counts[now] for now in DRIFT):
        return 1
    return 2 if counts["error"] or counts["not run"] else 0


def _items(options: argparse.Namespace) -> list[Known]:
    if options.accepted is not None:
        if not options.accepted.is_dir():
            raise CommandError(f"there is no directory {options.accepted}")
        items, where = items_of(options.accepted), options.accepted
    else:
        with closing(database.open_store(options)) as store:
            items, where = known_items(store, Path.cwd()), options.db
    if options.domain is not None:
        items = [item for item in items if item.candidate.domain == options.domain]
    if not items:
        raise CommandError(
            f"{where} holds no accepted item" + (f" of the domain `{options.domain}`" * bool(options.domain))
        )
    # Two reports can be compared line by line, in whatever order the candidates were once judged.
    return sorted(items, key=lambda item: (item.candidate.id, str(item.candidate.path)))


def _verify_alone(settings: Settings) -> Settings:
    """The configuration as far as gate verify depends on it."""
    off: dict[str, Severity] = dict.fromkeys(check_names(), "off")
    return dataclasses.replace(settings, screens=(), solve=(), generate=None, checks=off)


def _today(items: Sequence[Known], settings: Settings, options: argparse.Namespace) -> tuple[list[Compared], str]:
    """What became of the items, in a run whose database is thrown away; and why it ended early, if it did."""
    with (
        tempfile.TemporaryDirectory(prefix="toolgate-reverify-") as scratch,
        own_run(
            settings,
            seed=0,
            gates=("verify",),
            database=Path(scratch) / "today.db",
            accepted=Path(os.environ.get("TOOLGATE_ACCEPTED") or "accepted").absolute(),
            alone=("reverify", "`toolgate reverify` is at work"),
        ) as bench,
    ):
        # As everywhere, no script sees what is known of it.
        bench.private = tuple(path for path in (options.db.absolute().parent, options.accepted) if path is not None)
        work = Rescreen([item.candidate for item in items], bench, threads=len(os.sched_getaffinity(0)))
        watch(work, Shown(len(items), bench.store, bench.run.id, quiet=True, unit="item"))
        return list(compared(items, bench.store, bench.run.id)), work.progress.stopped


def _text(found: Sequence[Compared], counts: Counter[Any], stopped: str) -> str:
    lines = [escaped(one.line) for one in found]
    told = ", ".join(f"{count} {now}" for now, count in counts.most_common())
    lines.append(f"{len(found)} accepted items: {told}")
    return "\n".join([*lines, *([f"stopped: {escaped(stopped)}"] if stopped else [])])
