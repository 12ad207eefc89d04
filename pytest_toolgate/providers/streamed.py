"""What the reply to a call that was passed on says, of which the agent that made it gets the bytes.

It is whole or it is not; what an agent's model says on its way, tools it calls included, is for the record. Pure
functions that trust nothing, as in `wire`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from .protocol import Api, Response, Tokens
from .retrying import Failure
from .wire import count, dictionaries, dictionary, name_of, says_exhausted, shown, text_of, tokens_of, told

Read = Response | Failure


def read_passed(content: bytes, api: Api) -> Read:
    """The reply in the body of a 200, whether it is one JSON object or a stream of events.

    Returns:
        A `Response` that is `complete`, or a `Failure`: broken off, or an error in place of a reply.
    """
    try:
        return _read(content, api)
    except RecursionError:
        return Failure("the server answered 200 with JSON that is nested too deep")


def _read(content: bytes, api: Api) -> Read:
    if content.lstrip()[:1] == b"{":
        try:
            body = json.loads(content)
        except ValueError:
            return Failure("the server answered 200 with broken JSON")
        if error := dictionary(body).get("error"):
            return _failure(error)
        return _WHOLE[api](dictionary(body))
    events = _events(content)
    first = next(events, None)
    if first is None:
        return Failure(f"the server answered 200 without a reply: {shown(content)}")
    return _STREAMED[api](chain((first,), events))


def _events(content: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects in the `data` lines of a stream of server-sent events."""
    for line in content.splitlines():
        if line.startswith(b"data:"):
            try:
                event = json.loads(line[5:])
            except (ValueError, RecursionError):
                continue  # the word that ends a stream, or a broken event, which is then missing
            if isinstance(event, dict):
                yield event


def _failure(error: Any) -> Failure:  # noqa: ANN401 - anything a server sends
    return Failure(f"the server answered 200 with an error: {told(error) or 'it does not say which'}",
                   quota=says_exhausted(error))  # fmt: skip


def _broken() -> Failure:
    return Failure("the reply broke off")


# --- Responses ----------------------------------------------------------------------------------------------


def _responses(body: Mapping[str, Any]) -> Read:
    if dictionary(body.get("error")):
        return _failure(body["error"])
    if text_of(body.get("status")) not in ("completed", "incomplete", ""):
        return Failure(f"the response ended as `{text_of(body.get('status'))[:80]}`")
    parts = [_item(item) for item in dictionaries(body.get("output"))]
    return _complete(parts, body, tokens_of(body, "responses"))


def _item(item: Mapping[str, Any]) -> str:
    if item.get("type") == "message":
        return "".join(text_of(part.get("text")) for part in dictionaries(item.get("content")))
    if item.get("type") == "reasoning":
        return ""
    return _called(item.get("name") or item.get("type"), item.get("arguments") or item.get("input"))


def _responses_stream(events: Iterable[dict[str, Any]]) -> Read:
    items = []
    for event in events:
        kind = event.get("type")
        if kind == "error":
            return _failure(event.get("error") or event)
        if kind == "response.output_item.done":
            items.append(dictionary(event.get("item")))
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            body = dictionary(event.get("response"))
            return _responses({**body, "output": body.get("output") or items})
    return _broken()


# --- Chat Completions ---------------------------------------------------------------------------------------


def _chat(body: Mapping[str, Any]) -> Read:
    choices = dictionaries(body.get("choices"))
    if not choices:
        return Failure("the server answered 200 without a choice")
    message = dictionary(choices[0].get("message"))
    calls = [dictionary(call.get("function")) for call in dictionaries(message.get("tool_calls"))]
    parts = [text_of(message.get("content")), *(_called(call.get("name"), call.get("arguments")) for call in calls)]
    return _complete(parts, body, tokens_of(body, "chat"))


def _chat_stream(events: Iterable[dict[str, Any]]) -> Read:
    said: list[str] = []
    calls: dict[Any, list[str]] = {}
    ended = False
    body: dict[str, Any] = {}
    for event in events:
        if event.get("error"):
            return _failure(event["error"])
        body |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        for choice in dictionaries(event.get("choices"))[:1]:
            delta = dictionary(choice.get("delta"))
            said.append(text_of(delta.get("content")))
            for call in dictionaries(delta.get("tool_calls")):
                function = dictionary(call.get("function"))
                known = calls.setdefault(str(call.get("index")), [])
                known += [text_of(function.get("name")), text_of(function.get("arguments"))]
            ended = ended or bool(choice.get("finish_reason"))
    if not ended:
        return _broken()
    parts = ["".join(said), *(f"[{' '.join(filter(None, call))}]" for call in calls.values())]
    return _complete(parts, body, tokens_of(body, "chat"))


# --- Messages -----------------------------------------------------------------------------------------------


def _messages(body: Mapping[str, Any]) -> Read:
    if body.get("type") == "error":
        return _failure(body.get("error"))
    parts = [_block(block) for block in dictionaries(body.get("content"))]
    return _complete(parts, body, _messages_tokens(dictionary(body.get("usage"))))


def _block(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return _called(block.get("name"), block.get("input"))
    return text_of(block.get("text"))


def _messages_tokens(usage: Mapping[str, Any]) -> Tokens:
    """Here what was read from a cache or written to it is counted beside the input."""
    read = count(usage.get("cache_read_input_tokens")) or 0
    written = count(usage.get("cache_creation_input_tokens")) or 0
    fresh = count(usage.get("input_tokens"))
    total = None if fresh is None else fresh + read + written
    return Tokens(total, read, count(usage.get("output_tokens")), None)


def _messages_stream(events: Iterable[dict[str, Any]]) -> Read:
    body: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    blocks: dict[str, list[str]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "error":
            return _failure(event.get("error"))
        if kind == "message_start":
            body = dictionary(event.get("message"))
            usage |= dictionary(body.get("usage"))
        elif kind == "content_block_start":
            block = dictionary(event.get("content_block"))
            blocks[str(event.get("index"))] = [text_of(block.get("name")), text_of(block.get("text"))]
        elif kind == "content_block_delta":
            delta = dictionary(event.get("delta"))
            known = blocks.setdefault(str(event.get("index")), [])
            known += [text_of(delta.get("text")), text_of(delta.get("partial_json"))]
        elif kind == "message_delta":
            usage |= dictionary(event.get("usage"))
        elif kind == "message_stop":
            parts = ["".join(filter(None, block)) for block in blocks.values()]
            return _complete(parts, body, _messages_tokens(usage))
    return _broken()


# --- all of them --------------------------------------------------------------------------------------------


def _called(name: Any, arguments: Any) -> str:  # noqa: ANN401 - anything a server sends
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"[{text_of(name)} {text_of(given)}]"


def _complete(parts: list[str], body: Mapping[str, Any], tokens: Tokens) -> Response:
    text = "\n".join(filter(None, parts))
    return Response("complete" if text else "empty", text, model_served=name_of(body), tokens=tokens)


_WHOLE = {"responses": _responses, "chat": _chat, "messages": _messages}
_STREAMED = {"responses": _responses_stream, "chat": _chat_stream, "messages": _messages_stream}
