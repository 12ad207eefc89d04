"""What the built-in agent works towards: how its model is told, when it is done, and what its scripts are worth."""

import os
import re
from pathlib import Path
from typing import Final, Protocol

from ..providers import Response
from ..sandbox import Finished
from . import builtin_prompt as words
from .builtin_feedback import Feedback, about, about_run
from .builtin_moves import Move, read_move
from .protocol import Task

# Nothing in it goes back over what it has read: a reply has up to 8 MiB.
_FENCE: Final = re.compile(r"^([ \t]*+)```[ \t]*+(ya?ml[ \t]*+)?+\r?$", re.MULTILINE | re.IGNORECASE)
MAX_FILE: Final = 256 * 1024  # characters of a candidate that a reply may hold


class Goal(Protocol):
    """What one conversation is for."""

    def instructions(self, *, functions: bool) -> str:
        """How to work, as the system message."""
        ...

    def first(self) -> str:
        """The first message."""
        ...

    def read(self, response: Response) -> Move:
        """What a reply asks for."""
        ...

    def feedback(self, finished: Finished, *, repeated: bool) -> Feedback:
        """What to tell the model of a script."""
        ...

    def no_move(self, *, functions: bool) -> str:
        """What to say to a reply that asks for nothing."""
        ...

    def too_soon(self, *, functions: bool) -> str:
        """What to say to a result before any script; empty where it is taken."""
        ...


def goal_of(task: Task) -> Goal:
    """The goal of a task."""
    return _Proposal(task) if task.proposes else _Answer(task)


class _Answer:
    """To answer the question: a letter, after at least one script."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def instructions(self, *, functions: bool) -> str:
        return words.instructions(self.task, functions=functions)

    def first(self) -> str:
        return words.question(self.task)

    def read(self, response: Response) -> Move:
        return read_move(response, self.task.options)

    def feedback(self, finished: Finished, *, repeated: bool) -> Feedback:
        return about(finished, self.task.options, repeated=repeated)

    def no_move(self, *, functions: bool) -> str:
        return words.no_move(functions=functions)

    def too_soon(self, *, functions: bool) -> str:
        return words.guessed(functions=functions)


class _Proposal:
    """To propose a candidate: a block that holds the file, or a script that has written it."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def instructions(self, *, functions: bool) -> str:
        return words.proposing(self.task, functions=functions)

    def first(self) -> str:
        return self.task.question

    def read(self, response: Response) -> Move:
        # A script stands inside of the file, so the file is looked for first.
        text = "" if response.calls else proposed_file(response.text)
        if len(text) > MAX_FILE:
            return Move(complaint=f"That file is too long; {MAX_FILE // 1024} KiB is the limit.")
        return Move(result=text) if text else read_move(response, {})

    def feedback(self, finished: Finished, *, repeated: bool) -> Feedback:
        return about_run(finished, repeated=repeated)

    def no_move(self, *, functions: bool) -> str:
        return words.no_proposal(functions=functions)

    def too_soon(self, *, functions: bool) -> str:
        return ""  # what it is worth, the gates find out


def proposed_file(text: str) -> str:
    """The file in a reply: its last whole block of YAML; where none is whole, the one that runs to the end.

    Args:
        text: Of the reply. A fence is a line of its own. One that stands further to the right than the block's first
            belongs to the file.

    Returns:
        The file with a line end; empty if there is none; cut at one character more than `MAX_FILE`.
    """
    whole: tuple[int, int] | None = None
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence if fence[2] else None
        elif not fence[2] and len(fence[1]) <= len(opened[1]):
            begin, end = opened.end() + 1, fence.start()
            whole = whole if not text[begin:end].strip() else (begin, end)
            opened = None
    begin, end = whole or (len(text) if opened is None else opened.end() + 1, len(text))
    file = text[begin : min(end, begin + MAX_FILE + 1)]
    if not file.strip():
        return ""
    return file if file.endswith("\n") or len(file) > MAX_FILE else f"{file}\n"


def leave(path: Path, text: str) -> None:
    """Leave the result as any agent does. The workspace was a stranger's a moment ago: follow no link."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
