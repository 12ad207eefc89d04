"""Running a script at a place of its own, and again alone where that place was none."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from ..sandbox import Finished, Job, run
from .workbench import Workbench

# A script that was ended by the clock and had less of its processors than this share was held up by others.
_FAIR_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """One run of a script.

    Attributes:
        finished: How it ended.
        alone: Whether no other script of the run was running meanwhile.
        warm: Whether it began as a copy of a process that had the software loaded.
    """

    finished: Finished
    alone: bool
    warm: bool


def script_runs(job: Job, bench: Workbench) -> Iterator[ScriptRun]:
    """Run a job's script. Where it ran out of time for want of a processor, run it again alone; the last run counts.

    Raises:
        SandboxError: The machinery failed, so nothing is known about the script.
        SlotTimeout: No place became free in time.
    """
    places = bench.cpu_slots()
    if job.warm is not None:
        job = dataclasses.replace(job, kept=bench.keepsakes().of(job))
    for alone in (False, True):
        with places.hold_all() if alone else places.hold():
            finished = run(job)
        bench.keepsakes().keep(job, finished)
        yield ScriptRun(finished, alone, job.warm is not None)
        if not starved(finished, job.threads):
            return


def starved(finished: Finished, threads: int) -> bool:
    """Whether a timeout says more about the load of the machine than about the script.

    A run that may use several threads can be held up by the lack of a second processor as well.
    """
    return finished.ended == "timeout" and finished.cpu < _FAIR_SHARE * threads * finished.wall
