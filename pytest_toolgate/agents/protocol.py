"""What an agent is given and what it hands back.

An agent is a function of a `Task`. It works in the task's workspace and leaves its result there, in one file:
`answer.txt` when it answers a question, `candidate.yaml` when it proposes one. Nothing that it returns is taken for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from ..config import SolveSettings, Tier
from ..domains import Domain
from ..providers import Provider, Tokens
from ..sandbox import Interpreter, Limits, Slots

ANSWER_FILE = "answer.txt"
PROPOSAL_FILE = "candidate.yaml"


class AgentError(Exception):
    """The agent could not be run, as one sentence; nothing is known about the candidate.

    Attributes:
        reason: An error reason: `agent`, `provider` or `sandbox`.
        quota: The account of its provider is exhausted.
        transcript: What had happened until then.
        tokens: What had been used until then.
        turns: Model calls made until then.
        used: Packages of the domain that had run until then.
        called: Those that were called; None if nobody can tell.
    """

    def __init__(
        self,
        sentence: str,
        reason: str = "agent",
        *,
        quota: bool = False,
        transcript: tuple[dict[str, Any], ...] = (),
        tokens: Tokens | None = None,
        turns: int = 0,
        used: tuple[str, ...] = (),
        called: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.quota = quota
        self.transcript = transcript
        self.tokens = tokens or Tokens()
        self.turns = turns
        self.used = used
        self.called = called


class Watch(Protocol):
    """Looks for what only somebody outside of the workspace can know."""

    def __call__(self, data: bytes, where: str = "a request to its model") -> str | None:
        """Say what is wrong, as one sentence, and None if nothing is. If so, raise `AgentError` with reason `sandbox`.

        Args:
            data: Anything that comes from the workspace, or goes to the model.
            where: What it is, in words.
        """
        ...


def _nothing(data: bytes, where: str = "") -> str | None:
    """Look for nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Task:
    """One solve, or one proposal.

    Attributes:
        question: The question, as written; of a proposal, all that the generator is told.
        options: Letter -> text, as shown to this agent; of a proposal, none.
        files: What to put into the workspace: `problem.json` and stand-in modules.
        workspace: A fresh, empty directory.
        domain: The target software.
        interpreter: The Python that has it.
        settings: Model and limits.
        provider: Where its model answers.
        limits: Memory and disk of the code it runs.
        hidden: Paths that neither it nor its code may see.
        call_slots: A place to be held during each model call; waiting for it does not count.
        cpu_slots: A place to be held while its code runs; waiting for it does not count.
        deadline: `time.monotonic()` at which the agent's time is over.
        may_pay: To be asked before each model call, with a place in hand; a reason with its sentence ends the solve.
            Waiting for it does not count.
        tier: The kind of isolation of the code it runs.
        seed: The run's.
        watch: To be asked of every request to the model and of all that commands print; `provider` asks it itself.
    """

    question: str
    options: Mapping[str, str]
    files: Mapping[str, bytes]
    workspace: Path
    domain: Domain
    interpreter: Interpreter
    settings: SolveSettings
    provider: Provider
    limits: Limits
    hidden: tuple[Path, ...]
    call_slots: Slots
    cpu_slots: Slots
    deadline: float
    may_pay: Callable[[], tuple[str, str] | None]
    tier: Tier = "bubblewrap"
    seed: int = 0
    watch: Watch = _nothing

    @property
    def proposes(self) -> bool:
        """Whether the agent is to propose a candidate: there is nothing to choose from."""
        return not self.options

    @property
    def result(self) -> str:
        """Name of the file that it leaves in the workspace."""
        return PROPOSAL_FILE if self.proposes else ANSWER_FILE


@dataclass(frozen=True, slots=True)
class AgentRun:
    """How an agent ended.

    Attributes:
        ended: `timeout` when its time was over before it had finished.
        transcript: Every turn and every command with its output, as plain JSON types.
        turns: Model calls made.
        tokens: Used in all.
        used: Packages of the domain that ran in its workspace.
        note: How it came to its end, in words.
        waited: Seconds it waited for places, which do not count against its time.
        called: Those that were called there; None if nobody can tell.
        ended_at: `time.monotonic()` at which its work was over; None for when it hands this back.
    """

    ended: Literal["finished", "timeout"]
    transcript: tuple[dict[str, Any], ...] = ()
    turns: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    used: tuple[str, ...] = ()
    note: str = ""
    waited: float = 0.0
    called: tuple[str, ...] | None = None
    ended_at: float | None = None


Agent = Callable[[Task], AgentRun]
"""An agent. Raises `AgentError` when it could not be run."""


@runtime_checkable
class Versioned(Protocol):
    """An agent whose program has a version of its own, which is part of what a solve depends on."""

    def version(self, settings: SolveSettings) -> str:
        """The version of what would be started.

        Raises:
            AgentError: It is not there.
        """
        ...
