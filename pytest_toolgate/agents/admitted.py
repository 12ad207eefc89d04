"""Which requests of an agent's own program are passed on: those that have its model write, and nothing else.

A provider can do more than that for a request: search the web, run code, fetch an address, go on with what it has kept,
work on after the call. All of it leads out of the sandbox, and most of it has a price that no count of tokens shows. So
what a request may hold is listed, and the rest is refused by name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..providers.protocol import Api
from ..providers.wire import dictionary

# Sources: the API references of OpenAI and Anthropic; `client_metadata` is Codex's own.
_COMMON: Final = ("model", "stream", "temperature", "top_p", "tools", "tool_choice", "metadata", "service_tier")
_OPENAI: Final = (
    *("stream_options", "parallel_tool_calls", "store", "user", "safety_identifier", "top_logprobs"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
_FIELDS: Final[Mapping[Api, frozenset[str]]] = {
    "responses": frozenset({
        *(*_COMMON, *_OPENAI, "input", "instructions", "reasoning", "include", "text", "truncation"),
        *("max_output_tokens", "max_tool_calls", "client_metadata"),
    }),
    "chat": frozenset({
        *(*_COMMON, *_OPENAI, "messages", "functions", "function_call", "reasoning_effort", "verbosity"),
        *("max_tokens", "max_completion_tokens", "response_format", "stop", "seed", "logprobs", "logit_bias"),
        *("frequency_penalty", "presence_penalty", "top_k", "min_p"),
    }),
    "messages": frozenset({
        *(*_COMMON, "messages", "system", "max_tokens", "stop_sequences", "top_k", "thinking", "output_config"),
        *("output_format", "context_management", "cache_control"),
    }),
}  # fmt: skip
_TIERS: Final = frozenset({"auto", "default", "standard_only"})
# Tools that the program runs itself; a tool of Anthropic's without a type is one.
_TOOLS: Final[Mapping[Api, re.Pattern[str]]] = {
    "responses": re.compile("function|custom|local_shell|apply_patch|namespace"),
    "chat": re.compile("function|custom"),
    "messages": re.compile(r"custom|(?:bash|text_editor)_[0-9]+"),
}
_CAPS: Final[Mapping[Api, tuple[str, ...]]] = {
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "messages": ("max_tokens",),
}
# What a model wrote for a tool, and how a tool is called, in whatever words.
_OPAQUE: Final = frozenset({"arguments", "input_schema", "parameters"})


def objection(request: Mapping[str, Any], api: Api) -> str | None:
    """Why a request is not passed on, in words; None for one that is."""
    for name, value in request.items():
        # What is switched off is not asked for.
        if name not in _FIELDS[api] and value is not None and value is not False and not (name == "n" and value == 1):
            return f"no request may have `{name[:80]}` here"
    if (tier := request.get("service_tier")) is not None and tier not in _TIERS:
        return f"`service_tier` may be {', '.join(sorted(_TIERS))} here"
    edits = dictionary(request.get("context_management")).get("edits")
    if any(not str(edit.get("type", "")).startswith("clear_") for edit in _objects(edits)):
        return "`context_management` may only clear here"
    return _tools(request.get("tools"), api) or _conversation(request, api)


def to_send(request: dict[str, Any], api: Api, cap: int | None, *, hosted: bool) -> bytes:
    """The request as it is passed on: written anew, so that the server reads in it what we have read.

    Args:
        request: What the program sent.
        api: The protocol it is made in.
        cap: Tokens of a reply at most; None leaves them to the program.
        hosted: The server is OpenAI's own, which knows the new name of the cap alone.
    """
    if api == "chat" and request.get("stream"):
        request["stream_options"] = {**(request.get("stream_options") or {}), "include_usage": True}
    if cap is not None:
        names = _CAPS[api] if hosted else _CAPS[api][::-1]
        for name in [name for name in names if request.get(name) is not None] or names[:1]:
            asked = request.get(name)
            request[name] = asked if isinstance(asked, int) and 0 < asked < cap else cap
    return json.dumps(request).encode()


def _tools(tools: Any, api: Api) -> str | None:  # noqa: ANN401 - anything a stranger sends
    for tool in _objects(tools):
        kind = tool.get("type")
        if not (api == "messages" and kind is None) and not (isinstance(kind, str) and _TOOLS[api].fullmatch(kind)):
            return f"no tool of type `{str(kind)[:80]}` may be offered here, only those that the program runs itself"
        if found := _tools(tool.get("tools"), api):
            return found
    return None


def _conversation(request: Mapping[str, Any], api: Api) -> str | None:
    """Whether something in it would be fetched, was kept by the server, or offers further tools."""
    for each in _within([request.get(name) for name in ("input", "messages", "system")]):
        if each.get("type") == "item_reference" or (each.keys() <= {"id", "type"} and each.get("id") is not None):
            return "a conversation may not refer to what the server has kept"
        if found := _tools(each.get("tools"), api):
            return found
        for name, value in each.items():
            if name.endswith("url") and isinstance(value, str) and value[:5].lower() != "data:":
                return f"`{name[:80]}` may be `data:` alone here, no address"
            if name in ("file_id", "container_id") and value is not None:
                return f"a conversation may have no `{name}`"
    return None


def _within(value: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - anything a stranger sends
    """Every object in it, but for what a model gave to a tool."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            yield each
            called = each.get("type") == "tool_use"
            left += [inner for name, inner in each.items() if name not in _OPAQUE and not (called and name == "input")]
        elif isinstance(each, list):
            left += each


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - anything a stranger sends
    """The objects in a list; what is there and is none counts as one without anything."""
    return (dictionary(each) for each in (value if isinstance(value, list) else [value] if value is not None else []))
