"""The console script. Each command is one module with `declare` and `execute`."""

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..store import StoreError
from . import database, export, generate, init, lint, model, new, report, rescreen, review
from .errors import CommandError

_COMMANDS = (init, new, lint, generate, rescreen, report, review, export, model, database)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 when all is well, 1 when the command found something wrong, 2 when it could not do its work.
    """
    parser = argparse.ArgumentParser(prog="toolgate", description="Benchmark candidates: everything but the test run.")
    parser.add_argument("--version", action="version", version=f"toolgate {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.declare(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.execute(options)
    except (CommandError, StoreError) as error:
        print(f"toolgate: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; nothing more is to be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
