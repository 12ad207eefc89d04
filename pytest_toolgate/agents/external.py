"""An agent with a program of its own, as its author writes it and an entry point names it.

What holds for every such agent is in `program_run`. One agent's file says how its program is called, where it lies, and
how what it prints is read.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..candidate.model import LETTERS
from ..config import SolveSettings
from .invocation import ADDRESS, KEY, Invocation, Story
from .program_run import work
from .protocol import ANSWER_FILE, AgentError, AgentRun, Task

__all__ = ["ADDRESS", "KEY", "ExternalAgent", "Invocation", "Story", "check_tier", "prompt"]


@dataclass(frozen=True, slots=True)
class ExternalAgent:
    """An agent with a program of its own, as an entry point names it.

    Attributes:
        invoke: How its program is started for a task; raises `AgentError` when it is not there.
        read: What the program's stdout and stderr say.
        version: See `Versioned`.
    """

    invoke: Callable[[Task], Invocation]
    read: Callable[[bytes, bytes], Story]
    version: Callable[[SolveSettings], str]

    def __call__(self, task: Task) -> AgentRun:
        """Let the program work on the task.

        Raises:
            AgentError: It could not be run, or could not do its work and left no answer.
        """
        check_tier(task)
        return work(task, self.invoke, self.read)


def check_tier(task: Task) -> None:
    """Programs of somebody else's are for one tier only.

    Raises:
        AgentError: The run is of another.
    """
    if task.tier != "bubblewrap":
        raise AgentError(
            f"the agent `{task.settings.agent}` needs `sandbox: bubblewrap`: only there can a program of its own be "
            f"kept from everything but its model; this run has `sandbox: {task.tier}`",
            "sandbox",
        )


def prompt(task: Task) -> str:
    """What every such agent is told. The question is the same, word for word, that all others see."""
    if task.proposes:
        return task.question
    options = "\n".join(f"{letter}) {task.options[letter]}" for letter in LETTERS)
    hints = f"\n{task.domain.notes}" if task.settings.hints and task.domain.notes else ""
    return (
        f"Answer the multiple-choice question below by computing with {task.domain.title}, which `python` has here. "
        "There is no network, and nothing can be installed. Only your own scripts decide: do not guess.\n"
        f"Write the letter of the one right option, and nothing else, into the file {ANSWER_FILE} in the current "
        "directory. Only that file counts, as it stands when you end or your time is over. "
        f"You have {task.settings.time_limit:g} seconds in all; write it as soon as you know. "
        f"The question and the options are in problem.json too.\n{hints}\n"
        f"{task.question.strip()}\n\n{options}\n"
    )
