"""What an agent run depends on, under which it is found again, and what a recorded one says today. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import __version__
from ..candidate import Candidate
from ..candidate.presentation import Presentation, draw
from ..config import ProviderSettings, Settings, SolveSettings, Tier
from ..store.reuse import reuse_key
from .agreement import Votes

NO_TOOL = "solved without running the software"
ONLY_IMPORTED = "solved with the software imported and never called"
_LIMITS = ("memory-limit", "disk-limit", "output-limit")


def agent_run_key(
    candidate: Candidate,
    settings: SolveSettings,
    provider: ProviderSettings,
    seed: int,
    packages: Mapping[str, str],
    tier: Tier = "bubblewrap",
    *,
    control: bool = False,
    agent_version: str | None = None,
) -> str:
    """The key under which an agent run is found again: neither answer nor script has any part in it.

    The version of an agent's own program has a part where it has one; so has the tier, for what an agent did with less
    isolation says nothing of what it would do with more.
    """
    other: dict[str, object] = {} if tier == "bubblewrap" else {"sandbox": tier}
    if control:
        other["control"] = True
    if agent_version is not None:
        other["agent_version"] = agent_version
    return reuse_key(
        presented=candidate.presented,
        domain=candidate.domain,
        packages=dict(packages),
        seed=seed,
        version=__version__,
        server=provider.server(),
        **other,
        **settings.at(provider).asked(),
    )


def presentation_of(candidate: Candidate, settings: SolveSettings, seed: int, *, control: bool = False) -> Presentation:
    """The order of the options that a solver sees, which is another one in its control run."""
    return draw(seed, candidate.presented, f"{'control' if control else 'solve'} {settings.name}", 0)


def counts_as_review(row: Mapping[str, Any]) -> bool:
    """Whether a recorded run left no answer in time, whatever the answer is today."""
    return row["chosen"] is None or row["reason"] == "timeout"


def warnings_about(used: Sequence[str], called: Sequence[str] | None) -> tuple[str, ...]:
    """What a reviewer of a solve should know of its use of the software; `called` is None where nobody knows."""
    if not used:
        return (NO_TOOL,)
    return (ONLY_IMPORTED,) if called is not None and not called else ()


def exit_warning(transcript: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A warning where an agent's program left its answer and failed all the same: the answer counts."""
    last: Mapping[str, Any] = transcript[-1] if transcript else {}
    if last.get("role") != "end":
        return ()
    if last.get("ended") in _LIMITS:
        return (f"the agent's program ended at its {last['ended']}",)
    if last.get("excess"):
        return (f"the agent's program was ended for {last['excess']}",)
    if last.get("exit_code"):
        return (f"the agent's program ended with exit status {last['exit_code']}",)
    return (f"the agent's program was ended by signal {last['signal']}",) if last.get("signal") else ()


def solves(candidate: Candidate, row: Mapping[str, Any]) -> bool:
    """Whether a recorded run solves the candidate, by the answer of today."""
    return not counts_as_review(row) and candidate.options[row["chosen"]] == candidate.value


def runs_due(
    candidate: Candidate,
    settings: Settings,
    recorded: Callable[[SolveSettings, bool], Mapping[str, Any] | None],
    *,
    all_solvers: bool = False,
) -> Iterator[tuple[SolveSettings, bool, Mapping[str, Any] | None]]:
    """The agent runs that a candidate comes to at most, by what is recorded: what is recorded may decide earlier.

    Args:
        candidate: The candidate.
        settings: The configuration.
        recorded: The recorded run of a solver, or of its control, that would be reused.
        all_solvers: Ask them all, decided or not.

    Yields:
        Solver, whether it is its control run, and the recorded run if there is one.
    """
    solved, unknown, rejected = 0, len(settings.solve), False
    for solver in settings.solve:
        votes = Votes(solved, unknown, len(settings.solve), settings.needed_solvers)
        if (rejected or votes.decided) and not all_solvers:
            return
        row = recorded(solver, False)
        yield solver, False, row
        if row is not None and not solves(candidate, row):
            unknown -= 1
            continue
        control = None
        if solver.control:
            control = recorded(solver, True)
            yield solver, True, control
        if row is None:
            continue
        if control is not None and solver.reject_if_control_solves and solves(candidate, control):
            rejected = True
        elif control is not None or not solver.reject_if_control_solves:
            solved, unknown = solved + 1, unknown - 1
        # Otherwise the control run may still fail, and nothing is known of this solver.
