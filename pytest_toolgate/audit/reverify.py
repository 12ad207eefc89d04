"""Accepted items with the software of today: what their scripts printed then, and what they print now.

The scripts run as gate verify runs them, in a run whose database is thrown away: nothing that was decided is touched.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ..candidate import Candidate
from ..store import Store, StoreError
from .pool import ACCEPTED, find_pool, read_candidates

Now = Literal["same", "same option", "drifted", "failed", "error", "not run"]
"""What became of an item: `drifted` printed another answer, `failed` none any more; of `error`, nothing is known."""

DRIFT: Final = ("drifted", "failed")
# Of what speaks against a script: what it says of its answer, and not of its end.
_ANSWERED: Final = ("mismatch", "ambiguous", "unreadable", "not-reproducible")


@dataclass(frozen=True, slots=True)
class Known:
    """An accepted item as it was judged.

    Attributes:
        candidate: The item.
        runs: The runs of its script that counted, as they were recorded; empty if none was.
    """

    candidate: Candidate
    runs: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """An item then and now.

    Attributes:
        id: Of the item.
        path: Its file, as recorded.
        fingerprint: Of its content.
        now: What became of it.
        old_values: What each run had printed then.
        new_values: What each run prints now.
        packages: Package, or `python`, that is another one now -> its version then and now; None where there is none.
        sentence: What is wrong, in words; empty if nothing is.
    """

    id: str
    path: str
    fingerprint: str
    now: Now
    old_values: tuple[str | None, ...]
    new_values: tuple[str | None, ...]
    packages: Mapping[str, tuple[str | None, str | None]]
    sentence: str

    @property
    def line(self) -> str:
        """The same in one line."""
        values = _values(self.old_values)
        if self.new_values and self.new_values != self.old_values:
            values = f"{values} -> {_values(self.new_values)}"
        versions = [f"{name} {old or 'none'} -> {new or 'none'}" for name, (old, new) in self.packages.items()]
        first = self.sentence.splitlines()[0] if self.sentence else ""
        return "; ".join(filter(None, (f"{self.id}: {self.now}: {values}", *versions, first)))


def known_items(store: Store, root: Path) -> list[Known]:
    """The accepted items of a database."""
    candidates = read_candidates(store, find_pool(store, ACCEPTED), root)
    return [Known(candidate, _counted(store.query(_VERIFIED, [candidate.fingerprint]))) for candidate in candidates]


# The runs of the latest attempt of the loop that has passed gate verify.
_VERIFIED: Final = """
SELECT script_runs.* FROM script_runs WHERE attempt_id = (
    SELECT attempts.id FROM attempts JOIN runs ON runs.id = attempts.run_id
    JOIN gates ON gates.attempt_id = attempts.id AND gates.gate = 'verify' AND gates.verdict = 'passed'
    WHERE attempts.fingerprint = ? AND runs.audit IS NULL ORDER BY attempts.time DESC, attempts.rowid DESC LIMIT 1
) ORDER BY number, time, rowid
"""


def items_of(directory: Path) -> list[Known]:
    """The accepted items of a directory, with the record that each of them holds.

    Raises:
        StoreError: A file there is none.
    """
    found = []
    for file in sorted(directory.glob("*.json")):
        try:
            document = json.loads(file.read_text("utf-8"))
            record = document["record"]
            candidate = Candidate.of_content(document["item"], Path(record["path"]))
            found.append(Known(candidate, _counted(record["script_runs"])))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise StoreError(f"{file} is no accepted item") from None
    return found


def compared(items: Iterable[Known], today: Store, run_id: str) -> Iterator[Compared]:
    """Hold each item against what has become of it in a run.

    Args:
        items: The items.
        today: The database of the run.
        run_id: Its key.
    """
    for item in items:
        rows = today.query(
            "SELECT attempts.id, outcome, reason, sentence FROM attempts JOIN outcomes ON attempt_id = attempts.id "
            "WHERE run_id = ? AND fingerprint = ? ORDER BY outcomes.time DESC LIMIT 1",
            [run_id, item.candidate.fingerprint],
        )
        runs = _counted(
            today.query("SELECT * FROM script_runs WHERE attempt_id = ? ORDER BY number, time, rowid", [rows[0]["id"]])
            if rows
            else []
        )
        yield _compared(item, rows[0] if rows else None, runs)


def _compared(item: Known, outcome: Mapping[str, Any] | None, runs: Sequence[Mapping[str, Any]]) -> Compared:
    old, new = (tuple(run["answer"] for run in which) for which in (item.runs, runs))
    return Compared(
        id=item.candidate.id,
        path=str(item.candidate.path),
        fingerprint=item.candidate.fingerprint,
        now=_now(outcome, set(old), set(new)),
        old_values=old,
        new_values=new,
        packages=_differences(item.runs[-1], runs[-1]) if item.runs and runs else {},
        sentence="" if outcome is None else outcome["sentence"],
    )


def _now(outcome: Mapping[str, Any] | None, old: set[str | None], new: set[str | None]) -> Now:
    if outcome is None:
        return "not run"
    if outcome["outcome"] == "error":
        return "error"
    if outcome["outcome"] == "rejected":
        return "drifted" if outcome["reason"] in _ANSWERED else "failed"
    return "same" if old == new else "same option"


def _counted(runs: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Of several runs of one number, the last one counts."""
    return tuple({run["number"]: run for run in runs}.values())


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    """What of the software is another one; also where its version is the same and its files are not."""
    then, today = (_software(run["environment"]) for run in (old, new))
    found: dict[str, tuple[str | None, str | None]] = {}
    for name in sorted(then.keys() | today.keys()):
        (old_version, old_files), (version, files) = (which.get(name, (None, None)) for which in (then, today))
        if old_version != version:
            found[name] = old_version, version
        elif old_files and files and old_files != files:
            found[name] = old_version, f"{version} with other files"
    return found


def _software(environment: str | Mapping[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    """Name -> version, and what its files are known by; rows of earlier schemas name the domain's packages alone."""
    known = json.loads(environment) if isinstance(environment, str) else environment
    found = {name: (version, None) for name, version in known.get("packages", {}).items()}
    found |= {name: (each.get("version"), each.get("record")) for name, each in known.get("installed", {}).items()}
    return {**found, "python": (known.get("version"), None)}


def _values(values: Sequence[str | None]) -> str:
    """What the runs of a script printed, once if it is the same."""
    return ", ".join(f"`{value[:80]}`" if value is not None else "no answer" for value in dict.fromkeys(values)) or "?"
