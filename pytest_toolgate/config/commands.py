"""What agents with a program of their own are given, and the placeholders of `agent: command`. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from .solver import BUILTIN, SolveSettings

COMMAND: Final = "command"
"""The agent that starts any command."""
PLACEHOLDERS: Final = (
    *("prompt", "prompt_file", "workspace", "answer_file"),
    *("base_url", "model", "reasoning", "time_limit", "seed"),
)
_MARKS: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def names_in(argument: str) -> Iterator[str]:
    """The names of the placeholders in an argument.

    Raises:
        ValueError: A brace stands alone, or a name is unknown; says which, and what would be right.
    """
    for mark in _MARKS.finditer(argument):
        if mark[0] in ("{", "}"):
            raise ValueError(f"has a single `{mark[0]}` in `{argument}`; write `{mark[0] * 2}` for one that stays")
        if mark[0] in ("{{", "}}"):
            continue
        if mark[1] not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(f"has the unknown placeholder `{mark[0]}`; known are {known}; a literal brace is doubled")
        yield mark[1]


def fill(argument: str, values: Mapping[str, str]) -> str:
    """The argument with the values in place of the placeholders, and single braces where they were doubled."""
    return _MARKS.sub(lambda mark: mark[0][0] if mark[1] is None else values[mark[1]], argument)


def program_fault(solver: SolveSettings) -> tuple[str, str] | None:
    """The first key that does not fit the agent, and why; None for a solver without fault."""
    for name in ("program", "show"):
        if getattr(solver, name) and solver.agent == BUILTIN:
            return name, f"is for agents that have a program of their own, not for `{BUILTIN}`"
    if solver.agent != COMMAND:
        return ("command", f"is for `agent: {COMMAND}`, not for `{solver.agent}`") if solver.command else None
    if not solver.command:
        return "command", "must be the arguments of what is started, the program first"
    if solver.program is not None:
        return "program", "is the first argument of `command`"
    sentence = _command_fault(solver)
    return None if sentence is None else ("command", sentence)


def _command_fault(solver: SolveSettings) -> str | None:
    first = solver.command[0]
    if "/" in first and not first.startswith("/"):
        return f"begins with `{first}`; give a name in PATH or an absolute path"
    try:
        used = {name for argument in solver.command for name in names_in(argument)}
    except ValueError as fault:
        return str(fault)
    if solver.reasoning is None and "reasoning" in used:
        return "has the placeholder {reasoning}, and no `reasoning` is set"
    if solver.reasoning is not None and "reasoning" not in used:
        return f"has no {{reasoning}} that says where `reasoning: {solver.reasoning}` goes"
    return None
