"""What a server may send for a call that was passed on: a whole reply, or a failure, and never an exception."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from agent_server import AgentServer, Run, turns
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.providers import Response
from pytest_toolgate.providers.protocol import Api
from pytest_toolgate.providers.streamed import read_passed

from .test_passed_on import APIS, call_in, provider

BROKEN = {
    "nothing": b"",
    "html": b"<html>Sign in</html>",
    "half": b'{"choices": [',
    "no-events": b"data: [DONE]\n\n",
    "error": b'{"error": {"message": "no"}}',
    "error-event": b'data: {"type": "error", "error": {"message": "no"}}\n\n',
    "deep": b'{"output": ' + b"[" * 300_000,
    "deep-event": b"data: " + b"[" * 300_000 + b"\n\n",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("api", APIS)
def test_what_is_no_whole_reply_is_a_failure(api: Api, name: str) -> None:
    assert not isinstance(read_passed(BROKEN[name], api), Response)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_that_breaks_off_anywhere_is_a_failure(
    model: AgentServer, tmp_path: Path, api: Api, stream: bool
) -> None:
    model.script = turns(Run("ls -l"))
    body = provider(model, tmp_path).pass_on(call_in(api, stream=stream)).body
    words = {"responses": b"response.completed", "chat": b'"finish_reason": "tool_calls"', "messages": b"message_stop"}
    end = body.rindex(words[api]) if stream else len(body) - 1
    for length in range(0, end, 7):
        assert not isinstance(read_passed(body[:length], api), Response), length


NAMES = (
    *("type", "error", "message", "response", "output", "item", "content", "text", "delta", "tool_calls"),
    *("function", "name", "arguments", "choices", "index", "usage", "finish_reason", "input_tokens"),
    *("output_tokens_details", "reasoning_tokens", "content_block", "message_start", "message_stop", "model"),
    *("response.completed", "response.output_item.done", "content_block_delta", "message_delta", "status"),
    *("prompt_tokens"),
)
VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | st.sampled_from(NAMES) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4), max_size=4)


@given(st.binary(max_size=300), st.sampled_from(APIS))
def test_arbitrary_bytes_are_read(content: bytes, api: Api) -> None:
    read_passed(content, api)


@given(EVENTS, st.sampled_from(APIS))
def test_arbitrary_events_are_read(events: list[dict[str, Any]], api: Api) -> None:
    read_passed("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode(), api)
    for event in events:
        read_passed(json.dumps(event).encode(), api)


@pytest.mark.parametrize("api", APIS)
def test_the_longest_reply_is_read_in_its_length(api: Api) -> None:
    """Eight times as much takes no more than some eight times as long."""
    chat = {"choices": [{"delta": {"content": "x", "tool_calls": [{"index": 1, "function": {"arguments": "y"}}]}}]}
    event = json.dumps({"type": "content_block_delta", "index": 1, "delta": {"text": "x"}, **chat}).encode()

    def seconds(size: int) -> float:
        content = b"data: " + event + b"\n\n"
        begun = time.process_time()
        read_passed(content * (size // len(content)), api)
        return time.process_time() - begun

    seconds(1 << 16)
    assert seconds(8 << 20) < 40 * seconds(1 << 20)
