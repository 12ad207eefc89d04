"""The study of `tests/study.py` as a database, written row by row: what its rounds and audits would have left.

The screen of the loop saw the options in their written order, as in the study's pilot; audits saw them shuffled.
"""

import itertools
import random
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from study import Audit, Round, study

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.screen.cues import picks, scores
from pytest_toolgate.store import Store, as_column

FIXED = "ABCD"
PILOT = "pilot"
GENERATOR_HOURS, SOLVER_HOURS = 29.4, 5.49
# Audit of the study -> name of the audit, model, reasoning.
SCREENS: Mapping[Audit, tuple[str, str, str]] = {
    "gpt-5.4": ("gpt-5.4", "gpt-5.4", "none"),
    "opus-4.8": ("opus-4.8", "opus-4.8", "none"),
    "gpt-5.5-none": ("gpt-5.5-none", "gpt-5.5", "none"),
    "gpt-5.5-medium": ("gpt-5.5-medium", "gpt-5.5", "medium"),
}
SOLVERS: Mapping[Audit, tuple[str, str]] = {
    "gpt-5.5-tools": ("fenicsx", "gpt-5.5"),
    "other-tools": ("other", "opus-4.8"),
}
_TOPICS = ("interpolation", "gradient", "basis", "deformed", "stretched", "spectrum")


def write_study(path: Path, rounds: Sequence[Round] | None = None) -> None:
    """Write the whole study, in one transaction.

    Args:
        path: The database, which is made.
        rounds: The rounds; those of the study if they are not given.
    """
    Store(path).close()
    _Writer(rounds or study()).write(path)


class _Writer:
    def __init__(self, rounds: Sequence[Round]) -> None:
        self.rounds = rounds
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self._count = itertools.count(1)
        self._draw = random.Random(7)
        self.candidates = {each.number: self._candidate(each) for each in rounds}
        self.contents: dict[int, str] = {}
        self.paid: dict[tuple[int, str], list[str]] = {}  # round, what was asked -> rows that answer it

    def write(self, path: Path) -> None:
        self._loop()
        for audit, (name, model, reasoning) in SCREENS.items():
            self._screen_audit(audit, name, model, reasoning)
        for audit, (name, model) in SOLVERS.items():
            self._solver_audit(audit, name, model)
        with sqlite3.connect(path) as connection:
            for table, rows in self.rows.items():
                names = list(rows[0])
                sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
                connection.executemany(sql, [[as_column(row[name]) for name in names] for row in rows])
        connection.close()

    def add(self, table: str, **row: Any) -> str:  # noqa: ANN401 - whatever a column holds
        number = next(self._count)
        key = f"{number:032x}"
        minutes, milliseconds = divmod(number, 60_000)
        time = f"2026-08-01T{minutes // 60:02}:{minutes % 60:02}:{milliseconds / 1000:06.3f}+00:00"
        self.rows.setdefault(table, []).append({"id": key, "time": time, **row})
        return key

    # --- candidates ----------------------------------------------------------------------------------------

    def _candidate(self, each: Round) -> Candidate:
        """One whose answer has the letter and the rank of the round, and whose words are those of its template."""
        number = each.repeats or each.number
        values = [f"{number + step / 8:.3f}" for step in (1, 2, 3, 4)]
        answer = values.pop(each.rank - 1)
        others = iter(values)
        options = {letter: answer if letter == each.letter else next(others) for letter in "ABCD"}
        # Rounds that were not accepted have no template in the study, and are each like no other here.
        words = f"t{each.template}" if each.outcome == "accepted" else f"n{number}"
        topic = _TOPICS[each.template]
        told = " ".join(f"{topic}{words}{place}" for place in range(12))
        script = "\n".join(f"{topic}_{words}_{place} = compute_{words}_{place}()" for place in range(12))
        return Candidate(
            f"{each.number:04}", f"For {told} and load {number}, what is the value?", options, each.letter,
            f"import dolfinx\n{script}\nprint('ANSWER: {answer}')\n", "fenicsx",
            Path(f"candidates/{each.number:04}.yaml"),
        )  # fmt: skip

    def _attempt(self, run: str, number: int, round_id: str | None = None) -> str:
        one = self.candidates[number]
        if number not in self.contents:
            self.contents[number] = self.add(
                "candidates", fingerprint=one.fingerprint, presented=one.presented, twin_key=one.twin_key,
                content=one.content(),
            )  # fmt: skip
        return self.add(
            "attempts", run_id=run, path=str(one.path), candidate_id=one.id, content_id=self.contents[number],
            fingerprint=one.fingerprint, round_id=round_id,
        )  # fmt: skip

    def _run(self, audit: str | None, gates: Sequence[str], screens: Sequence[Mapping[str, Any]]) -> str:
        run = self.add(
            "runs", version="0.1.0", seed=0, gates=list(gates), settings={"screens": list(screens)}, machine={},
            seal=None, audit=audit,
        )  # fmt: skip
        self.add("run_events", run_id=run, kind="closed", detail={})
        return run

    def _gate(self, attempt: str, gate: str, verdict: str, reason: str = "") -> None:
        sentence = f"{reason} it was" if reason else ""
        self.add(
            "gates", attempt_id=attempt, gate=gate, verdict=verdict, reason=reason, sentence=sentence, warnings=[],
            seconds=1.0,
        )  # fmt: skip

    def _outcome(self, attempt: str, outcome: str, gate: str, reason: str = "") -> None:
        sentence = f"{reason} it was" if reason else ""
        self.add(
            "outcomes", attempt_id=attempt, outcome=outcome, gate=gate, reason=reason, sentence=sentence, warnings=[],
            reused=0,
        )  # fmt: skip

    # --- the loop ------------------------------------------------------------------------------------------

    def _loop(self) -> None:
        screen = {"name": PILOT, "samples": 3, "reject_at": 2, "model": "gpt-5.4", "reasoning": "none"}
        run = self._run(None, ["lint", "verify", "screen", "solve"], [screen])
        for each in self.rounds:
            round_id = self.add("rounds", run_id=run, domain="fenicsx", number=each.number, prompt="go on", known=[])
            self.add(
                "proposals", run_id=run, round_id=round_id, ended="proposed", note="", content="", settings={},
                agent="codex", agent_version=None, environment={}, used=[], called=None, transcript=[], turns=9,
                input_tokens=None, cached_tokens=None, output_tokens=None, reasoning_tokens=None, cost=None,
                wall=GENERATOR_HOURS * 3600 / len(self.rounds),
            )  # fmt: skip
            self._judge(each, self._attempt(run, each.number, round_id), run)

    def _judge(self, each: Round, attempt: str, run: str) -> None:
        one = self.candidates[each.number]
        self._gate(attempt, "lint", "passed")
        failed = each.outcome == "mismatch"
        self.add(
            "script_runs", attempt_id=attempt, number=0, presentation="BADC", environment={}, sandbox="bubblewrap",
            ended="exited", exit_code=0, signal=None, answer="5" if failed else one.value,
            matched=None if failed else one.answer, wall=2.0, cpu=1.0, peak_memory=1, disk_used=1, used=["dolfinx"],
            stdout=f"ANSWER: {one.value}\n", stderr="",
        )  # fmt: skip
        self._gate(attempt, "verify", "rejected" if failed else "passed", "mismatch" if failed else "")
        if failed:
            self._outcome(attempt, "rejected", "verify", "mismatch")
            return
        self._replies(each, attempt, run, PILOT, "gpt-5.4", "none", [(FIXED, letter) for letter in each.chosen])
        if each.outcome == "too-easy":
            self._gate(attempt, "screen", "rejected", "too-easy")
            self._outcome(attempt, "rejected", "screen", "too-easy")
            return
        self._gate(attempt, "screen", "passed")
        for cue, score in scores(one.options, one.answer).items():
            self.add("cues", attempt_id=attempt, cue=cue, picks="".join(picks(one.options)[cue]), score=score)
        solved = each.outcome == "accepted"
        self._solve(each, attempt, run, "codex", "gpt-5.5", "" if solved else "wrong", SOLVER_HOURS * 3600 / 218)
        self._gate(attempt, "solve", "passed" if solved else "review", "" if solved else "wrong")
        self._outcome(attempt, "accepted" if solved else "review", "solve", "" if solved else "wrong")

    def _replies(
        self, each: Round, attempt: str, run: str, screen: str, model: str, reasoning: str,
        calls: Sequence[tuple[str, str]],
    ) -> None:  # fmt: skip
        """Calls by presentation and own letter chosen; a round that repeats another one reuses its replies."""
        asked = each.repeats or each.number, screen
        one = self.candidates[each.number]
        reused = asked in self.paid
        if not reused:
            self.paid[asked] = [
                self.add(
                    "replies", attempt_id=attempt, run_id=run, reuse_key=f"{asked}{index}", screen=screen,
                    call_index=index, settings={"model": model, "reasoning": reasoning, "mode": None},
                    provider="lab", base_url="http://127.0.0.1", model_asked=model, model_served=model, seed=0,
                    presentation=presentation, status="answered", text=f"({letter})", note="", chosen=letter,
                    value=one.options[letter], correct=letter == one.answer, input_tokens=200, cached_tokens=0,
                    output_tokens=4, reasoning_tokens=0, cost=None if model == "opus-4.8" else 0.0005, requests=1,
                    latency=1.5, request={},
                )
                for index, (presentation, letter) in enumerate(calls)
            ]  # fmt: skip
        for key, (_, letter) in zip(self.paid[asked], calls, strict=True):
            self.add(
                "uses", attempt_id=attempt, kind="reply", used_id=key, reused=reused, correct=letter == one.answer
            )  # fmt: skip

    def _solve(self, each: Round, attempt: str, run: str, solver: str, model: str, reason: str, wall: float) -> None:
        one = self.candidates[each.number]
        chosen = None if reason == "timeout" else one.answer if not reason else "ABCD".replace(one.answer, "")[0]
        key = self.add(
            "agent_runs", attempt_id=attempt, run_id=run, reuse_key=f"{solver}{each.number}", agent="codex",
            settings={"model": model, "reasoning": "medium"}, seed=0, presentation="BCDA", environment={},
            outcome="review" if reason else "passed", reason=reason, note=reason, answer=chosen, chosen=chosen,
            value=None, correct=not reason, used=["dolfinx"], transcript=[], turns=3, input_tokens=None,
            cached_tokens=None, output_tokens=None, reasoning_tokens=None, cost=None, wall=wall, solver=solver,
            control=0,
        )  # fmt: skip
        self.add("uses", attempt_id=attempt, kind="agent_run", used_id=key, reused=0, correct=not reason)

    # --- audits --------------------------------------------------------------------------------------------

    def _screen_audit(self, audit: Audit, name: str, model: str, reasoning: str) -> None:
        screen = {"name": name, "samples": 3, "reject_at": 2, "model": model, "reasoning": reasoning}
        run = self._run(name, ["screen"], [screen])
        right, wrong = self._places(), self._places()
        for each in self.rounds:
            if audit not in each.asked or each.repeats:
                continue  # the same content has one attempt in an audit
            attempt = self._attempt(run, each.number)
            solved = audit in each.solved
            # Every third round has one more right call than it needs.
            hits = 2 + (each.number % 4 == 0) if solved else int(each.number % 5 < 2)
            calls = [self._shuffled(each, next(right if call < hits else wrong), call < hits) for call in range(3)]
            self._replies(each, attempt, run, name, model, reasoning, calls)
            self._gate(attempt, "screen", "rejected" if solved else "passed", "too-easy" if solved else "")
            self._outcome(
                attempt, "rejected" if solved else "provisional", "screen", "too-easy" if solved else ""
            )  # fmt: skip

    def _places(self) -> "itertools.cycle[int]":
        """Answers stand at every place alike, so that a call is as often right at each."""
        return itertools.cycle(self._draw.sample(range(4), 4))

    def _shuffled(self, each: Round, place: int, right: bool) -> tuple[str, str]:
        others = [letter for letter in "ABCD" if letter != each.letter]
        self._draw.shuffle(others)
        presentation = "".join([*others[:place], each.letter, *others[place:]])
        return presentation, each.letter if right else self._draw.choice(others)

    def _solver_audit(self, audit: Audit, name: str, model: str) -> None:
        run = self._run(name, ["solve"], [])
        for each in self.rounds:
            if audit not in each.asked or each.repeats:
                continue
            attempt = self._attempt(run, each.number)
            reason = "" if audit in each.solved else "timeout"
            self._solve(each, attempt, run, name, model, reason, 300.0 if reason else 80.0)
            self._gate(attempt, "solve", "review" if reason else "passed", reason)
            self._outcome(attempt, "review" if reason else "provisional", "solve", reason)
