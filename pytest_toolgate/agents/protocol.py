"""What an agent is given and what it hands back.

An agent is a function of a `Task`. It works in the task's workspace and leaves its answer there, in
`answer.txt`; nothing that it returns is taken for the answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..config import SolveSettings
from ..domains import Domain
from ..providers import Provider, Tokens
from ..sandbox import Interpreter, Limits, Slots

ANSWER_FILE = "answer.txt"


class AgentError(Exception):
    """The agent could not be run, as one sentence; nothing is known about the candidate.

    Attributes:
        reason: An error reason: `agent`, `provider` or `sandbox`.
        quota: The account of its provider is exhausted.
        transcript: What had happened until then.
        tokens: What had been used until then.
    """

    def __init__(
        self,
        sentence: str,
        reason: str = "agent",
        *,
        quota: bool = False,
        transcript: tuple[dict[str, Any], ...] = (),
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.quota = quota
        self.transcript = transcript
        self.tokens = tokens or Tokens()


@dataclass(frozen=True, slots=True)
class Task:
    """One solve.

    Attributes:
        question: The question, as written.
        options: Letter -> text, as shown to this agent.
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
    """

    ended: Literal["finished", "timeout"]
    transcript: tuple[dict[str, Any], ...] = ()
    turns: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    used: tuple[str, ...] = ()
    note: str = ""
    waited: float = 0.0


Agent = Callable[[Task], AgentRun]
"""An agent. Raises `AgentError` when it could not be run."""
