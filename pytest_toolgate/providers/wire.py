"""From the JSON of a server to a `Response`: pure functions that trust nothing.

Servers differ from the documents they claim to follow, so every field may be missing or of another type, and
whatever is not plainly a whole reply is not one.
"""

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from .protocol import Response, Status, Tokens, ToolCall

MAX_BODY = 8 * 1024 * 1024
MAX_STREAM = 32 * 1024 * 1024
# A released version of the asked model: a date, a version number, a tag. `-mini` is another model, and so is `-3-5`.
_VERSION_SUFFIX = re.compile(
    r"[-@:](?:(?:v[0-9]+|[0-9]{3,})(?:[.:-][0-9]+)*(?:-(?:latest|preview))?|latest|stable|preview(?:-[0-9-]+)?)",
    re.IGNORECASE,
)
# What servers call an account without money.
_EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "402"})
# More tokens than any call can use, and more than the database can hold, are no count.
_MOST_TOKENS = 10**12
# One call per reply is asked for. Names and ids go back to the server, which has limits of its own.
_MOST_CALLS = 16
_LONGEST_ID = 200
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_TOOLS = re.compile(rb"\b(?:tools?|tool.choice|function.call\w*)\b", re.IGNORECASE)


def read_body(content: bytes, api: str, *, tools: bool = False) -> Response:
    """The reply in the body of a 200.

    Args:
        content: The body.
        api: The protocol, `responses` or `chat`.
        tools: Whether tools were offered, so that a call of one is a reply.
    """
    if len(content) > MAX_BODY:
        return Response("failed", error=f"the server sent more than {MAX_BODY // 1024**2} MiB")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return Response("failed", error=f"the server answered 200 without JSON: {shown(content)}")
    if not isinstance(body, dict):
        return Response("failed", error="the server answered 200 with JSON that is not an object")
    if error := body.get("error"):
        return _with_error(error, name_of(body))
    return _from_responses(body, tools) if api == "responses" else _from_chat(body, tools)


def shown(content: bytes) -> str:
    """The beginning of a body, in one line."""
    return _short(content[:1000].decode(errors="replace")) or "an empty body"


def says_exhausted(error: Any) -> bool:  # noqa: ANN401 - anything a server sends
    """Whether the `error` object of a server says that the account is exhausted, not that it is asked too fast."""
    return any(_word(dictionary(error).get(name)) in _EXHAUSTED for name in ("code", "type"))


def told(error: Any) -> str:  # noqa: ANN401 - anything a server sends
    """What the `error` object of a server says, in one line: its words, its code and the setting it names."""
    fields = dictionary(error)
    words = _short(text_of(fields.get("message")) or text_of(error))
    names = dict.fromkeys(_word(fields.get(name)) for name in ("code", "type", "param"))
    further = ", ".join(name for name in names if name and name not in words)
    return f"{words} ({further})".strip() if further else words


def _with_error(error: Any, served: str | None) -> Response:  # noqa: ANN401 - anything a server sends
    sentence = f"the server answered 200 with an error: {told(error) or 'it does not say which'}"
    return Response("failed", error=sentence, quota=says_exhausted(error), model_served=served)


def _from_responses(body: dict[str, Any], tools: bool) -> Response:
    items = dictionaries(body.get("output"))
    # What a model says on the way to its answer is no part of the answer.
    messages = [item for item in items if item.get("type") == "message" and item.get("phase") != "commentary"]
    texts: list[str] = []
    refusal = ""
    for message in messages:
        parts = dictionaries(message.get("content"))
        texts.append("".join(text_of(part.get("text")) for part in parts if part.get("type") == "output_text"))
        for part in parts:
            if part.get("type") == "refusal":
                refusal = text_of(part.get("refusal")) or "refused"
    reason = text_of(dictionary(body.get("incomplete_details")).get("reason"))
    ended = {"max_output_tokens": "length", "content_filter": "filter"}.get(reason, "other") if reason else ""
    state = text_of(body.get("status"))
    cut = any(message.get("status") in ("incomplete", "in_progress") for message in messages)
    functions = [item for item in items if item.get("type") == "function_call"] if tools else []
    cut = cut or any(item.get("status") in ("incomplete", "in_progress") for item in functions)
    others = sum(text_of(item.get("type")).endswith("_call") for item in items) > len(functions)
    if not ended and (state == "incomplete" or cut or others):
        ended = "other"
    tokens = tokens_of(body, "responses")
    if state not in ("completed", "incomplete"):
        ending = f"the response ended as `{_short(state)}`"
        return Response("failed", error=ending, model_served=name_of(body), tokens=tokens)
    calls = _calls((item.get("call_id"), item) for item in functions)
    return _response("\n".join(filter(None, texts)), refusal, ended, name_of(body), tokens, calls)


def _from_chat(body: dict[str, Any], tools: bool) -> Response:
    choices = dictionaries(body.get("choices"))
    if not choices:
        return Response("failed", error="the server answered 200 without a choice", model_served=name_of(body))
    if error := choices[0].get("error"):
        return _with_error(error, name_of(body))
    message = dictionary(choices[0].get("message"))
    finish = text_of(choices[0].get("finish_reason"))
    ended = {"stop": "", "eos": "", "length": "length", "content_filter": "filter"}.get(finish, "other")
    functions = dictionaries(message.get("tool_calls")) if tools else []
    if functions and finish == "tool_calls":
        ended = ""
    if not ended and ((message.get("tool_calls") and not functions) or message.get("function_call")):
        ended = "other"
    refusal = text_of(message.get("refusal"))
    calls = _calls((call.get("id"), dictionary(call.get("function"))) for call in functions)
    return _response(text_of(message.get("content")), refusal, ended, name_of(body), tokens_of(body, "chat"), calls)


def _calls(functions: Iterable[tuple[Any, Mapping[str, Any]]]) -> tuple[ToolCall, ...]:
    """The calls of a reply, each with an id of its own, whatever the server gave it."""
    calls: dict[str, ToolCall] = {}
    for number, (given, function) in enumerate(itertools.islice(functions, _MOST_CALLS)):
        name = text_of(given)[:_LONGEST_ID] or f"call_{number}"
        while name in calls:
            name = f"{name}_{number}"
        arguments = function.get("arguments")
        # Some servers send the object itself.
        written = text_of(arguments) if isinstance(arguments, str) or arguments is None else json.dumps(arguments)
        calls[name] = ToolCall(name, _NO_NAME.sub("_", text_of(function.get("name")))[:64] or "_", written)
    return tuple(calls.values())


def tokens_of(body: Mapping[str, Any], api: Literal["responses", "chat"]) -> Tokens:
    """What the `usage` of a body says."""
    usage = dictionary(body.get("usage"))
    asked, replied = ("input", "output") if api == "responses" else ("prompt", "completion")
    tokens = Tokens(
        count(usage.get(f"{asked}_tokens")),
        count(dictionary(usage.get(f"{asked}_tokens_details")).get("cached_tokens")),
        count(usage.get(f"{replied}_tokens")),
        count(dictionary(usage.get(f"{replied}_tokens_details")).get("reasoning_tokens")),
    )
    return _whole(tokens, usage)


def _whole(tokens: Tokens, usage: Mapping[str, Any]) -> Tokens:
    """The counts with the reasoning among the output, where it is paid: some servers count it beside the output."""
    if tokens.input is None or tokens.output is None or not tokens.reasoning:
        return tokens
    if usage.get("total_tokens") != tokens.input + tokens.output + tokens.reasoning:
        return tokens
    return replace(tokens, output=tokens.output + tokens.reasoning)


def is_about_tools(content: bytes) -> bool:
    """Whether the body of a refusal has a word on tools in it."""
    return _TOOLS.search(content[:MAX_BODY]) is not None


def _response(
    text: str, refusal: str, ended: str, served: str | None, tokens: Tokens, calls: tuple[ToolCall, ...]
) -> Response:
    status: Status = "complete"
    error = ""
    if refusal or ended == "filter":
        status, error = "refused", _short(refusal) or "the output was filtered"
    elif ended == "length":
        status, error = "truncated", "the reply reached the cap on output tokens"
    elif ended:
        status, error = "failed", "the reply did not end by itself"
    elif not text.strip() and not calls:
        status, error = "empty", "the reply has no text"
    return Response(status, text or refusal, error, model_served=served, tokens=tokens, calls=calls)


def read_models(content: bytes) -> tuple[str, ...]:
    """The names in the body of a list of models; none where it is no such list."""
    if len(content) > MAX_BODY:
        return ()
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    return tuple(name for item in dictionaries(dictionary(body).get("data")) if (name := text_of(item.get("id"))[:200]))


def is_asked_model(asked: str, served: str | None) -> bool:
    """Whether the model that answered is the one asked for, perhaps with a version suffix."""
    if served is None:
        return False
    return served == asked or (served.startswith(asked) and _VERSION_SUFFIX.fullmatch(served[len(asked) :]) is not None)


def dictionary(value: Any) -> dict[str, Any]:  # noqa: ANN401 - anything a server sends
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def dictionaries(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - anything a server sends
    """The objects in a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str:  # noqa: ANN401 - anything a server sends
    """A text; empty for anything else."""
    # A lone surrogate from a broken escape could neither be stored nor shown.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _word(value: Any) -> str:  # noqa: ANN401 - anything a server sends
    return text_of(str(value) if isinstance(value, int) else value)[:100]


def count(value: Any) -> int | None:  # noqa: ANN401 - anything a server sends
    """A number of tokens; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def name_of(body: Mapping[str, Any]) -> str | None:
    """The model that a body says it is from."""
    return text_of(body.get("model"))[:200] or None


def _short(text: str) -> str:
    flat = " ".join(text[:2000].split())
    return flat if len(flat) <= 200 else flat[:197] + "..."
