"""Gate 3: can agents that have the software get it right, and do they need it for that?"""

from ..candidate import Candidate
from ..config import SolveSettings
from ..domains import load_domain
from ..store import StoreError
from .agreement import is_decided, together, with_control
from .result import GateResult, error, fault
from .solver import run_solver
from .workbench import Workbench


def solve(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Ask the solvers in their order, until the outcome is decided or, if all are wanted, to the last."""
    settings = bench.settings
    if not settings.solve:
        raise ValueError("the solve gate needs `solve` in the configuration")
    results: dict[str, GateResult | None] = dict.fromkeys(solver.name for solver in settings.solve)
    for solver in settings.solve:
        if is_decided(results, settings.needed_solvers) and not bench.run.all_screens:
            break
        results[solver.name] = _ask(candidate, solver, bench, attempt_id)
    return together(results, settings.needed_solvers)


def _ask(candidate: Candidate, solver: SolveSettings, bench: Workbench, attempt_id: str) -> GateResult:
    """One solver and, after a solve, its control run."""
    solved = _run(candidate, solver, bench, attempt_id, control=False)
    if solved.verdict != "passed" or not solver.control:
        return solved
    control = _run(candidate, solver, bench, attempt_id, control=True)
    return with_control(solver, load_domain(candidate.domain).packages, solved, control)


def _run(
    candidate: Candidate, solver: SolveSettings, bench: Workbench, attempt_id: str, *, control: bool
) -> GateResult:
    """What came of one run; what is wrong with one agent says nothing of the others."""
    if bench.ended:
        return error("interrupted", "the session has ended")
    try:
        return run_solver(candidate, solver, bench, attempt_id, control=control)
    except StoreError:
        raise
    except Exception as problem:
        # What fails because the run's directory is gone is no fault of ours.
        if bench.ended:
            raise
        return error("internal", fault(problem))
