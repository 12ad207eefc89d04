"""From the JSON of a server to a `Response`: pure functions that trust nothing.

Servers differ from the documents they claim to follow, so every field may be missing or of another type, and
whatever is not plainly a whole reply is not one.
"""

import json
import re
from typing import Any

from .protocol import Response, Status, Tokens

MAX_BODY = 8 * 1024 * 1024
# A released version of the asked model: a date, a version number, a tag. `-mini` is another model.
_VERSION_SUFFIX = re.compile(
    r"[-@:](?:v?[0-9]+(?:[.:-][0-9]+)*(?:-(?:latest|preview))?|latest|stable|preview(?:-[0-9-]+)?)",
    re.IGNORECASE,
)
# More tokens than any call can use, and more than the database can hold, are no count.
_MOST_TOKENS = 10**12


def read_body(content: bytes, api: str) -> Response:
    """The reply in the body of a 200."""
    if len(content) > MAX_BODY:
        return Response("failed", error=f"the server sent more than {MAX_BODY // 1024**2} MiB")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return Response(
            "failed",
            error=f"the server answered 200 without JSON: {_short(content.decode(errors='replace'))}",
        )
    if not isinstance(body, dict):
        return Response("failed", error="the server answered 200 with JSON that is not an object")
    if body.get("error"):
        return Response("failed", error=f"the server answered 200 with an error: {_short(json.dumps(body['error']))}")
    return _from_responses(body) if api == "responses" else _from_chat(body)


def _from_responses(body: dict[str, Any]) -> Response:
    texts: list[str] = []
    refusal = ""
    for item in _dicts(body.get("output")):
        for part in _dicts(item.get("content")) if item.get("type") == "message" else ():
            if part.get("type") == "output_text":
                texts.append(_text(part.get("text")))
            elif part.get("type") == "refusal":
                refusal = _text(part.get("refusal")) or "refused"
    reason = _text(_dict(body.get("incomplete_details")).get("reason"))
    ended = {"max_output_tokens": "length", "content_filter": "filter"}.get(reason, "other") if reason else ""
    state = _text(body.get("status"))
    if state == "incomplete" and not ended:
        ended = "other"
    elif state not in ("completed", "incomplete"):
        return Response("failed", error=f"the response ended as `{_short(state)}`", model_served=_name(body))
    usage = _dict(body.get("usage"))
    tokens = Tokens(
        _count(usage.get("input_tokens")),
        _count(_dict(usage.get("input_tokens_details")).get("cached_tokens")),
        _count(usage.get("output_tokens")),
        _count(_dict(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
    return _response("".join(texts), refusal, ended, _name(body), tokens)


def _from_chat(body: dict[str, Any]) -> Response:
    choices = list(_dicts(body.get("choices")))
    if not choices:
        return Response("failed", error="the server answered 200 without a choice", model_served=_name(body))
    message = _dict(choices[0].get("message"))
    finish = _text(choices[0].get("finish_reason"))
    ended = {"stop": "", "eos": "", "length": "length", "content_filter": "filter"}.get(finish, "other")
    usage = _dict(body.get("usage"))
    tokens = Tokens(
        _count(usage.get("prompt_tokens")),
        _count(_dict(usage.get("prompt_tokens_details")).get("cached_tokens")),
        _count(usage.get("completion_tokens")),
        _count(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )
    return _response(_text(message.get("content")), _text(message.get("refusal")), ended, _name(body), tokens)


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


def _count(value: Any) -> int | None:  # noqa: ANN401 - anything a server sends
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _name(body: dict[str, Any]) -> str | None:
    return _text(body.get("model"))[:200] or None


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else flat[:197] + "..."
