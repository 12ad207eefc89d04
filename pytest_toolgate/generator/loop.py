"""The loop: a prompt, a proposal, a verdict, and again. Every step is in the database before the next one begins."""

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..candidate import Candidate
from ..config import GenerateSettings
from ..crew import Crew
from ..domains import Domain
from ..gates import Workbench
from ..gates.check import checks_due
from ..gates.money import budget_spent
from ..gates.result import fault
from ..store import StoreError
from .feedback import Record, feedback
from .history import Begun, counted_twice, rounds_begun, rounds_over
from .items import Items, LoopError
from .judge import Judge, name_of
from .newcomers import Newcomers
from .pool_wishes import wishes
from .prompt import Setting, build
from .proposing import propose

# Rounds in a row without any verdict, after which something is wrong that the next one will not mend.
_MOST_ERRORS: Final = 3
# What is wrong with one candidate alone, so that the next one may fare better.
_ITS_OWN: Final = ("check", "inconclusive", "internal")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a generation is to do.

    Attributes:
        rounds: Rounds that there are to be in the end, those of earlier runs included.
        parallel: Rounds under way at once.
        seconds: No round is begun after so long; None for no limit.
        directory: Where the candidates that were proposed are put.
    """

    rounds: int
    parallel: int
    seconds: float | None
    directory: Path


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a generation has come.

    Attributes:
        endings: Ending of a round -> how many rounds have ended so, earlier runs included.
        done: Rounds that are over, of those that there are to be; earlier runs included.
        now: Rounds that were ended by this run.
        errors: Rounds of this run that ended without verdict, as sentences.
        log: What has happened, a line for each round that was ended.
        stopped: Why no further round is begun; empty while there are some to begin.
    """

    endings: Mapping[str, int]
    done: int
    now: int
    errors: tuple[str, ...]
    log: tuple[str, ...]
    stopped: str


class Loop:
    """One run of the generator over the rounds of a domain."""

    def __init__(
        self,
        domain: Domain,
        seeds: Sequence[Candidate],
        settings: GenerateSettings,
        plan: Plan,
        bench: Workbench,
    ) -> None:
        """Take up where earlier runs have ended.

        Args:
            domain: The target software.
            seeds: Examples for the prompt.
            settings: The generator.
            plan: What to do.
            bench: What gates work with; candidates that name no domain are of this one.

        Raises:
            LoopError: What is on disk and what is in the database do not belong together.
        """
        self._domain = domain
        self._settings = settings
        self._plan = plan
        self._bench = dataclasses.replace(bench, settings=dataclasses.replace(bench.settings, domain=domain.name))
        self._setting = Setting(
            title=domain.title,
            domain=domain.name,
            packages=domain.packages,
            guide=domain.guide,
            seeds=tuple(seeds),
            time_limit=bench.settings.verify.time_limit,
            seconds=settings.time_limit,
            gates=bench.run.gates,
            checks=tuple(checks_due(domain, bench.settings.checks)),
        )
        if number := counted_twice(bench.store, domain.name):
            # What a generator is told, and the ids of its proposals, go by these numbers.
            raise LoopError(
                f"{bench.store.path} holds round {number} of {domain.name} more than once, since databases of several "
                f"generators were merged: go on in one of theirs, and merge again"
            )
        past = rounds_over(bench.store, domain.name)
        self._records: dict[int, Record] = {each.record.number: each.record for each in past}
        self._items = Items(domain.name, self._bench)
        self._newcomers = Newcomers(self._items.members(past), settings, seeds)
        self._judge = Judge(domain.name, plan.directory, self._newcomers, self._bench)
        begun = {each.number: each for each in rounds_begun(bench.store, domain.name)}
        numbers = [number for number in range(1, plan.rounds + 1) if number not in self._records]
        # What has no verdict comes last: it may never get one, and keeps no other from being begun.
        self._open: list[tuple[int, Begun | None]] = sorted(
            ((number, begun.get(number)) for number in numbers), key=lambda each: each[1] is not None
        )
        for number, known in self._open:
            if known is None:
                self._items.check_place(number, self._judge.path(number))
        self._items.restore(past)
        self._deadline = None if plan.seconds is None else time.monotonic() + plan.seconds
        self._turn = threading.RLock()
        self._errors_in_a_row = 0
        self.crew = Crew()
        self._endings = Counter(each.ending for each in self._records.values())
        self._before = self._done
        self._errors: list[str] = []
        self._log: list[str] = []
        self._stopped = ""

    # --- from outside -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin; the crew says when it is over.

        Raises:
            LoopError: There is no place for proposals.
        """
        try:
            self._plan.directory.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise LoopError(f"{self._plan.directory} cannot be made: {problem.strerror}") from None
        self.crew.start(min(self._plan.parallel, len(self._open)), self._work)

    @property
    def progress(self) -> Progress:
        """How far it has come at this moment."""
        with self._turn:
            return Progress(
                endings=dict(self._endings.most_common()),
                done=self._done,
                now=self._done - self._before,
                errors=tuple(self._errors),
                log=tuple(self._log),
                stopped=self._stopped,
            )

    @property
    def _done(self) -> int:
        return sum(number in self._records for number in range(1, self._plan.rounds + 1))

    @property
    def domain(self) -> str:
        """Name of the target software's domain."""
        return self._domain.name

    @property
    def kept(self) -> Mapping[str, Candidate]:
        """Name -> candidate, of all accepted items of the domain."""
        return self._newcomers.kept

    def abandon(self, why: str) -> None:
        """End at once: rounds in hand are left as they are, and taken up by the next run."""
        self.stop(why)
        self._bench.end()

    def stop(self, why: str) -> None:
        """Begin no further round; those in hand are finished."""
        with self._turn:
            self._stopped = self._stopped or why

    # --- one round after the other ------------------------------------------------------------------------

    def _work(self) -> None:
        number: int | None = None
        while True:
            try:
                begun = self._claim()
                if begun is None:
                    return
                number = begun.number
                self._round(begun)
            except StoreError as problem:
                self.stop(str(problem))
                self._failed(number, str(problem))
            except BaseException as problem:  # noqa: BLE001 - whatever it is, it is no verdict, and nobody waits for it
                self._failed(number, fault(problem))
            if number is None:
                return  # no round could be begun
            number = None

    def _claim(self) -> Begun | None:
        """The next round, begun in the database; None when no further one is to be begun."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.stop("its time is over")
        if refused := self._bench.refusal() or budget_spent(self._bench):
            self.stop(refused.sentence)
        with self._turn:
            if self._stopped or not self._open:
                return None
            number, begun = self._open.pop(0)
            return begun or self._begin(number)

    def _begin(self, number: int) -> Begun:
        """Write the prompt from what is known at this moment; rounds begin one by one and in order."""
        wanted = wishes(self._newcomers.kept, self._settings, f"{self._bench.run.seed}/{number}")
        prompt = build(self._setting, number, feedback(list(self._records.values()), wanted))
        round_id = self._bench.store.append("rounds", {
            "run_id": self._bench.run.id,
            "domain": self._domain.name,
            "number": number,
            "prompt": prompt,
            "known": sorted(self._records),
        })  # fmt: skip
        return Begun(round_id, number, prompt, None)

    def _round(self, begun: Begun) -> None:
        proposal = begun.proposal or propose(
            begun.prompt, begun.id, self._domain, self._settings, self._bench, self._plan.directory
        )
        if proposal.ended == "error":
            self._failed(begun.number, f"{proposal.reason}: {proposal.sentence}", proposal.reason)
            return
        attempt = self._judge.judge(begun, proposal)
        if attempt.outcome == "error":
            self._failed(begun.number, attempt.headline, attempt.reason)
        else:
            self._over(begun.number)

    def _over(self, number: int) -> None:
        """Take in the round as the database has it, so that a prompt tells the same whoever asks."""
        [past] = rounds_over(self._bench.store, self._domain.name, number)
        record = past.record
        with self._turn:
            self._newcomers.decided(name_of(number), kept=record.kept)
            self._records[number] = record
            self._errors_in_a_row = 0
            self._endings[record.ending] += 1
            first = record.sentence.splitlines()[0] if record.sentence else ""
            self._log.append(": ".join(filter(None, (f"round {number}", record.ending, first))))
            if record.outcome == "accepted":
                try:
                    self._items.write(past)
                except OSError as problem:
                    why = (
                        f"the accepted item of round {number} cannot be written, and will be by the next run: {problem}"
                    )
                    self.stop(why)

    def _failed(self, number: int | None, sentence: str, reason: str = "") -> None:
        first = sentence.splitlines()[0] if sentence else "no reason is known"
        told = first if number is None else f"round {number}: {first}"
        with self._turn:
            if number is not None:
                self._newcomers.forget(name_of(number))
            self._errors.append(told)
            self._log.append(f"{told} (no verdict)")
            self._errors_in_a_row += reason not in _ITS_OWN
            if number is None or self._errors_in_a_row >= _MOST_ERRORS:
                self.stop(first)
