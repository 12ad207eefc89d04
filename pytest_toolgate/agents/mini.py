"""mini-swe-agent (`mini-swe-agent` on PyPI), by its Python interface: a model, and commands in a shell.

It runs on the Python that it is installed in, and its commands on the domain's, which is the first in their PATH. It
asks its model by Chat Completions. How it fared is read from what its driver prints, never from its exit status.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ..config import SolveSettings
from ..providers.wire import text_of
from ..sandbox import inspect_interpreter
from ..sandbox.profile import HOME
from . import inside
from .events import MOST_PARTS, events
from .external import ADDRESS, KEY, ExternalAgent, Invocation, Story, prompt
from .programs import find_with_python, python_of
from .protocol import AgentError, Task

_DISTRIBUTION: Final = "mini-swe-agent"
_DRIVER: Final = "mini_swe.py"
_TASK: Final = "task.json"
_KEPT: Final = 4000  # characters of one text in the transcript
_FOR_EVER: Final = 86400  # seconds: we have deadlines of our own
_ENVIRONMENT: Final = {
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_GLOBAL_CONFIG_DIR": f"{HOME}/.config/mini-swe-agent",
    # A model that it has no prices of is asked all the same.
    "MSWEA_COST_TRACKING": "ignore_errors",
    # We ask again ourselves.
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_BASE": f"{ADDRESS}/v1",
    "OPENAI_BASE_URL": f"{ADDRESS}/v1",
    "OPENAI_API_KEY": KEY,
}


def invoke(task: Task) -> Invocation:
    """How mini-swe-agent is started for a task."""
    settings = task.settings
    python, shown = _find(settings)
    model: dict[str, Any] = {"max_retries": 0, "timeout": _FOR_EVER}
    if settings.reasoning is not None:
        # Or it is left out for every model that the library has not heard of.
        model |= {"reasoning_effort": settings.reasoning, "allowed_openai_params": ["reasoning_effort"]}
    if settings.max_output_tokens is not None:
        model["max_tokens"] = settings.max_output_tokens
    told = {
        "task": prompt(task),
        "model": f"openai/{settings.model}",
        "model_kwargs": model,
        "timeout": max(1, int(settings.time_limit)),
    }
    return Invocation(
        # Isolated: what is noted of the packages used is about its commands, not about itself.
        (str(python), "-I", f"{HOME}/{_DRIVER}", f"{HOME}/{_TASK}"),
        shown=shown,
        env=_ENVIRONMENT,
        files={
            _DRIVER: files(inside).joinpath(_DRIVER).read_bytes(),
            _TASK: json.dumps(told).encode(),
        },
    )


def read(stdout: bytes, stderr: bytes) -> Story:
    """What its driver says: each message of the conversation, the last with how it ended."""
    transcript = [_entry(event) for event in events(stdout)]
    status = text_of(transcript[-1].get("exit_status")) if transcript else ""
    if status == "Submitted":
        return Story(tuple(transcript))
    if status == "RepeatedFormatError":
        return Story(tuple(transcript), note="it gave up on a model that calls no tool")
    words = " ".join(text_of(transcript[-1].get("text")).split()) if status else "it ended before its task was done"
    return Story(tuple(transcript), f"{status}: {words}" if status else words, whole=False)


def _entry(event: dict[str, Any]) -> dict[str, Any]:
    """What its driver tells of a message, whoever has printed it."""
    commands, exit_code = event.get("commands"), event.get("exit_code")
    told = {
        "role": text_of(event.get("role"))[:_KEPT],
        "text": text_of(event.get("text"))[:_KEPT],
        "commands": [text_of(part)[:_KEPT] for part in commands[:MOST_PARTS]] if isinstance(commands, list) else [],
        "exit_code": exit_code if isinstance(exit_code, int) else None,
        "exit_status": text_of(event.get("exit_status"))[:_KEPT] or None,
    }
    return {key: value for key, value in told.items() if value not in (None, [])}


def version(settings: SolveSettings) -> str:
    """The version that would be started."""
    python, _ = _find(settings)
    return inspect_interpreter(python, (_DISTRIBUTION,)).packages[_DISTRIBUTION]


def _find(settings: SolveSettings) -> tuple[Path, tuple[Path, ...]]:
    """The Python that has it, and what of the host that needs."""
    program, shown = find_with_python("mini", settings.program)
    python = python_of(program)
    if python is None or _DISTRIBUTION not in inspect_interpreter(python, (_DISTRIBUTION,)).packages:
        raise AgentError(
            f"{program} is not the `mini` of {_DISTRIBUTION}, with the Python that it is installed in beside it"
        )
    return python, shown


AGENT: Final = ExternalAgent(invoke, read, version)
