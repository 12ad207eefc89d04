"""Gate 0: is the file a candidate at all? No script runs and nothing is asked."""

from pathlib import Path

from ..candidate import Candidate, CandidateError, Fault, read_candidate
from ..candidate.options import option_faults, warnings
from .result import GateResult, error, passed
from .twins import duplicates_of_run
from .workbench import Workbench


def lint(path: Path, bench: Workbench) -> tuple[Candidate | None, GateResult]:
    """Read and check one candidate file.

    Returns:
        The candidate, None when it could not be read as one, and the verdict.
    """
    shown = bench.run.shown(path)
    try:
        candidate = read_candidate(path, domains=bench.domains, default_domain=bench.settings.domain)
    except CandidateError as problem:
        return None, _refused(shown, list(problem.faults))
    except OSError as problem:
        return None, error("environment", f"{shown} cannot be read: {problem.strerror or problem}")
    faults = list(option_faults(candidate.options, candidate.lines.get("options")))
    if not faults and (sentence := duplicates_of_run(bench).get(shown)):
        faults = [Fault("duplicate", f"this candidate {sentence}")]
    if faults:
        return candidate, _refused(shown, faults)
    return candidate, passed(*warnings(candidate))


def _refused(shown: str, faults: list[Fault]) -> GateResult:
    sentences = [describe(shown, fault) for fault in faults]
    return GateResult("rejected", faults[0].reason, "\n".join(sentences))


def describe(shown: str, fault: Fault) -> str:
    """A fault with its place: `path:line: field: sentence`."""
    where = f"{shown}:{fault.line}" if fault.line else shown
    return f"{where}: {fault.field}: {fault.sentence}" if fault.field else f"{where}: {fault.sentence}"
