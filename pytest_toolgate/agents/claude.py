"""Claude Code (`@anthropic-ai/claude-code` on npm), by `claude --print --output-format stream-json`.

Of its tools it has those that run commands and edit files, and it asks nobody for permission: what its commands may
do is up to the sandbox. How it fared is read from its events, never from its exit status.
"""

import json
from typing import Any, Final

from ..config import SolveSettings
from ..providers import Tokens
from ..providers.wire import count, dictionaries, dictionary, text_of
from ..sandbox.profile import HOME
from .events import MOST_PARTS, events
from .external import ADDRESS, KEY, ExternalAgent, Invocation, Story, prompt
from .programs import find, version_of
from .protocol import AgentError, Task

_EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
_TOOLS: Final = "Bash,Read,Edit,Write"
_FOR_EVER: Final = "86400000"  # milliseconds: we have deadlines of our own
_KEPT: Final = 4000  # characters of one text or output in the transcript
# Source: Claude Code's documentation of its environment variables.
_ENVIRONMENT: Final = {
    "CLAUDE_CONFIG_DIR": f"{HOME}/.claude",
    "ANTHROPIC_BASE_URL": ADDRESS,
    "ANTHROPIC_API_KEY": KEY,
    # We ask again ourselves.
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "API_TIMEOUT_MS": _FOR_EVER,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
# Every name under which it may ask a model, its small and fast one included.
_MODELS: Final = (
    *("ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"),
    *(f"ANTHROPIC_DEFAULT_{name}_MODEL" for name in ("HAIKU", "SONNET", "OPUS")),
)


def invoke(task: Task) -> Invocation:
    """How Claude Code is started for a task.

    Raises:
        AgentError: It is not there, or does not know the effort.
    """
    settings = task.settings
    executable = find("claude", settings.program)
    effort: tuple[str, ...] = ()
    if settings.reasoning is not None:
        if settings.reasoning not in _EFFORTS:
            known = ", ".join(_EFFORTS)
            raise AgentError(f"Claude Code knows the efforts {known}, not `{settings.reasoning}`: set `reasoning` so")
        effort = ("--effort", settings.reasoning)
    command = (
        *(str(executable), "--print", "--output-format", "stream-json", "--verbose"),
        *("--permission-mode", "bypassPermissions", "--no-session-persistence"),
        *("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--tools", _TOOLS, "--model", settings.model, *effort, "--", prompt(task)),
    )
    env = _ENVIRONMENT | dict.fromkeys(_MODELS, settings.model)
    if settings.max_output_tokens is not None:
        env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.max_output_tokens)
    return Invocation(command, shown=(executable,), env=env, files={".claude/.keep": b""})


def read(stdout: bytes, stderr: bytes) -> Story:
    """What its events say, one JSON object a line.

    Source: `claude --output-format stream-json`, events `assistant`, `user` and `result`.
    """
    transcript: list[dict[str, Any]] = []
    commands: dict[str, dict[str, Any]] = {}
    tokens: Tokens | None = None
    failure = "it ended before its turn was over"
    for event in events(stdout):
        content = dictionaries(dictionary(event.get("message")).get("content"))[:MOST_PARTS]
        if event.get("type") == "assistant":
            for block in content:
                entry = _entry(block)
                transcript.append(entry)
                commands[text_of(block.get("id"))] = entry
        elif event.get("type") == "user":
            for block in content:
                # What a tool said belongs to what was asked of it.
                if (command := commands.get(text_of(block.get("tool_use_id")))) is not None:
                    command["stdout"] = _output(block.get("content"))[-_KEPT:]
                    command["failed"] = block.get("is_error") is True
        elif event.get("type") == "result":
            failure = _failure(event)
            tokens = None if failure else _tokens(dictionary(event.get("usage")))
    return Story(tuple(transcript), failure, tokens=tokens, whole=not failure)


def version(settings: SolveSettings) -> str:
    """The version that would be started."""
    return version_of(find("claude", settings.program))


def _entry(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "tool_use":
        given = dictionary(block.get("input"))
        script = text_of(given.get("command")) or json.dumps(given)
        return {"role": "command", "tool": text_of(block.get("name")), "script": script[:_KEPT]}
    if block.get("type") == "text":
        return {"role": "assistant", "text": text_of(block.get("text"))[:_KEPT]}
    return {"role": text_of(block.get("type")) or "item", "text": json.dumps(block)[:_KEPT]}


def _output(content: object) -> str:
    """A text, or a list of blocks with texts."""
    return text_of(content) or "\n".join(text_of(block.get("text")) for block in dictionaries(content))


def _failure(event: dict[str, Any]) -> str:
    """What a `result` says went wrong."""
    kind = text_of(event.get("subtype"))
    if event.get("is_error") is not True and kind == "success":
        return ""
    words = " ".join(text_of(event.get("result")).split()) or kind
    return words[:_KEPT] or "it does not say why"


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    """Its own count, in which what a cache held is beside the input; None where there is no such count."""
    fresh, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if fresh is None or output is None:
        return None
    cached = count(usage.get("cache_read_input_tokens")) or 0
    return Tokens(fresh + cached + (count(usage.get("cache_creation_input_tokens")) or 0), cached, output)


AGENT: Final = ExternalAgent(invoke, read, version)
