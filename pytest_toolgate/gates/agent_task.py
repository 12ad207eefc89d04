"""What an agent is given to work with, whatever it works on: a fresh workspace, its model, places and limits."""

import dataclasses
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..agents import AgentRun, Task
from ..agents.protocol import Watch
from ..config import SolveSettings
from ..domains import Domain
from ..sandbox import Interpreter, Limits, remove_tree
from .agent_calls import AgentCalls
from .money import Admission
from .result import GateResult
from .workbench import Workbench


class NotAdmitted(Exception):  # noqa: N818 - a result, not an error
    """No call may be made; the result says why."""

    def __init__(self, result: GateResult) -> None:
        super().__init__(result.sentence)
        self.result = result


@dataclass(frozen=True, slots=True)
class Work:
    """What one agent works on.

    Attributes:
        key: Of the row that its calls belong to: an attempt, or a round of the generator.
        question: See `Task`.
        options: See `Task`.
        files: See `Task`.
        domain: The target software.
        interpreter: The Python that has it.
        hidden: Paths that it may not see.
        watch: See `Task`.
        control: It works without the software.
    """

    key: str
    question: str
    options: Mapping[str, str]
    files: Mapping[str, bytes]
    domain: Domain
    interpreter: Interpreter
    hidden: tuple[Path, ...]
    watch: Watch
    control: bool = False


@contextmanager
def agent_task(work: Work, settings: SolveSettings, bench: Workbench) -> Iterator[tuple[Task, Admission]]:
    """The work as a task that may begin at once; its workspace is gone afterwards.

    Args:
        work: What is to be done.
        settings: The agent, as it is in force with its provider.
        bench: What gates work with.

    Yields:
        The task, and the leave to make its calls, which is to be ended as soon as the agent has.

    Raises:
        NotAdmitted: No call to its model may be made.
        ProviderError: Its provider cannot be used.
    """
    admission = Admission(bench, work.key, settings)

    def may_pay() -> tuple[str, str] | None:
        admission.release()
        stop = admission.admit()
        return (stop.reason, stop.sentence) if stop else None

    provider = bench.provider(settings.provider)
    # The clock starts with a place at the model, so that a time limit does not measure the other workers.
    with bench.agent_slots(settings.provider).hold(), _workspace(bench.run.directory) as workspace:
        stop = admission.admit()
        admission.release()  # the agent asks again for each of its calls
        if stop:
            raise NotAdmitted(stop)
        try:
            task = Task(
                question=work.question,
                options=work.options,
                files=work.files,
                workspace=workspace,
                domain=work.domain,
                interpreter=work.interpreter,
                settings=settings,
                provider=AgentCalls(provider, bench, work.key, settings, admission, work.control, work.watch),
                limits=Limits(memory=bench.settings.verify.memory, disk=bench.settings.verify.disk),
                hidden=work.hidden,
                call_slots=bench.call_slots(settings.provider),
                cpu_slots=bench.cpu_slots(),
                deadline=time.monotonic() + settings.time_limit,
                may_pay=may_pay,
                tier=bench.settings.sandbox,
                seed=bench.run.seed,
                watch=work.watch,
            )
            yield task, admission
        finally:
            admission.end()


def in_time(run: AgentRun, task: Task) -> AgentRun:
    """The run as it counts. The time is kept here, whatever the agent says: what it was still at comes too late."""
    ended_at = time.monotonic() if run.ended_at is None else run.ended_at
    return dataclasses.replace(run, ended="timeout") if ended_at >= task.deadline + run.waited else run


@contextmanager
def _workspace(run_directory: Path) -> Iterator[Path]:
    """A fresh directory, gone afterwards whatever it holds then; what cannot be removed goes with the run's own."""
    directory = Path(tempfile.mkdtemp(prefix="agent-", dir=run_directory))
    try:
        yield directory
    finally:
        remove_tree(directory)
