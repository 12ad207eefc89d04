"""Codex CLI (`@openai/codex` on npm), by `codex exec --json`.

Its commands run in its own `workspace-write` sandbox within ours, which keeps them off the network, the way to its
model included. How it fared is read from its events, never from its exit status.
"""

import json
from pathlib import Path
from typing import Any, Final

from ..config import SolveSettings
from ..providers import Tokens
from ..providers.wire import count, dictionary, text_of
from ..sandbox.profile import HOME
from ..sandbox.program import RECORD
from .codex_sandbox import CODEX_HOME, FILES, prove_sandbox
from .events import events
from .external import ADDRESS, KEY, ExternalAgent, Invocation, Story, prompt
from .programs import find, version_of
from .protocol import AgentError, Task

_KEY_VARIABLE: Final = "TOOLGATE_KEY"
# What it would do without being asked for it, or has no use for here: help from others, tools that lead nowhere.
_OFF: Final = ("multi_agent", "apps", "plugins", "goals", "enable_request_compression")
_KEPT: Final = 4000  # characters of one text or output in the transcript


# Where its commands may write besides the workspace and the places for temporary files: caches of compiled code, and
# the record of the packages used.
_WRITABLE: Final = (f"{HOME}/.cache", f"{HOME}/.config", f"{HOME}/.local", "/dev/shm", RECORD)  # noqa: S108 - the sandbox's own


def invoke(task: Task) -> Invocation:
    """How Codex is started for a task."""
    executable, home = _find(task.settings)
    prove_sandbox(executable, home, task)
    settings = _settings(task.settings)
    command = (
        *(str(executable), "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
        *("--ignore-user-config", "--ignore-rules", "--sandbox", "workspace-write"),
        *(part for key, value in settings.items() for part in ("-c", f"{key}={value}")),
        *("--model", task.settings.model, "--", prompt(task)),
    )
    return Invocation(
        command,
        shown=(home,),
        env={"CODEX_HOME": CODEX_HOME, _KEY_VARIABLE: KEY},
        files=FILES,
        nested=True,
    )


def _settings(solver: SolveSettings) -> dict[str, str]:
    """Key of its configuration -> value, as TOML."""
    provider = f'{{name="toolgate", base_url="{ADDRESS}/v1", wire_api="responses", env_key="{_KEY_VARIABLE}", '
    settings = {
        "model_provider": '"toolgate"',
        # We ask again ourselves, and a reply comes as a whole.
        "model_providers.toolgate": provider
        + "request_max_retries=0, stream_max_retries=0, stream_idle_timeout_ms=86400000}",
        "approval_policy": '"never"',
        "web_search": '"disabled"',
        **{f"features.{name}": "false" for name in _OFF},
        "skills.bundled.enabled": "false",
        "analytics.enabled": "false",
        "check_for_update_on_startup": "false",
        "sandbox_workspace_write.writable_roots": json.dumps(_WRITABLE),
        "sandbox_workspace_write.network_access": "false",
        "shell_environment_policy.exclude": json.dumps([_KEY_VARIABLE]),
    }
    if solver.reasoning is not None:
        settings["model_reasoning_effort"] = json.dumps(solver.reasoning)
    return settings


def read(stdout: bytes, stderr: bytes) -> Story:
    """What its events say, one JSON object a line.

    Source: `codex exec --json`, events `item.completed`, `turn.completed`, `turn.failed` and `error`.
    """
    transcript: list[dict[str, Any]] = []
    tokens: Tokens | None = None
    failure = ""
    ended = False
    for event in events(stdout):
        kind = event.get("type")
        if kind == "item.completed":
            transcript.append(_entry(dictionary(event.get("item"))))
        elif kind == "turn.completed":
            ended, failure = True, ""
            tokens = _tokens(dictionary(event.get("usage")))
        elif kind == "turn.failed":
            ended, failure = True, _said(dictionary(event.get("error")).get("message"))
        elif kind == "error":
            failure = _said(event.get("message"))
    return Story(tuple(transcript), failure, tokens=tokens, whole=ended)


def version(settings: SolveSettings) -> str:
    """The version that would be started."""
    return version_of(_find(settings)[0])


def _find(settings: SolveSettings) -> tuple[Path, Path]:
    """The executable, and the directory that holds all it needs.

    What npm installs is a launcher in JavaScript; the program lies in a package beside it.
    """
    try:
        found = find("codex", settings.program)
    except AgentError as missing:
        raise AgentError(f"{missing}; `npm install -g @openai/codex` installs Codex CLI") from missing
    if found.suffix != ".js":
        return found, found.parent.parent if (found.parent.parent / "codex-resources").is_dir() else found
    package = found.parent.parent
    for place in (package / "node_modules" / "@openai", package.parent):
        for executable in sorted(place.glob("codex-linux-*/vendor/*/bin/codex")):
            return executable, executable.parent.parent
    raise AgentError(f"{found} is only a launcher, and the package that holds the program is not installed beside it")


def _entry(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("type") == "command_execution":
        return {
            "role": "command",
            "script": text_of(item.get("command"))[:_KEPT],
            "exit_code": count(item.get("exit_code")),
            "stdout": text_of(item.get("aggregated_output"))[-_KEPT:],
        }
    if item.get("type") == "agent_message":
        return {"role": "assistant", "text": text_of(item.get("text"))[:_KEPT]}
    return {"role": text_of(item.get("type"))[:40] or "item", "text": json.dumps(item)[:_KEPT]}


def _said(message: object) -> str:
    return " ".join(text_of(message).split())[:_KEPT] or "it does not say why"


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    """Its own count; None where there is no such count."""
    asked, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if asked is None or output is None:
        return None
    cached, reasoning = count(usage.get("cached_input_tokens")), count(usage.get("reasoning_output_tokens"))
    return Tokens(asked, cached, output, reasoning)


AGENT: Final = ExternalAgent(invoke, read, version)
