"""What a reply of the built-in agent's model asks for, and what it gets to see of the conversation."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.agents.builtin_history import answered, in_words, recent, spoken
from pytest_toolgate.agents.builtin_moves import MAX_ARGUMENTS, MAX_SCRIPT, Move, read_move
from pytest_toolgate.providers import Message, Response, ToolCall

from .items import F1
from .test_wire import _JSON

BLOCK = "```python\nprint(2)\n```"
LONG = "#" * (MAX_SCRIPT + 1)


def reply(text: str = "", *arguments: str, name: str = "run_python") -> Response:
    calls = tuple(ToolCall(f"c{i}", name, each) for i, each in enumerate(arguments))
    return Response("complete", text, calls=calls)


def script(text: str = "print(1)") -> str:
    return json.dumps({"script": text})


@pytest.mark.parametrize(
    ("response", "move"),
    [
        pytest.param(reply("", script()), Move("print(1)"), id="call"),
        pytest.param(reply(f"I try {BLOCK}", script()), Move("print(1)"), id="a-call-goes-before-a-block"),
        pytest.param(reply("ANSWER: B", script()), Move("print(1)"), id="a-call-goes-before-an-answer"),
        pytest.param(reply("", script(), script("print(2)")), Move("print(1)"), id="the-first-of-two"),
        pytest.param(reply("", '{"script": "a\nb"}'), Move("a\nb"), id="line-end-in-a-string"),
        pytest.param(reply("", '{"script": "print(1)", "timeout": 9}'), Move("print(1)"), id="more-than-asked-for"),
        pytest.param(reply("", '{"script": "\\ud800"}'), Move("?"), id="half-a-character"),
        pytest.param(reply(BLOCK), Move("print(2)", in_text=True), id="block"),
        pytest.param(reply(f"ANSWER: B\n{BLOCK}"), Move("print(2)", in_text=True), id="a-block-goes-before-an-answer"),
        pytest.param(reply(BLOCK, "{broken"), Move("print(2)"), id="a-block-beside-a-broken-call"),
        pytest.param(
            reply('<tool_call>\n{"name": "run_python", "arguments": {"script": "print(3)"}}\n</tool_call>'),
            Move("print(3)", in_text=True),
            id="a-call-in-words",
        ),
        pytest.param(
            reply('```json\n{"name": "run_python", "arguments": {"script": "print(3)"}}\n```\nI wait.'),
            Move("print(3)", in_text=True),
            id="a-call-in-a-block",
        ),
        pytest.param(reply("ANSWER: B"), Move(result="B"), id="answer"),
        pytest.param(reply("Let me think."), Move(), id="talk"),
        pytest.param(reply(), Move(), id="nothing"),
    ],
)
def test_moves(response: Response, move: Move) -> None:
    assert read_move(response, F1) == move


@pytest.mark.parametrize(
    ("response", "words"),
    [
        pytest.param(reply("", "{broken"), "not JSON", id="not-json"),
        pytest.param(reply("", ""), "not JSON", id="empty"),
        pytest.param(reply("", "[" * 100_000), "not JSON", id="deep"),
        pytest.param(reply("", "print(1)"), "not JSON", id="bare-code"),
        pytest.param(reply("", "[1]"), "no text `script`", id="list"),
        pytest.param(reply("", '{"code": "print(1)"}'), "no text `script`", id="another-name"),
        pytest.param(reply("", '{"script": ["print(1)"]}'), "no text `script`", id="lines"),
        pytest.param(reply("", script("  ")), "no text `script`", id="blank"),
        pytest.param(reply("", script(), name="bash"), "no tool `bash`", id="another-tool"),
        pytest.param(reply("ANSWER: B", "{broken"), "not JSON", id="an-answer-beside-it-is-not-taken"),
        pytest.param(reply("", script(LONG)), "too long", id="long"),
        pytest.param(reply("", " " * (MAX_ARGUMENTS + 1)), "too long", id="long-arguments"),
        pytest.param(reply(f"```python\n{LONG}\n```"), "too long", id="long-block"),
    ],
)
def test_what_is_wrong_is_told(response: Response, words: str) -> None:
    move = read_move(response, F1)
    assert (move.script, move.result) == ("", "")
    assert words in move.complaint
    assert len(move.complaint) < 300


@given(text=st.text(max_size=50), arguments=st.lists(_JSON.map(json.dumps) | st.text(max_size=30), max_size=3))
def test_no_reply_raises(text: str, arguments: list[str]) -> None:
    move = read_move(reply(text, *arguments), F1)
    assert bool(move.script) + bool(move.result) + bool(move.complaint) <= 1
    move.script.encode()


def talk(*turns: tuple[Response, str]) -> list[Message]:
    history = [Message("system", "S"), Message("user", "Q?")]
    for response, feedback in turns:
        history += [spoken(response), *answered(response, feedback)]
    return history


def test_every_call_gets_a_result() -> None:
    """Servers refuse a conversation in which one has none."""
    _, _, said, first, second = talk((reply("", script(), script("x")), "Output: 1"))
    assert [call.id for call in said.calls] == [first.result_of, second.result_of]
    assert first.content == "Output: 1"
    assert "One call at a time" in second.content


def test_a_result_is_never_without_its_call() -> None:
    long = reply("", script("x" * 9000), script("y"))
    history = talk(*[(long, "z" * 3000)] * 4)
    seen = recent(history)
    assert seen[:2] == tuple(history[:2])
    assert [message.role for message in seen[2:]] == ["assistant", "tool", "tool"]


def test_the_latest_turn_is_seen_however_long() -> None:
    for long in (reply("x" * 100_000), reply("", script("x" * 100_000))):
        seen = recent(talk((long, "That was wrong.")))
        assert seen[-1].content == "That was wrong."
        assert len(seen) == 4
        assert sum(len(str(message)) for message in seen) < 15_000


def test_a_conversation_goes_on_in_words() -> None:
    history = talk((reply("I run it.", script(), script("x")), "Output: 1"), (reply("", "{broken"), "Not JSON."))
    assert in_words(history[2:]) == [
        Message("assistant", "I run it.\n```python\nprint(1)\n```"),
        Message("user", "Output: 1"),
        Message("assistant", "{broken"),
        Message("user", "Not JSON."),
    ]


@given(
    turns=st.lists(
        st.tuples(st.text(max_size=9000), st.lists(st.text(max_size=9), max_size=3), st.text(max_size=3000)), max_size=6
    )
)
def test_results_follow_their_calls(turns: list[tuple[str, list[str], str]]) -> None:
    history = talk(*[(reply(text, *arguments), feedback) for text, arguments, feedback in turns])
    due: list[Any] = []
    for message in recent(history)[2:]:
        if message.role == "tool":
            assert due.pop(0) == message.result_of
        else:
            assert not due
            due = [call.id for call in message.calls]
    assert not due
    assert all(message.role != "tool" and not message.calls for message in in_words(history))
