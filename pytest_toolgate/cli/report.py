"""`toolgate report --pool`: which candidates are left after local verification, audits and deduplication."""

import argparse
import json
from contextlib import closing

from ..audit import reported_pool
from . import database
from .rescreen import names


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("report", help="the reported pool: what each stage and each audit has removed")
    parser.add_argument("--pool", action="store_true", required=True, help="print the table of the reported pool")
    parser.add_argument(
        "--audits", type=names, default=[], metavar="A,B", help="names of audits, in the order in which they remove"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON, with the items")
    database.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the table; 1 where a stage knows nothing of some candidates."""
    with closing(database.open_store(options)) as store:
        table = reported_pool(store, options.audits)
    print(json.dumps(table.plain(), indent=2, ensure_ascii=False) if options.json else table.text())
    return int(any(stage.without_verdict for stage in table.stages))
