"""An audit at work: the candidates of a pool through some screens and solvers, several at once."""

import dataclasses
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..candidate import Candidate
from ..config import Settings
from ..crew import Crew
from ..gates import Attempt, Workbench, judge_recorded
from ..gates.ahead import threads_ahead
from ..gates.money import budget_spent
from ..gates.result import fault
from .names import AuditError
from .pool import PASSED


def chosen(settings: Settings, screens: Sequence[str], solvers: Sequence[str]) -> Settings:
    """The configuration with the named screens and solvers alone, in its own order.

    Where `accept` asks for more solvers than are named, all that are named must solve a candidate.

    Raises:
        AuditError: One of them is not configured, or none is named that gives a verdict.
    """
    _check("screen", screens, [screen.name for screen in settings.screens])
    _check("solver", solvers, [solver.name for solver in settings.solve])
    accept = settings.accept
    found = dataclasses.replace(
        settings,
        screens=tuple(screen for screen in settings.screens if screen.name in screens),
        solve=tuple(solver for solver in settings.solve if solver.name in solvers),
        accept=accept if isinstance(accept, str) else min(accept, max(1, len(solvers))),
    )
    if found.screens and not found.verdict_screens:
        raise AuditError("cue screens give no verdict: name a screen without `mode` beside them")
    if not found.screens and not found.solve:
        raise AuditError("an audit needs a screen or a solver: name some with --screens or --solvers")
    return found


def _check(what: str, named: Sequence[str], known: Sequence[str]) -> None:
    for name in named:
        if name not in known:
            there = ", ".join(f"`{each}`" for each in known) or "none"
            raise AuditError(f"the configuration has no {what} `{name}`; it has {there}")


@dataclass(slots=True)
class Progress:
    """How far an audit has come.

    Attributes:
        endings: How an attempt has ended -> how many have.
        done: Candidates with a verdict, those of earlier runs included.
        now: Those of this run.
        errors: Attempts of this run that ended without verdict, as sentences.
        log: A line for each attempt that has ended.
        stopped: Why no further candidate is begun; empty while there are some to begin.
    """

    endings: Counter[str] = field(default_factory=Counter)
    done: int = 0
    now: int = 0
    errors: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    stopped: str = ""


class Rescreen:
    """One run of an audit."""

    def __init__(
        self, candidates: Sequence[Candidate], bench: Workbench, done: int = 0, threads: int | None = None
    ) -> None:
        """Prepare it.

        Args:
            candidates: Those that have no verdict yet.
            bench: What gates work with.
            done: How many have one.
            threads: How many are under way at once; None is what the providers allow.
        """
        self._open = deque(candidates)
        self._bench = bench
        self._count = min(len(candidates), max(1, threads or threads_ahead(bench.settings, bench.run.gates)))
        self._turn = threading.Lock()
        self.crew = Crew()
        self._progress = Progress(done=done)

    def start(self) -> None:
        """Begin; the crew says when it is over."""
        self.crew.start(self._count, self._work)

    @property
    def progress(self) -> Progress:
        """How far it has come at this moment."""
        with self._turn:
            now = self._progress
            return dataclasses.replace(now, endings=Counter(now.endings), errors=list(now.errors), log=list(now.log))

    def stop(self, why: str) -> None:
        """Begin no further candidate; those in hand are finished."""
        with self._turn:
            self._progress.stopped = self._progress.stopped or why

    def abandon(self, why: str) -> None:
        """End at once: what is in hand is taken up by the next run."""
        self.stop(why)
        self._bench.end()

    def _work(self) -> None:
        while (candidate := self._claim()) is not None:
            try:
                attempt = judge_recorded(candidate, self._bench)
            except BaseException as problem:  # noqa: BLE001 - whatever it is, it is no verdict, and others go on
                shown, sentence = self._bench.run.shown(candidate.path), fault(problem)
                self._note(lambda: self._failed(f"{shown}: {sentence}"))  # noqa: B023 - called at once
            else:
                self._note(lambda: self._ended(attempt))  # noqa: B023 - called at once

    def _claim(self) -> Candidate | None:
        """The next candidate; None when no further one is to be begun."""
        if self._open and (refused := self._bench.refusal() or budget_spent(self._bench)):
            self.stop(refused.sentence)
        with self._turn:
            return None if self._progress.stopped or not self._open else self._open.popleft()

    def _note(self, change: Callable[[], None]) -> None:
        with self._turn:
            change()

    def _ended(self, attempt: Attempt) -> None:
        if attempt.outcome == "error":
            self._failed(f"{attempt.path}: {attempt.headline}")
            return
        passed = attempt.outcome in PASSED
        ending = "passed" if passed else f"{attempt.outcome} at {attempt.gate}: {attempt.reason}"
        self._progress.endings[ending] += 1
        self._progress.done += 1
        self._progress.now += 1
        self._progress.log.append(f"{attempt.path}: {ending if passed else attempt.headline}")

    def _failed(self, told: str) -> None:
        self._progress.errors.append(told)
        self._progress.log.append(f"{told} (no verdict)")
