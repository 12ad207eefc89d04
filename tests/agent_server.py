"""A model for agents with a program of their own, behind a real HTTP server on loopback, that follows a script.

It speaks OpenAI's Responses and Chat Completions protocols and Anthropic's Messages, streamed or whole, and calls the
tool by which the program that asks runs a command.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exchange import Asked, Reply
from loopback import Loopback

KEY = "sk-agent-canary-77c1f0"
INPUT, CACHED, OUTPUT, REASONING = 100, 20, 10, 4
"""Tokens of every reply."""


@dataclass(frozen=True, slots=True)
class Run:
    """The model has a command run, with further arguments for the tool that runs it."""

    command: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Say:
    """The model says something, and is done; it may be another than was asked."""

    text: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """The server answers with something else than a reply."""

    status: int = 200
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    reset: bool = False
    raw: bytes | None = None


Step = Run | Say | Fault
Script = Callable[[Asked], Step]
"""What the model does with a request."""
HANG = Fault(hang=True)
UNAUTHORISED = Fault(401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}})
LIMITED = Fault(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})
EXHAUSTED = Fault(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})
# The name of the tool that runs a command, and how its argument is called.
_TOOLS = {"exec_command": "cmd", "shell_command": "command", "Bash": "command", "bash": "command"}


def turns(*steps: Step) -> Script:
    """What the model does, turn by turn; the last step for ever."""
    return lambda asked: steps[min(len(outputs(asked)), len(steps) - 1)]


def once(first: Step, then: Script) -> Script:
    """The first request for a reply fares otherwise than all that follow."""
    asked_before = threading.Event()

    def script(asked: Asked) -> Step:
        if asked_before.is_set():
            return then(asked)
        asked_before.set()
        return first

    return script


def by_question(scripts: Mapping[str, Script]) -> Script:
    """The script of the candidate whose name, followed by a question mark, is in the conversation."""

    def script(asked: Asked) -> Step:
        conversation = json.dumps(asked.body)
        return next(each for name, each in scripts.items() if f"{name}?" in conversation)(asked)

    return script


class AgentServer(Loopback):
    """The server, running from `with` to its end.

    Attributes:
        script: What the model does.
        requests: Every request for a reply, in order of arrival.
    """

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.script: Script = turns(Say("I have nothing to say."))
        self.requests: list[Asked] = []
        self._lock = threading.Lock()

    def _answer(self, method: str, asked: Asked) -> tuple[Reply, bytes]:
        if method == "GET":
            return Reply(), json.dumps({"object": "list", "data": [{"id": "agent-model"}]}).encode()
        if not asked.is_preflight:
            with self._lock:
                self.requests.append(asked)
        if KEY not in (asked.headers.get("authorization", "")[-len(KEY) :], asked.headers.get("x-api-key")):
            return Reply(status=401), json.dumps(UNAUTHORISED.body).encode()
        if asked.is_preflight:
            return Reply(), json.dumps(_WHOLE[asked.path.rpartition("/v1/")[2]](asked, Say("OK"))).encode()
        step = self.script(asked)
        if isinstance(step, Fault):
            body = json.dumps(step.body).encode() if step.raw is None else step.raw
            return Reply(status=step.status, headers=step.headers, stall=step.hang, reset=step.reset), body
        protocol = asked.path.rpartition("/v1/")[2]
        if not asked.body.get("stream"):
            return Reply(), json.dumps(_WHOLE[protocol](asked, step)).encode()
        events = _STREAM[protocol](asked, step)
        stream = "".join(f"event: {event.get('type', 'chunk')}\ndata: {json.dumps(event)}\n\n" for event in events)
        return Reply(headers={"Content-Type": "text/event-stream"}), f"{stream}data: [DONE]\n\n".encode()


def outputs(asked: Asked) -> list[str]:
    """What the commands that were run in this conversation printed, as the model was told."""
    if "input" in asked.body:
        items = [item for item in asked.body["input"] if str(item.get("type", "")).endswith("_output")]
        return [json.dumps(item["output"]) for item in items]
    found = []
    for message in asked.body["messages"]:
        if message["role"] == "tool":
            found.append(json.dumps(message["content"]))
        elif isinstance(message.get("content"), list):
            found += [json.dumps(part) for part in message["content"] if part.get("type") == "tool_result"]
    return found


def _turn(asked: Asked) -> int:
    return len(outputs(asked))


def _tool(asked: Asked) -> tuple[str, str]:
    """The tool that runs commands, and how its argument is called."""
    given = [tool.get("function", tool) for tool in asked.body.get("tools", [])]
    name = next(tool["name"] for tool in given if tool.get("name") in _TOOLS)
    return name, _TOOLS[name]


def _item(asked: Asked, step: Run | Say) -> dict[str, Any]:
    if isinstance(step, Say):
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    name, argument = _tool(asked)
    arguments = {argument: step.command, **step.arguments}
    call = {"call_id": f"call_{_turn(asked)}", "name": name, "arguments": json.dumps(arguments)}
    return {"type": "function_call", "id": f"fc_{_turn(asked)}", "status": "completed", **call}


def _response(asked: Asked, step: Run | Say) -> dict[str, Any]:
    usage = {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": REASONING},
        "total_tokens": INPUT + OUTPUT,
    }
    return {
        "id": f"resp_{_turn(asked)}",
        "object": "response",
        "status": "completed",
        "model": (isinstance(step, Say) and step.model) or asked.model,
        "output": [_item(asked, step)],
        "usage": usage,
    }


def _response_events(asked: Asked, step: Run | Say) -> list[dict[str, Any]]:
    response = _response(asked, step)
    return [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": response["output"][0]},
        {"type": "response.completed", "response": response},
    ]


def _message(asked: Asked, step: Run | Say) -> dict[str, Any]:
    if isinstance(step, Say):
        return {"role": "assistant", "content": step.text}
    name, argument = _tool(asked)
    function = {"name": name, "arguments": json.dumps({argument: step.command})}
    call = {"id": f"call_{_turn(asked)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _chat(asked: Asked, step: Run | Say) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": _message(asked, step),
        "finish_reason": "stop" if isinstance(step, Say) else "tool_calls",
    }
    return {"id": "chat_1", "object": "chat.completion", "created": 0, "model": asked.model, "choices": [choice],
            "usage": _CHAT_USAGE}  # fmt: skip


_CHAT_USAGE = {
    "prompt_tokens": INPUT,
    "completion_tokens": OUTPUT,
    "total_tokens": INPUT + OUTPUT,
    "prompt_tokens_details": {"cached_tokens": CACHED},
    "completion_tokens_details": {"reasoning_tokens": REASONING},
}


def _chat_events(asked: Asked, step: Run | Say) -> list[dict[str, Any]]:
    whole = _chat(asked, step)
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": asked.model}
    message = whole["choices"][0]["message"]
    calls = [{"index": i, **call} for i, call in enumerate(message.get("tool_calls", []))]
    delta = {key: value for key, value in {**message, "tool_calls": calls}.items() if value}
    ending = {"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}
    return [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [ending]},
        {**head, "choices": [], "usage": _CHAT_USAGE},
    ]


def _block(asked: Asked, step: Run | Say) -> dict[str, Any]:
    if isinstance(step, Say):
        return {"type": "text", "text": step.text}
    name, argument = _tool(asked)
    return {"type": "tool_use", "id": f"toolu_{_turn(asked)}", "name": name, "input": {argument: step.command}}


def _anthropic(asked: Asked, step: Run | Say) -> dict[str, Any]:
    return {
        "id": f"msg_{_turn(asked)}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [_block(asked, step)],
        "stop_reason": "end_turn" if isinstance(step, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT - CACHED, "cache_read_input_tokens": CACHED, "output_tokens": OUTPUT},
    }


def _anthropic_events(asked: Asked, step: Run | Say) -> list[dict[str, Any]]:
    message = _anthropic(asked, step)
    block = message["content"][0]
    if isinstance(step, Say):
        opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": step.text}
    else:
        opened, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    usage = {**message["usage"], "output_tokens": 1}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": OUTPUT}},
        {"type": "message_stop"},
    ]


_WHOLE = {"responses": _response, "chat/completions": _chat, "messages": _anthropic}
_STREAM = {"responses": _response_events, "chat/completions": _chat_events, "messages": _anthropic_events}
