"""One candidate through all gates, every step recorded as it happens."""

import dataclasses
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..candidate import Candidate
from ..config import GATES
from ..store import StoreError, as_column
from .lint import lint
from .result import GateResult, error, escaped, fault
from .screen import screen
from .solve import solve
from .verify import verify
from .workbench import Workbench

Outcome = Literal["accepted", "provisional", "rejected", "review", "error"]
Gate = Callable[[Candidate, Workbench, str], GateResult]
_AFTER_LINT: dict[str, Gate] = {"verify": verify, "screen": screen, "solve": solve}


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a candidate fared in one run.

    Attributes:
        id: Key of the attempt in the database; empty when it could not be written.
        outcome: The one outcome.
        gate: The last gate that ran.
        reason: Empty when it passed.
        sentence: The reason in words; further lines name further faults.
        path: The file, as shown to people.
        candidate_id: Its id, empty when the file could not be read.
        fingerprint: Its fingerprint, empty when the file could not be read.
        warnings: What a reviewer should look at.
        reused: Paid results of earlier runs that were used.
        made: Paid results bought now.
        seconds: How long it took to judge.
    """

    id: str
    outcome: Outcome
    gate: str
    reason: str
    sentence: str
    path: str
    candidate_id: str = ""
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()
    reused: int = 0
    made: int = 0
    seconds: float = 0.0

    def to_json(self) -> str:
        """The attempt as one JSON string, to travel between processes."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Attempt":
        """The attempt that `to_json` wrote.

        Raises:
            ValueError: It is not whole.
        """
        values = json.loads(text)
        return cls(**{**values, "warnings": tuple(values["warnings"])})

    @property
    def headline(self) -> str:
        """`<outcome> at <gate>: <reason>: <sentence>`, in one line."""
        first = self.sentence.splitlines()[0] if self.sentence else ""
        return ": ".join(filter(None, (f"{self.outcome} at {self.gate}", self.reason, first)))


def judge(path: Path, bench: Workbench) -> Attempt:
    """Pass one candidate file through the gates of the run."""
    return _Judgement(path, bench).attempt()


class _Judgement:
    def __init__(self, path: Path, bench: Workbench) -> None:
        self.bench = bench
        self.path = path
        self.shown = bench.run.shown(path)
        self.attempt_id = ""
        self.candidate: Candidate | None = None
        self.gate = "lint"
        self.results: list[GateResult] = []
        self.begun = time.monotonic()

    def attempt(self) -> Attempt:
        try:
            try:
                self._pass_gates()
            except StoreError:
                raise
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is no verdict on the candidate
                self.attempt_id = self.attempt_id or self._begin()
                # What fails because the run's directory is gone is no fault of ours.
                ended = error("interrupted", "the session has ended")
                self._note(ended if self.bench.ended else error("internal", fault(problem)), time.monotonic())
            attempt = self._attempt()
            self._append_outcome(attempt)
        except StoreError as problem:
            self.results.append(error("internal", str(problem)))
            attempt = self._attempt()
        return attempt

    def _pass_gates(self) -> None:
        begun = time.monotonic()
        self.candidate, result = lint(self.path, self.bench)
        self.attempt_id = self._begin()
        self._note(result, begun)
        for gate in self.bench.run.gates:
            if result.verdict != "passed":
                return
            if gate == "lint" or self.candidate is None:
                continue
            if self.bench.ended:
                self._note(error("interrupted", "the session has ended"), time.monotonic())
                return
            self.gate = gate
            begun = time.monotonic()
            result = _AFTER_LINT[gate](self.candidate, self.bench, self.attempt_id)
            self._note(result, begun)

    def _begin(self) -> str:
        store, candidate = self.bench.store, self.candidate
        content_id = None
        if candidate is not None:
            # The fingerprint leaves out what no gate depends on (id, tags), which the item is to hold all the same.
            known = store.query(
                "SELECT id FROM candidates WHERE fingerprint = ? AND content = ? LIMIT 1",
                [candidate.fingerprint, as_column(candidate.content())],
            )
            content_id = known[0]["id"] if known else store.append("candidates", {
                "fingerprint": candidate.fingerprint,
                "presented": candidate.presented,
                "twin_key": candidate.twin_key,
                "content": candidate.content(),
            })  # fmt: skip
        return store.append("attempts", {
            "run_id": self.bench.run.id,
            "path": self.shown,
            "candidate_id": candidate.id if candidate else None,
            "content_id": content_id,
            "fingerprint": candidate.fingerprint if candidate else None,
        })  # fmt: skip

    def _note(self, result: GateResult, begun: float) -> None:
        result = dataclasses.replace(
            result, sentence=escaped(result.sentence), warnings=tuple(map(escaped, result.warnings))
        )
        self.results.append(result)
        self.bench.store.append("gates", {
            "attempt_id": self.attempt_id,
            "gate": self.gate,
            "verdict": result.verdict,
            "reason": result.reason,
            "sentence": result.sentence,
            "warnings": list(result.warnings),
            "seconds": round(time.monotonic() - begun, 3),
        })  # fmt: skip

    def _attempt(self) -> Attempt:
        last = self.results[-1]
        outcome: Outcome = last.verdict if last.verdict != "passed" else self._passed()
        return Attempt(
            id=self.attempt_id,
            outcome=outcome,
            gate=self.gate,
            reason=last.reason,
            sentence=last.sentence,
            path=self.shown,
            candidate_id=self.candidate.id if self.candidate else "",
            fingerprint=self.candidate.fingerprint if self.candidate else "",
            warnings=tuple(warning for result in self.results for warning in result.warnings),
            reused=sum(result.reused for result in self.results),
            made=sum(result.made for result in self.results),
            seconds=time.monotonic() - self.begun,
        )

    def _passed(self) -> Outcome:
        return "accepted" if set(self.bench.run.gates) == set(GATES) else "provisional"

    def _append_outcome(self, attempt: Attempt) -> None:
        if self.bench.store.query("SELECT 1 FROM outcomes WHERE attempt_id = ?", [attempt.id]):
            return  # the process that waited for it has died, and the run has said so
        self.bench.store.append("outcomes", {
            "attempt_id": attempt.id,
            "outcome": attempt.outcome,
            "gate": attempt.gate,
            "reason": attempt.reason,
            "sentence": attempt.sentence,
            "warnings": list(attempt.warnings),
            "reused": attempt.reused,
        })  # fmt: skip
