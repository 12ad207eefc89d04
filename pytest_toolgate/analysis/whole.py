"""The whole analysis of a database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..audit import Recorded, Table, reported_pool
from ..pool.similarity import MAX_SIMILARITY
from ..store import Store
from . import findings
from .agreement import Agreement, all_pairs
from .cases import read_cases
from .costs import Costs, read_costs
from .cues import Guesser, cue_screens, guessers
from .findings import Finding
from .funnel import Step, funnel
from .intervals import Share
from .items import Item, read_items
from .letters import Answers, ScreenLetters, answers, plain, screen_letters
from .screens import Screen, read_screens
from .shuffling import FixedAndShuffled, fixed_against_shuffled
from .solvers import Solver, read_solvers
from .templates import Diversity, diversity


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a report shows.

    Attributes:
        database: Path of the database.
        runs: How many runs it holds.
        unclosed: How many of them have not come to their end: they go on, or were killed.
        audits: Names of its audits, the oldest first.
        funnel: The loop, gate by gate.
        pool: The reported pool; None where no audits were named.
        answers: Where the answers of verified candidates are.
        screens: Screens that give verdicts.
        letters: What each of them chose, in the same order.
        shuffling: Fixed against shuffled order.
        screen_pairs: How two screens agree.
        solvers: Solvers and their control runs.
        solver_pairs: How two solvers agree, control runs aside.
        guessers: What guessers without a model score on verified candidates.
        cue_screens: Name of each cue screen -> its right calls.
        diversity: What the accepted items repeat, and where audits are named, those of the reported pool.
        costs: Time, tokens and money.
        items: Every candidate of the loop.
        findings: What to know of all this, in sentences.
    """

    database: str
    runs: int
    unclosed: int
    audits: tuple[str, ...]
    funnel: tuple[Step, ...]
    pool: Table | None
    answers: Answers
    screens: tuple[Screen, ...]
    letters: tuple[ScreenLetters, ...]
    shuffling: tuple[FixedAndShuffled, ...]
    screen_pairs: tuple[Agreement, ...]
    solvers: tuple[Solver, ...]
    solver_pairs: tuple[Agreement, ...]
    guessers: tuple[Guesser, ...]
    cue_screens: dict[str, Share]
    diversity: tuple[Diversity, ...]
    costs: Costs
    items: tuple[Item, ...]
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> list[Item]:
        """The accepted items."""
        return [item for item in self.items if item.outcome == "accepted"]

    @property
    def others(self) -> list[Item]:
        """All others: rejected, for review, provisional, or without verdict."""
        return [item for item in self.items if item.outcome != "accepted"]

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "database": self.database,
            "runs": self.runs,
            "runs_not_closed": self.unclosed,
            "audits": list(self.audits),
            "funnel": [step.plain() for step in self.funnel],
            "reported_pool": None if self.pool is None else self.pool.plain(),
            "findings": [finding.plain() for finding in self.findings],
            "answers": self.answers.plain(),
            "screens": [
                {**one.plain(), **found.plain()} for one, found in zip(self.screens, self.letters, strict=True)
            ],
            "fixed_against_shuffled": [one.plain() for one in self.shuffling],
            "screen_agreement": [pair.plain() for pair in self.screen_pairs],
            "solvers": [solver.plain() for solver in self.solvers],
            "solver_agreement": [pair.plain() for pair in self.solver_pairs],
            "cues": [guesser.plain() for guesser in self.guessers],
            "cue_screens": plain(self.cue_screens),
            "diversity": [alike.plain() for alike in self.diversity],
            "costs": self.costs.plain(),
            "items": [item.plain() for item in self.items],
        }


def analyse(store: Store, audits: Sequence[str] = (), similarity: float = MAX_SIMILARITY) -> Analysis:
    """Analyse a database; an empty one has an analysis too.

    Args:
        store: The database.
        audits: Audits that define the reported pool, in the order in which they remove.
        similarity: From which Jaccard similarity on two candidates are alike, above 0 and at most 1.

    Raises:
        AuditError: There is no such audit.
    """
    table = reported_pool(store, audits) if audits else None
    cases = read_cases(store)
    asked, solvers = read_screens(store, cases), read_solvers(store, cases)
    screens = tuple(screen for screen in asked if screen.mode is None)
    letters = tuple(map(screen_letters, screens))
    verified = cases.verified()
    answered, guessed = answers(verified), guessers(verified)
    shuffled = tuple(fixed_against_shuffled(screens))
    screen_pairs = all_pairs({screen.name: screen.verdicts for screen in screens})
    solver_pairs = all_pairs({solver.name: solver.verdicts for solver in solvers if not solver.control})
    alike = tuple(diversity(store, pool, what, similarity) for pool, what in _pools(cases.loop, table))
    told = (
        *findings.of_answers(answered, guessed),
        *(finding for pair in zip(screens, letters, strict=True) for finding in findings.of_screen(*pair)),
        *findings.of_shuffling(shuffled),
        *findings.of_pairs("screens", screen_pairs),
        *findings.of_pairs("solvers", solver_pairs),
        *(finding for pool in alike for finding in findings.of_diversity(pool)),
    )
    [runs] = store.query(
        "SELECT count(*) AS n, total(NOT EXISTS (SELECT 1 FROM run_events WHERE run_id = runs.id AND kind = 'closed'))"
        " AS unclosed FROM runs"
    )
    return Analysis(
        database=str(store.path),
        runs=runs["n"],
        unclosed=int(runs["unclosed"]),
        audits=cases.audits,
        funnel=funnel(cases.loop),
        pool=table,
        answers=answered,
        screens=screens,
        letters=letters,
        shuffling=shuffled,
        screen_pairs=screen_pairs,
        solvers=solvers,
        solver_pairs=solver_pairs,
        guessers=guessed,
        cue_screens=cue_screens([screen for screen in asked if screen.mode is not None]),
        diversity=alike,
        costs=read_costs(store, sum(one.accepted for one in cases.loop)),
        items=read_items(store, cases),
        findings=told,
    )


def _pools(loop: Sequence[Recorded], table: Table | None) -> Iterator[tuple[list[Recorded], str]]:
    """The pools whose repetitions matter, and what they are called.

    The accepted items, or where there are none yet, the verified ones; then the reported pool before deduplication.
    """
    if accepted := [one for one in loop if one.accepted]:
        yield accepted, "accepted items"
    else:
        yield [one for one in loop if one.standing == "verified"], "verified candidates"
    if table is not None:
        yield [*table.stages[-1].out, *table.stages[-1].removed], "candidates of the reported pool"
