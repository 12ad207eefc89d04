"""Tools over both protocols: what is offered, what a reply calls, and what is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.providers import Message, Request, Response, Tool, ToolCall
from pytest_toolgate.providers.rendered import as_chat, as_responses, readable
from pytest_toolgate.providers.wire import is_about_tools, read_body

from .test_wire import _JSON, message, part

TOOL = Tool("run", "Runs.", {"type": "object", "properties": {"x": {"type": "string"}}})
CALL = ToolCall("c1", "run", '{"x": "1"}')
TALK = (
    Message("user", "Q?"),
    Message("assistant", "", (CALL, ToolCall("c2", "run", "{broken"))),
    Message("tool", "one", result_of="c1"),
    Message("tool", "two", result_of="c2"),
    Message("assistant", "So."),
)
REQUEST = Request("m", TALK, tools=(TOOL,))


def called(arguments: object = '{"x": "1"}', **more: object) -> dict[str, object]:
    return {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "run", "arguments": arguments} | more


def responses(*output: object, tools: bool = True, **more: object) -> Response:
    body = {"status": "completed", "model": "m", "output": output} | more
    return read_body(json.dumps(body).encode(), "responses", tools=tools)


def chat(*calls: object, finish: str = "tool_calls", tools: bool = True, content: object = None) -> Response:
    choice = {"message": {"content": content, "tool_calls": list(calls)}, "finish_reason": finish}
    return read_body(json.dumps({"model": "m", "choices": [choice]}).encode(), "chat", tools=tools)


def function(arguments: object = '{"x": "1"}', **more: object) -> dict[str, object]:
    return {"id": "c1", "type": "function", "function": {"name": "run", "arguments": arguments}} | more


def test_a_conversation_with_calls_over_both_protocols() -> None:
    assert as_responses(REQUEST) == {
        "input": [
            {"role": "user", "content": "Q?"},
            {"type": "function_call", "call_id": "c1", "name": "run", "arguments": '{"x": "1"}'},
            {"type": "function_call", "call_id": "c2", "name": "run", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2", "output": "two"},
            {"role": "assistant", "content": "So."},
        ],
        "tools": [
            {"type": "function", "name": "run", "description": "Runs.", "parameters": TOOL.parameters, "strict": False}
        ],
    }
    sent = as_chat(REQUEST)
    first, second = sent["messages"][1]["tool_calls"]
    assert first == {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"x": "1"}'}}
    assert second["function"]["arguments"] == "{}"
    assert sent["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "one"}
    assert sent["tools"][0]["function"] == {"name": "run", "description": "Runs.", "parameters": TOOL.parameters}


def test_what_offers_no_tools_is_sent_as_ever() -> None:
    plain = Request("m", (Message("system", "S"), Message("user", "Q?")))
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q?"}]
    assert as_chat(plain) == {"messages": messages}
    assert as_responses(plain) == {"input": messages}


@pytest.mark.parametrize(
    ("response", "calls"),
    [
        pytest.param(responses(called()), [CALL], id="responses"),
        pytest.param(responses(message(part("I run it.")), called()), [CALL], id="responses-with-words"),
        pytest.param(responses({"type": "reasoning"}, called({"x": "1"})), [CALL], id="responses-an-object"),
        pytest.param(chat(function()), [CALL], id="chat"),
        pytest.param(chat(function(), content="I run it."), [CALL], id="chat-with-words"),
        pytest.param(chat(function(), finish="stop"), [CALL], id="chat-ended-otherwise"),
        pytest.param(
            chat(function(), function()), [CALL, ToolCall("c1_1", "run", CALL.arguments)], id="chat-one-id-for-both"
        ),
        pytest.param(
            chat({"function": {"name": "r n", "arguments": None}}), [ToolCall("call_0", "r_n", "")], id="chat-bare"
        ),
        pytest.param(chat({}), [ToolCall("call_0", "_", "")], id="chat-nothing"),
        pytest.param(chat(*[function(id=f"c{i}") for i in range(40)]), None, id="chat-many"),
    ],
)
def test_a_call_is_a_whole_reply_where_tools_were_offered(response: Response, calls: list[ToolCall] | None) -> None:
    assert (response.status, response.error) == ("complete", "")
    assert len(response.calls) == 16 if calls is None else list(response.calls) == calls


@pytest.mark.parametrize(
    ("response", "status"),
    [
        pytest.param(responses(called(), tools=False), "failed", id="responses-not-offered"),
        pytest.param(chat(function(), tools=False), "failed", id="chat-not-offered"),
        pytest.param(chat(function(), tools=False, finish="stop"), "failed", id="chat-not-offered-stop"),
        pytest.param(responses(called(), {"type": "web_search_call"}), "failed", id="a-tool-of-the-server"),
        pytest.param(responses(called(status="incomplete")), "failed", id="responses-cut"),
        pytest.param(
            responses(called(), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "truncated",
            id="responses-cap",
        ),
        pytest.param(chat(function(), finish="length"), "truncated", id="chat-cap"),
        pytest.param(chat(finish="tool_calls"), "failed", id="chat-calls-nothing"),
        pytest.param(chat(finish="stop"), "empty", id="chat-no-call"),
    ],
)
def test_what_is_no_whole_reply(response: Response, status: str) -> None:
    assert response.status == status
    assert response.error


def test_all_that_was_said_is_kept() -> None:
    response = responses(message(part("I run it.")), called())
    assert response.said == 'I run it.\n[run {"x": "1"}]'


@pytest.mark.parametrize(
    ("body", "about"),
    [
        (b'{"message": "registry.ollama.ai/library/x does not support tools"}', True),
        (b'{"message": "\\"auto\\" tool choice requires --enable-auto-tool-choice"}', True),
        (b'{"code": 500, "message": "tools param requires --jinja flag"}', True),
        (b'{"message": "Unsupported parameter: tool_choice"}', True),
        (b'{"message": "This model does not support function calling"}', True),
        (b'{"message": "The model `toolace` does not exist"}', False),
        (b'{"message": "Invalid reasoning effort"}', False),
    ],
)
def test_a_refusal_that_has_to_do_with_tools(body: bytes, about: bool) -> None:
    assert is_about_tools(body) is about


_NAMED = st.dictionaries(
    st.sampled_from(["id", "call_id", "type", "function", "name", "arguments", "status"]),
    _JSON | st.just("function_call"),
    max_size=5,
)


@pytest.mark.parametrize("api", ["responses", "chat"])
@given(calls=_JSON | st.lists(_NAMED, max_size=20), finish=st.sampled_from(["tool_calls", "stop", "length", ""]))
def test_no_call_raises_and_all_can_be_sent_back(api: str, calls: Any, finish: str) -> None:  # noqa: ANN401
    choice = {"message": {"tool_calls": calls}, "finish_reason": finish}
    body = {"model": "m", "status": "completed", "output": calls, "choices": [choice]}
    response = read_body(json.dumps(body).encode(), api, tools=True)
    assert bool(response.error) is (response.status != "complete")
    assert response.status != "complete" or response.text.strip() or response.calls
    assert len({call.id for call in response.calls}) == len(response.calls) <= 16
    request = Request("m", (Message("assistant", response.text, response.calls),))
    for sent in (as_chat(request), as_responses(request)):
        json.dumps(sent, ensure_ascii=False).encode()
    response.said.encode()


@given(st.text(max_size=40) | _JSON.map(json.dumps) | st.just("[" * 100_000) | st.just('{"x": "\\ud800"}'))
def test_arguments_go_back_as_an_object(arguments: str) -> None:
    sent = readable(arguments)
    assert isinstance(json.loads(sent, parse_constant=lambda name: pytest.fail(name)), dict)
    sent.encode()
