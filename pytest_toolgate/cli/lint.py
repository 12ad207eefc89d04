"""`toolgate lint`: gate 0 without pytest, for editors and pre-commit hooks."""

import argparse
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..candidate import Candidate, Fault
from ..candidate.duplicates import Entry, find_duplicates
from ..candidate.options import warnings
from ..domains import domain_names
from ..file_names import SUFFIXES
from ..gates.lint import describe, examine
from ..gates.result import escaped
from . import configuration
from .errors import CommandError


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("lint", help="check candidate files, without running anything")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="candidate files, or directories of them")
    parser.add_argument("--json", action="store_true", help="print the faults as JSON")
    configuration.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print every fault and warning; 1 when there is a fault."""
    settings = configuration.read(options)
    files = list(_files(options.paths))
    if not files:
        raise CommandError("there are no candidate files there")
    candidates: dict[str, Candidate] = {}
    faults: dict[str, list[Fault]] = {}
    for path in files:
        try:
            candidate, faults[str(path)] = examine(path, domain_names(), settings.domain)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from None
        if candidate is not None:
            candidates[str(path)] = candidate
    entries = [Entry(path, c.id, c.twin_key, c.fingerprint) for path, c in candidates.items()]
    for loser, sentence in find_duplicates(entries).items():
        faults[loser].append(Fault("duplicate", f"this candidate {sentence}"))
    if options.json:
        print(json.dumps([_plain(path, found, candidates.get(path)) for path, found in faults.items()], indent=2))
    else:
        _print(faults, candidates)
    return int(any(faults.values()))


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        elif path.is_file():
            yield path
        else:
            raise CommandError(f"{path} does not exist")


def _plain(path: str, faults: list[Fault], candidate: Candidate | None) -> dict[str, Any]:
    return {
        "path": path,
        "faults": [dataclasses.asdict(fault) for fault in faults],
        "warnings": warnings(candidate) if candidate else [],
        "fingerprint": candidate.fingerprint if candidate else None,
    }


def _print(faults: dict[str, list[Fault]], candidates: dict[str, Candidate]) -> None:
    for path, found in faults.items():
        for fault in found:
            print(escaped(f"{describe(path, fault)} [{fault.reason}]"))
        for warning in warnings(candidates[path]) if path in candidates else ():
            print(escaped(f"{path}: warning: {warning}"))
    wrong = sum(bool(found) for found in faults.values())
    print(f"{len(faults)} candidates, {wrong} with faults" if wrong else f"{len(faults)} candidates, no faults")
