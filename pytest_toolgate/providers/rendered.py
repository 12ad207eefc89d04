"""A conversation and its tools as the JSON of OpenAI's two protocols. Pure."""

import json
from typing import Any

from .protocol import Message, Request, Tool, ToolCall

Json = dict[str, Any]


def as_responses(request: Request) -> Json:
    """`input` and `tools` of a request to the Responses endpoint."""
    items: list[Json] = []
    for message in request.messages:
        if message.role == "tool":
            items.append({"type": "function_call_output", "call_id": message.result_of, "output": message.content})
            continue
        if message.content or not message.calls:
            items.append({"role": message.role, "content": message.content})
        # Without the server's own id of the item: that is looked up among stored ones, and asks for its reasoning.
        items += [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": readable(call.arguments)}
            for call in message.calls
        ]
    tools = [{"type": "function", **_function(tool), "strict": False} for tool in request.tools]
    return {"input": items} | ({"tools": tools} if tools else {})


def as_chat(request: Request) -> Json:
    """`messages` and `tools` of a request to the Chat Completions endpoint."""
    tools = [{"type": "function", "function": _function(tool)} for tool in request.tools]
    return {"messages": [_message(message) for message in request.messages]} | ({"tools": tools} if tools else {})


def is_openais_own(base_url: str) -> bool:
    """Whether a server is OpenAI's, which alone knows a cap on a chat reply by its new name."""
    return base_url.startswith("https://api.openai.com/")


def readable(arguments: str) -> str:
    """Arguments of a call as they can be sent back: the chat templates of many servers fail on what is no object."""
    try:
        # A line end in a string is the most common slip, and what it means is plain.
        value = json.loads(arguments, strict=False)
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return "{}"
    return written.encode("utf-8", "replace").decode() if isinstance(value, dict) else "{}"


def _message(message: Message) -> Json:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.result_of, "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    return {"role": message.role, "content": message.content or None, "tool_calls": [_call(c) for c in message.calls]}


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": readable(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _function(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
