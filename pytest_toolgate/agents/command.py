"""Any command: `agent: command` with the arguments of a program that reads a prompt and leaves `answer.txt`.

What it prints is its transcript, and nothing in it is taken for an answer. Its exit status is no verdict either: with
an answer it is a warning, and without one it says that the command failed.
"""

from pathlib import Path
from typing import Any, Final

from ..config import SolveSettings
from ..config.commands import fill
from ..sandbox.profile import HOME, work
from .contents import contents
from .external import ADDRESS, KEY, ExternalAgent, Invocation, Story, prompt
from .programs import find_with_python, python_of
from .protocol import Task

_PROMPT_FILE: Final = "prompt.txt"
_PYTHONS: Final = ("python", "python3")
_PACKAGES: Final = "lib*/python*/site-packages"
_WORKSPACE: Final = work("work")
_KEPT: Final = 32_000  # characters of each stream in the transcript: its end


def invoke(task: Task) -> Invocation:
    """How the command is started for a task."""
    told = prompt(task)
    values = {
        "prompt": told,
        "prompt_file": f"{HOME}/{_PROMPT_FILE}",
        "workspace": _WORKSPACE,
        "answer_file": f"{_WORKSPACE}/{task.result}",
        "base_url": f"{ADDRESS}/v1",
        "model": task.settings.model,
        "reasoning": task.settings.reasoning or "",
        "time_limit": f"{task.settings.time_limit:g}",
        "seed": str(task.seed),
    }
    first, *arguments = (fill(argument, values) for argument in task.settings.command)
    shown: tuple[Path, ...] = ()
    program = task.interpreter.python
    if first not in _PYTHONS:
        program, shown = find_with_python(first, None, "command")
    return Invocation(
        (str(program), *arguments),
        shown=shown,
        env={
            "OPENAI_BASE_URL": f"{ADDRESS}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": ADDRESS,
            "ANTHROPIC_API_KEY": KEY,
        },
        files={_PROMPT_FILE: told.encode()},
    )


def read(stdout: bytes, stderr: bytes) -> Story:
    """What it printed, as far as it is kept; how it ended is told by its exit status."""
    streams = {"stdout": stdout, "stderr": stderr}
    transcript: list[dict[str, Any]] = [
        {"role": name, "text": content.decode("utf-8", "replace")[-_KEPT:]}
        for name, content in streams.items()
        if content
    ]
    return Story(tuple(transcript))


def version(settings: SolveSettings) -> str:
    """A hash of the program, of what is installed beside it, and of the files that its arguments name.

    What pip puts among the programs is a few lines that call what it has put among the packages.
    """
    first, *arguments = settings.command
    program: list[Path] = []
    if first not in _PYTHONS:
        place, shown = find_with_python(first, None, "command")
        installed = shown and python_of(place) is not None
        program = [place, *(sorted(place.parent.parent.glob(_PACKAGES)) if installed else ())]
    files = [path for argument in arguments if argument.startswith("/") and (path := Path(argument)).is_file()]
    return contents((*program, *files))


AGENT: Final = ExternalAgent(invoke, read, version)
