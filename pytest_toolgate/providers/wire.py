"""From the JSON of a server to a `Response`: pure functions that trust nothing.

Servers differ from the documents they claim to follow, so every field may be missing or of another type, and
whatever is not plainly a whole reply is not one.
"""

import json
import re
from dataclasses import replace
from typing import Any

from .protocol import Response, Status, Tokens

MAX_BODY = 8 * 1024 * 1024
# A released version of the asked model: a date, a version number, a tag. `-mini` is another model, and so is `-3-5`.
_VERSION_SUFFIX = re.compile(
    r"[-@:](?:(?:v[0-9]+|[0-9]{3,})(?:[.:-][0-9]+)*(?:-(?:latest|preview))?|latest|stable|preview(?:-[0-9-]+)?)",
    re.IGNORECASE,
)
# What servers call an account without money.
_EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "402"})
# More tokens than any call can use, and more than the database can hold, are no count.
_MOST_TOKENS = 10**12


def read_body(content: bytes, api: str) -> Response:
    """The reply in the body of a 200."""
    if len(content) > MAX_BODY:
        return Response("failed", error=f"the server sent more than {MAX_BODY // 1024**2} MiB")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        shown = _short(content[:1000].decode(errors="replace")) or "an empty body"
        return Response("failed", error=f"the server answered 200 without JSON: {shown}")
    if not isinstance(body, dict):
        return Response("failed", error="the server answered 200 with JSON that is not an object")
    if error := body.get("error"):
        return _with_error(error, _name(body))
    return _from_responses(body) if api == "responses" else _from_chat(body)


def says_exhausted(error: Any) -> bool:  # noqa: ANN401 - anything a server sends
    """Whether the `error` object of a server says that the account is exhausted, not that it is asked too fast."""
    return any(_word(_dict(error).get(name)) in _EXHAUSTED for name in ("code", "type"))


def told(error: Any) -> str:  # noqa: ANN401 - anything a server sends
    """What the `error` object of a server says, in one line: its words, its code and the setting it names."""
    fields = _dict(error)
    words = _short(_text(fields.get("message")) or _text(error))
    names = dict.fromkeys(_word(fields.get(name)) for name in ("code", "type", "param"))
    further = ", ".join(name for name in names if name and name not in words)
    return f"{words} ({further})".strip() if further else words


def _with_error(error: Any, served: str | None) -> Response:  # noqa: ANN401 - anything a server sends
    sentence = f"the server answered 200 with an error: {told(error) or 'it does not say which'}"
    return Response("failed", error=sentence, quota=says_exhausted(error), model_served=served)


def _from_responses(body: dict[str, Any]) -> Response:
    items = _dicts(body.get("output"))
    # What a model says on the way to its answer is no part of the answer.
    messages = [item for item in items if item.get("type") == "message" and item.get("phase") != "commentary"]
    texts: list[str] = []
    refusal = ""
    for message in messages:
        parts = _dicts(message.get("content"))
        texts.append("".join(_text(part.get("text")) for part in parts if part.get("type") == "output_text"))
        for part in parts:
            if part.get("type") == "refusal":
                refusal = _text(part.get("refusal")) or "refused"
    reason = _text(_dict(body.get("incomplete_details")).get("reason"))
    ended = {"max_output_tokens": "length", "content_filter": "filter"}.get(reason, "other") if reason else ""
    state = _text(body.get("status"))
    cut = any(message.get("status") in ("incomplete", "in_progress") for message in messages)
    calls = any(_text(item.get("type")).endswith("_call") for item in items)
    if not ended and (state == "incomplete" or cut or calls):
        ended = "other"
    usage = _dict(body.get("usage"))
    tokens = Tokens(
        _count(usage.get("input_tokens")),
        _count(_dict(usage.get("input_tokens_details")).get("cached_tokens")),
        _count(usage.get("output_tokens")),
        _count(_dict(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
    tokens = _whole(tokens, usage)
    if state not in ("completed", "incomplete"):
        ending = f"the response ended as `{_short(state)}`"
        return Response("failed", error=ending, model_served=_name(body), tokens=tokens)
    return _response("\n".join(filter(None, texts)), refusal, ended, _name(body), tokens)


def _from_chat(body: dict[str, Any]) -> Response:
    choices = _dicts(body.get("choices"))
    if not choices:
        return Response("failed", error="the server answered 200 without a choice", model_served=_name(body))
    if error := choices[0].get("error"):
        return _with_error(error, _name(body))
    message = _dict(choices[0].get("message"))
    finish = _text(choices[0].get("finish_reason"))
    ended = {"stop": "", "eos": "", "length": "length", "content_filter": "filter"}.get(finish, "other")
    if not ended and (message.get("tool_calls") or message.get("function_call")):
        ended = "other"
    usage = _dict(body.get("usage"))
    tokens = Tokens(
        _count(usage.get("prompt_tokens")),
        _count(_dict(usage.get("prompt_tokens_details")).get("cached_tokens")),
        _count(usage.get("completion_tokens")),
        _count(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )
    refusal = _text(message.get("refusal"))
    return _response(_text(message.get("content")), refusal, ended, _name(body), _whole(tokens, usage))


def _whole(tokens: Tokens, usage: dict[str, Any]) -> Tokens:
    """The counts with the reasoning among the output, where it is paid: some servers count it beside the output."""
    if tokens.input is None or tokens.output is None or not tokens.reasoning:
        return tokens
    if usage.get("total_tokens") != tokens.input + tokens.output + tokens.reasoning:
        return tokens
    return replace(tokens, output=tokens.output + tokens.reasoning)


def _response(text: str, refusal: str, ended: str, served: str | None, tokens: Tokens) -> Response:
    status: Status = "complete"
    error = ""
    if refusal or ended == "filter":
        status, error = "refused", _short(refusal) or "the output was filtered"
    elif ended == "length":
        status, error = "truncated", "the reply reached the cap on output tokens"
    elif ended:
        status, error = "failed", "the reply did not end by itself"
    elif not text.strip():
        status, error = "empty", "the reply has no text"
    return Response(status, text or refusal, error, model_served=served, tokens=tokens)


def read_models(content: bytes) -> tuple[str, ...]:
    """The names in the body of a list of models; none where it is no such list."""
    if len(content) > MAX_BODY:
        return ()
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    return tuple(name for item in _dicts(_dict(body).get("data")) if (name := _text(item.get("id"))[:200]))


def is_asked_model(asked: str, served: str | None) -> bool:
    """Whether the model that answered is the one asked for, perhaps with a version suffix."""
    if served is None:
        return False
    return served == asked or (served.startswith(asked) and _VERSION_SUFFIX.fullmatch(served[len(asked) :]) is not None)


def _dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 - anything a server sends
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - anything a server sends
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:  # noqa: ANN401 - anything a server sends
    # A lone surrogate from a broken escape could neither be stored nor shown.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _word(value: Any) -> str:  # noqa: ANN401 - anything a server sends
    return _text(str(value) if isinstance(value, int) else value)[:100]


def _count(value: Any) -> int | None:  # noqa: ANN401 - anything a server sends
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _name(body: dict[str, Any]) -> str | None:
    return _text(body.get("model"))[:200] or None


def _short(text: str) -> str:
    flat = " ".join(text[:2000].split())
    return flat if len(flat) <= 200 else flat[:197] + "..."
