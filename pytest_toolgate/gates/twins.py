"""The index of a run's candidates, in which duplicates are found.

Only a whole run can tell which candidate repeats which, but every process of a run sees one at a time. So the
first process that needs the index reads all collected files once and leaves it for the others.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from ..candidate import CandidateError, read_candidate
from ..candidate.duplicates import Entry, find_duplicates
from ..domains import domain_names
from ..locking import locked
from ..store.accepted import read_entries
from ..whole_file import write_whole
from .workbench import Workbench

COLLECTED = "collected.json"


def note_collected(run_directory: Path, paths: Mapping[str, str]) -> None:
    """Leave what was collected (name of the item -> file) for the processes of the run; the first one counts."""
    try:
        with (run_directory / COLLECTED).open("x", encoding="utf-8") as file:
            json.dump(dict(paths), file)
    except FileExistsError:
        pass


def read_collected(run_directory: Path) -> dict[str, str]:
    """What `note_collected` left; empty where no process has collected anything yet."""
    try:
        collected: dict[str, str] = json.loads((run_directory / COLLECTED).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return collected


def duplicates_of_run(bench: Workbench) -> Mapping[str, str]:
    """Shown path -> sentence, for every collected candidate that repeats an earlier one."""
    index = bench.run.directory / "duplicates.json"
    with locked(bench.run.directory / "duplicates.lock"):
        if not index.exists():
            write_whole(index, json.dumps(_find(bench)))
        losers: dict[str, str] = json.loads(index.read_text("utf-8"))
    return losers


def _find(bench: Workbench) -> Mapping[str, str]:
    entries = []
    for path in map(Path, read_collected(bench.run.directory).values()):
        try:
            candidate = read_candidate(path, domains=domain_names(), default_domain=bench.settings.domain)
        except (CandidateError, OSError):
            continue  # it will say so itself
        entries.append(Entry(bench.run.shown(path), candidate.id, candidate.twin_key, candidate.fingerprint))
    return find_duplicates(entries, read_entries(bench.run.accepted))
