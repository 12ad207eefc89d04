"""`toolgate report`: what a database says of its pool, on the terminal, as JSON, or as one file of HTML."""

import argparse
import json
from contextlib import closing
from pathlib import Path

from ..audit import reported_pool
from . import database
from .errors import CommandError
from .rescreen import names


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("report", help="what the database says of the pool, its screens and its solvers")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--pool", action="store_true", help="print the table of the reported pool alone")
    what.add_argument("--near", action="store_true", help="list exact and near duplicates alone; none is removed")
    parser.add_argument(
        "--audits", type=names, default=[], metavar="A,B", help="names of audits, in the order in which they remove"
    )
    parser.add_argument(
        "--similarity", type=_similarity, metavar="S", help="from which similarity on two are near (default: 0.7)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the whole report to a file of HTML")
    parser.add_argument("--json", action="store_true", help="print it as JSON, with the items")
    database.add_option(parser)
    parser.set_defaults(execute=execute)


def _similarity(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("a similarity is above 0 and at most 1")
    return value


def execute(options: argparse.Namespace) -> int:
    """Print or write what is asked for.

    Returns:
        1 where the table of the reported pool is asked for and one of its stages knows nothing of some candidates.

    Raises:
        CommandError: The file cannot be written, or the options do not go together.
    """
    if options.pool:
        return _pool(options)
    from ..analysis import analyse
    from ..pool.similarity import MAX_SIMILARITY
    from ..report.terminal import near, terminal

    if options.near and options.html:
        raise CommandError("--near prints what the file of --html has as well: leave out one of them")
    with closing(database.open_store(options)) as store:
        found = analyse(store, options.audits, options.similarity or MAX_SIMILARITY)
        if options.html:
            from ..report.html import write_html

            try:
                write_html(options.html, found, store)
            except OSError as error:
                raise CommandError(f"{options.html} cannot be written: {error.strerror}") from None
    plain = [pool.plain() for pool in found.diversity] if options.near else found.plain()
    if options.json:
        print(json.dumps(plain, indent=2, ensure_ascii=False))
    elif options.near:
        print(near(found.diversity))
    else:
        print(terminal(found))
    return 0


def _pool(options: argparse.Namespace) -> int:
    """Print the table."""
    if options.html or options.similarity:
        raise CommandError("--pool prints a table, for which there is neither --html nor --similarity")
    with closing(database.open_store(options)) as store:
        table = reported_pool(store, options.audits)
    print(json.dumps(table.plain(), indent=2, ensure_ascii=False) if options.json else table.text())
    return int(any(stage.without_verdict for stage in table.stages))
