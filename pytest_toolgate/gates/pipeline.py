"""One candidate through all gates, every step recorded as it happens."""

import dataclasses
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..candidate import Candidate, Fault
from ..config import GATES
from ..store import StoreError, as_column, new_id, now
from .lint import lint
from .result import GateResult, Verdict, error, escaped, fault, passed
from .workbench import Workbench

Outcome = Literal["accepted", "provisional", "rejected", "review", "error"]
Gate = Callable[[Candidate, Workbench, str], GateResult]


def _after_lint(name: str) -> Gate:
    """A gate by its name. Each worker of a run pays for what it imports, and most runs need not all of them."""
    if name == "verify":
        from .verify import verify

        return verify
    if name == "screen":
        from .screen import screen

        return screen
    from .solve import solve

    return solve


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a candidate comes from that a generator has proposed.

    Attributes:
        round_id: Key of its round.
        refuse: What is wrong with it among the others of its pool, to be asked once its form is right.
    """

    round_id: str
    refuse: Callable[[Candidate], Fault | None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a candidate fared in one run.

    Attributes:
        id: Key of the attempt in the database; empty when it could not be written.
        outcome: The one outcome.
        gate: The last of the four gates that ran, or `check` where an extra check ended it.
        reason: Empty when it passed.
        sentence: The reason in words; further lines name further faults, or the evidence.
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


def judge(path: Path, bench: Workbench, origin: Origin | None = None) -> Attempt:
    """Pass one candidate file through the gates of the run."""
    return _Judgement(path, bench, origin).attempt()


def judge_recorded(candidate: Candidate, bench: Workbench) -> Attempt:
    """Pass a candidate that the database holds through the gates of the run, as it was recorded.

    Its file is not read, so gate lint has no part in it.
    """
    return _Judgement(candidate.path, bench, recorded=candidate).attempt()


def outcome_of(verdict: Verdict, gates: Collection[str]) -> Outcome:
    """What the verdict of the last gate comes to, of those that a run has."""
    if verdict != "passed":
        return verdict
    return "accepted" if set(gates) == set(GATES) else "provisional"


class _Judgement:
    def __init__(
        self, path: Path, bench: Workbench, origin: Origin | None = None, recorded: Candidate | None = None
    ) -> None:
        self.bench = bench
        self.origin = origin
        self.path = path
        self.shown = bench.run.shown(path)
        self.attempt_id = ""
        self.candidate = recorded
        self.gate = bench.run.gates[0] if recorded else "lint"
        self.results: list[GateResult] = []
        self.rows: list[tuple[str, dict[str, Any]]] = []  # not written yet: what comes at one moment is one transaction
        self.begun = time.monotonic()

    def attempt(self) -> Attempt:
        try:
            try:
                self._pass_gates()
            except StoreError:
                raise
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is no verdict on the candidate
                if not self.attempt_id:
                    self._begin()
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
        result = self._taken_in()
        for gate in self.bench.run.gates:
            if result.verdict != "passed":
                return
            if gate == "lint" or self.candidate is None:
                continue
            if self.bench.ended:
                self._note(error("interrupted", "the session has ended"), time.monotonic())
                return
            self._write()
            self.gate = gate
            begun = time.monotonic()
            result = _after_lint(gate)(self.candidate, self.bench, self.attempt_id)
            self._note(result, begun)
            if gate == "verify" and result.verdict == "passed":
                result = self._check(self.candidate) or result

    def _check(self, candidate: Candidate) -> GateResult | None:
        """The extra checks between verify and screen, where there are any."""
        from .check import CHECK, check

        self._write()
        begun = time.monotonic()
        result = check(candidate, self.bench, self.attempt_id)
        if result is not None:
            self._note(result, begun, CHECK)
            if result.verdict != "passed":
                self.gate = CHECK
        return result

    def _taken_in(self) -> GateResult:
        """Gate lint, and with what it has found out the attempt's own row; what is recorded has passed it."""
        begun = time.monotonic()
        if self.candidate is not None:
            self._begin()
            return passed()
        self.candidate, result = lint(self.path, self.bench, self.origin.refuse if self.origin else None)
        self._begin()
        self._note(result, begun)
        return result

    def _begin(self) -> None:
        store, candidate = self.bench.store, self.candidate
        content_id = None
        if candidate is not None:
            # The fingerprint leaves out what no gate depends on (id, tags), which the item is to hold all the same.
            known = store.query(
                "SELECT id FROM candidates WHERE fingerprint = ? AND content = ? LIMIT 1",
                [candidate.fingerprint, as_column(candidate.content())],
            )
            content_id = known[0]["id"] if known else new_id()
            if not known:
                self._add("candidates", {
                    "id": content_id,
                    "fingerprint": candidate.fingerprint,
                    "presented": candidate.presented,
                    "twin_key": candidate.twin_key,
                    "content": candidate.content(),
                })  # fmt: skip
        self.attempt_id = new_id()
        self._add("attempts", {
            "id": self.attempt_id,
            "run_id": self.bench.run.id,
            "path": self.shown,
            "candidate_id": candidate.id if candidate else None,
            "content_id": content_id,
            "fingerprint": candidate.fingerprint if candidate else None,
            "round_id": self.origin.round_id if self.origin else None,
        })  # fmt: skip

    def _note(self, result: GateResult, begun: float, gate: str = "") -> None:
        result = dataclasses.replace(
            result, sentence=escaped(result.sentence), warnings=tuple(map(escaped, result.warnings))
        )
        self.results.append(result)
        self._add("gates", {
            "attempt_id": self.attempt_id,
            "gate": gate or self.gate,
            "verdict": result.verdict,
            "reason": result.reason,
            "sentence": result.sentence,
            "warnings": list(result.warnings),
            "seconds": round(time.monotonic() - begun, 3),
        })  # fmt: skip

    def _attempt(self) -> Attempt:
        last = self.results[-1]
        outcome = outcome_of(last.verdict, self.bench.run.gates)
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

    def _append_outcome(self, attempt: Attempt) -> None:
        if self.bench.store.query("SELECT 1 FROM outcomes WHERE attempt_id = ?", [attempt.id]):
            self._write()
            return  # the process that waited for it has died, and the run has said so
        self._add("outcomes", {
            "attempt_id": attempt.id,
            "outcome": attempt.outcome,
            "gate": attempt.gate,
            "reason": attempt.reason,
            "sentence": attempt.sentence,
            "warnings": list(attempt.warnings),
            "reused": attempt.reused,
        })  # fmt: skip
        self._write()

    def _add(self, table: str, row: dict[str, Any]) -> None:
        self.rows.append((table, {"time": now(), **row}))

    def _write(self) -> None:
        rows, self.rows = self.rows, []
        self.bench.store.append_all(rows)
