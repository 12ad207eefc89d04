"""`toolgate new`: the skeleton of a candidate file."""

import argparse
import re
import uuid
from pathlib import Path

from ..domains import domain_names
from .errors import CommandError

TEMPLATE = """\
id: {id}
domain: {domain}
tags: []
# Everything that fixes the answer: geometry, element, boundary conditions, quadrature degree, number of decimals.
question: |

# Four texts, taken exactly as written. All with the same number of decimals.
options:
  A: ""
  B: ""
  C: ""
  D: ""
# The letter of the right one.
answer:
# For every wrong one, the mistake that leads to it. Run that mistake; do not invent the value.
distractors: {{}}
# Computes the answer from the question alone and prints exactly one line `ANSWER: <value>`.
solution: |

metadata:
  # Known to nobody who has not seen this file: an agent that shows it did not solve the question alone.
  canary: {canary}
"""


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("new", help="write the skeleton of a candidate file")
    parser.add_argument("id", help="id of the candidate, of the form [a-z0-9_-]+")
    parser.add_argument("--domain", required=True, choices=sorted(domain_names()), help="target software")
    parser.add_argument(
        "--directory", type=Path, default=Path("candidates"), help="where to put it (default: candidates)"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the file and print its path."""
    if not re.fullmatch(r"[a-z0-9_-]{1,100}", options.id):
        raise CommandError(f"the id `{options.id}` is not of the form [a-z0-9_-]+ (100 characters at most)")
    path: Path = options.directory / f"{options.id}.yaml"
    write_new(path, TEMPLATE.format(id=options.id, domain=options.domain, canary=uuid.uuid4()))
    return 0


def write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet, and print its path.

    Raises:
        CommandError: It exists or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{path} exists; it is not overwritten") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from None
    print(path)
