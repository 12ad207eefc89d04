"""What a solver is configured to do, and what of it an agent run depends on."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from .provider import EMBEDDED, ProviderSettings

BUILTIN = "builtin"
"""The agent that has no program of its own."""
_BUILTIN_TURNS = 12
Tools = Literal["auto", "functions", "blocks"]
"""How the built-in agent's model has a script run: by calling a function, by code blocks, or as it turns out."""
# What every agent run has always depended on. Later settings have a part in its key only where they are set, so that
# what was paid for before there were any is found again.
_ALWAYS_ASKED = (
    *("agent", "provider", "model", "reasoning"),
    *("time_limit", "max_turns", "max_output_tokens", "hints"),
)
# What happens to a candidate after it was solved is no part of how, nor is the place where a program lies.
_NEVER_ASKED = ("control", "reject_if_control_solves", "program", "show")


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """One solver of gate 3.

    Attributes:
        agent: Name of a registered agent.
        program: The agent's program, where it has one of its own; None is the one in PATH.
        command: What `agent: command` starts: its arguments, with placeholders.
        show: Files and directories that the agent's program needs besides itself, read-only.
        provider: Name of the provider of its model.
        model: Model name as the provider knows it.
        reasoning: Reasoning effort, not sent when None.
        time_limit: Wall time for the whole solve, in seconds.
        max_turns: Model calls at most; None is 12 for the built-in agent, and no limit for others.
        max_output_tokens: Cap on one reply.
        hints: Tell the agent what the domain's expert notes on its installation say.
        name: Name of the solver, unique in a configuration; empty is the agent's.
        tools: How the model of the built-in agent has its scripts run.
        control: After a solve, have the same done where the domain's packages cannot be imported.
        reject_if_control_solves: Reject what was solved there too.
    """

    agent: str = BUILTIN
    program: Path | None = None
    command: tuple[str, ...] = ()
    show: tuple[Path, ...] = ()
    provider: str = ""
    model: str = ""
    reasoning: str | None = None
    time_limit: float = 300.0
    max_turns: int | None = None
    max_output_tokens: int | None = None
    hints: bool = False
    name: str = ""
    tools: Tools = "auto"
    control: bool = False
    reject_if_control_solves: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.agent)
        if self.max_turns is None and self.agent == BUILTIN:
            object.__setattr__(self, "max_turns", _BUILTIN_TURNS)

    @property
    def most_turns(self) -> float:
        """Model calls at most, as a number."""
        return math.inf if self.max_turns is None else self.max_turns

    @property
    def title(self) -> str:
        """What it is, as people read it."""
        return f"agent `{self.agent}`" if self.name == self.agent else f"solver `{self.name}`"

    def at(self, provider: ProviderSettings) -> Self:
        """The settings as they are in force with a provider.

        The embedded model calls no functions when it is offered some: it writes code blocks.
        """
        blocks = self.agent == BUILTIN and self.tools == "auto" and provider.kind == EMBEDDED
        return dataclasses.replace(self, tools="blocks") if blocks else self

    def asked(self) -> dict[str, Any]:
        """The settings an agent run depends on, for finding runs that can be reused; see `at`."""
        return {
            field.name: value
            for field in dataclasses.fields(self)
            if field.name not in _NEVER_ASKED
            and ((value := getattr(self, field.name)) != self._left_out(field) or field.name in _ALWAYS_ASKED)
        }

    def plain(self) -> dict[str, Any]:
        """The settings as JSON types, for the record."""
        plain: dict[str, Any] = plain_types(dataclasses.asdict(self))
        return plain

    def _left_out(self, field: "dataclasses.Field[Any]") -> Any:  # noqa: ANN401 - any setting
        """What a setting is where nobody has set it."""
        if field.name == "name":
            return self.agent
        if field.name == "tools" and self.agent == BUILTIN:
            return "blocks"  # as it worked before there was a choice
        return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def plain_types(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value as JSON types."""
    if isinstance(value, Mapping):
        return {str(key): plain_types(child) for key, child in value.items()}
    if isinstance(value, tuple | list):
        return [plain_types(child) for child in value]
    return str(value) if isinstance(value, Path) else value
