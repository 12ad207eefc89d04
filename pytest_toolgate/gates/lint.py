"""Gate 0: is the file a candidate at all? No script runs and nothing is asked."""

import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path

from ..candidate import Candidate, CandidateError, Fault, read_candidate
from ..candidate.options import option_faults, warnings
from ..domains import domain_names
from .result import GateResult, error, passed
from .twins import duplicates_of_run
from .workbench import Workbench


def lint(
    path: Path, bench: Workbench, refuse: Callable[[Candidate], Fault | None] | None = None
) -> tuple[Candidate | None, GateResult]:
    """Read and check one candidate file of a run.

    Args:
        path: The file.
        bench: What gates work with.
        refuse: What is wrong with a candidate whose form is right.

    Returns:
        The candidate, None when it could not be read as one, and the verdict.
    """
    shown = bench.run.shown(path)
    try:
        candidate, faults = examine(path, domain_names(), bench.settings.domain)
    except OSError as problem:
        return None, error("environment", f"{shown} cannot be read: {problem.strerror or problem}")
    if not faults and (sentence := duplicates_of_run(bench).get(shown)):
        faults = [Fault("duplicate", f"this candidate {sentence}")]
    if not faults and candidate is not None and refuse is not None and (fault := refuse(candidate)):
        faults = [fault]
    if faults or candidate is None:
        return candidate, _refused(shown, faults)
    return candidate, passed(*warnings(candidate))


def examine(path: Path, domains: Collection[str], default_domain: str | None) -> tuple[Candidate | None, list[Fault]]:
    """Read one file by itself and find its faults; without a candidate there is at least one.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        candidate = read_candidate(path, domains=domains, default_domain=default_domain)
    except CandidateError as problem:
        return None, list(problem.faults)
    faults = option_faults(candidate.options, candidate.lines.get("options"))
    return candidate, [
        dataclasses.replace(fault, line=candidate.lines.get(fault.field, fault.line)) for fault in faults
    ]


def _refused(shown: str, faults: list[Fault]) -> GateResult:
    sentences = [describe(shown, fault) for fault in faults]
    return GateResult("rejected", faults[0].reason, "\n".join(sentences))


def describe(shown: str, fault: Fault) -> str:
    """A fault with its place: `path:line: field: sentence`."""
    where = f"{shown}:{fault.line}" if fault.line else shown
    return f"{where}: {fault.field[:60]}: {fault.sentence}" if fault.field else f"{where}: {fault.sentence}"
