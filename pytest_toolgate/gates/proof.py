"""A script of ours, or of a domain's, that finds out something about the domain's software before anybody is judged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..domains import Domain
from ..sandbox import Finished, Interpreter, Job, Limits
from .job_files import stand_ins
from .script_run import script_runs
from .workbench import Workbench

# Seconds; a first import from a cold disk and a slow compiler are no fault.
LIMITS: Final = Limits(wall=300.0)


def run_proof(
    source: str, domain: Domain, interpreter: Interpreter, bench: Workbench, hidden: Sequence[Path]
) -> Finished:
    """Run it in the sandbox, as a script of the domain is run.

    Args:
        source: The script.
        domain: The domain.
        interpreter: The Python that has its software.
        bench: What gates work with.
        hidden: What the script must not see.

    Raises:
        SandboxError: The machinery failed.
        SlotTimeout: No place became free in time.
    """
    job = Job(
        interpreter=interpreter,
        script=source.encode(),
        files=stand_ins(domain, interpreter),
        limits=LIMITS,
        hidden=tuple(hidden),
        tier=bench.settings.sandbox,
    )
    *_, last = script_runs(job, bench)
    return last.finished
