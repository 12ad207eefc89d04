"""From the JSON of a server to a response: what is not plainly a whole reply is not one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.providers.protocol import Response, Tokens
from pytest_toolgate.providers.wire import MAX_BODY, is_asked_model, read_body
from pytest_toolgate.screen.reading import read_reply

from .items import F1


def part(text: object = "ANSWER: B", kind: str = "output_text", key: str = "text") -> dict[str, object]:
    return {"type": kind, key: text}


def message(*parts: object) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def responses(output: object = None, **more: object) -> Response:
    output = [message(part())] if output is None else output
    body = {
        "status": "completed",
        "model": "m",
        "error": None,
        "incomplete_details": None,
        "output": output,
    } | more
    return read_body(json.dumps(body).encode(), "responses")


def chat(
    content: object = "ANSWER: B",
    finish: object = "stop",
    more: dict[str, object] | None = None,
    **top: object,
) -> Response:
    choice = {"message": {"role": "assistant", "content": content} | (more or {}), "finish_reason": finish}
    return read_body(json.dumps({"model": "m", "choices": [choice]} | top).encode(), "chat")


def test_a_whole_reply() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    expected = Response("complete", "ANSWER: B", model_served="m", tokens=Tokens(9, 4, 7, 5))
    assert (
        responses([{"type": "reasoning", "summary": []}, message(part("ANSWER:"), part(" B"))], usage=usage) == expected
    )
    usage = {
        "prompt_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    assert chat(usage=usage) == expected


@pytest.mark.parametrize(
    ("response", "status"),
    [
        pytest.param(responses([message(part("I can't.", "refusal", "refusal"))]), "refused", id="D07-refusal"),
        pytest.param(responses([message(part("", "refusal", "refusal"))]), "refused", id="D07-empty-refusal"),
        pytest.param(
            responses([message(part(), part("no", "refusal", "refusal"))]),
            "refused",
            id="D07-text-and-refusal",
        ),
        pytest.param(chat(None, more={"refusal": "I can't."}), "refused", id="D07-chat"),
        pytest.param(chat("ANSWER: B", "content_filter"), "refused", id="chat-filter"),
        pytest.param(
            responses(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "refused",
            id="filter",
        ),
        pytest.param(
            responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "truncated",
            id="cap",
        ),
        pytest.param(
            responses([], status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "truncated",
            id="cap-in-reasoning",
        ),
        pytest.param(chat("ANSWER: B", "length"), "truncated", id="chat-cap"),
        pytest.param(chat("", "length"), "truncated", id="chat-cap-empty"),
        pytest.param(responses([]), "empty", id="no-output"),
        pytest.param(responses([message()]), "empty", id="no-part"),
        pytest.param(responses([message(part(" \n"))]), "empty", id="blank"),
        pytest.param(responses([message(part(None))]), "empty", id="null-text"),
        pytest.param(chat(""), "empty", id="chat-empty"),
        pytest.param(chat(None), "empty", id="chat-null"),
        pytest.param(chat(["ANSWER: B"]), "empty", id="chat-other-type"),
        pytest.param(responses(status="incomplete"), "failed", id="incomplete-for-no-reason"),
        pytest.param(
            responses(status="incomplete", incomplete_details={"reason": "new"}),
            "failed",
            id="unknown-reason",
        ),
        pytest.param(responses(status="in_progress"), "failed", id="in-progress"),
        pytest.param(responses(status="failed", error={"code": "server_error"}), "failed", id="D05-error-in-200"),
        pytest.param(responses(status="cancelled"), "failed", id="cancelled"),
        pytest.param(responses(status=None), "failed", id="no-status"),
        pytest.param(responses(status=["completed"]), "failed", id="odd-status"),
        pytest.param(chat(finish=None), "failed", id="chat-no-finish"),
        pytest.param(chat(finish="tool_calls"), "failed", id="chat-tool"),
        pytest.param(chat(error={"message": "rate limited"}), "failed", id="D05-chat-error-in-200"),
        pytest.param(chat(choices=[]), "failed", id="no-choice"),
        pytest.param(chat(choices={"0": 1}), "failed", id="odd-choices"),
        pytest.param(read_body(b"", "chat"), "failed", id="empty-body"),
        pytest.param(read_body(b"<html>Bad gateway: ANSWER: B</html>", "responses"), "failed", id="D05-html"),
        pytest.param(read_body(b"[1]", "chat"), "failed", id="list"),
        pytest.param(read_body(b"\xff\xfe", "chat"), "failed", id="bytes"),
        pytest.param(read_body(b"[" * 200_000, "chat"), "failed", id="depth"),
        pytest.param(read_body(b"9" * 10_000, "chat"), "failed", id="long-number"),
        pytest.param(read_body(b'{"status": "comp', "responses"), "failed", id="cut"),
        pytest.param(read_body(b" " * (MAX_BODY + 1), "chat"), "failed", id="large"),
    ],
)
def test_what_is_not_a_whole_reply_is_not_complete(response: Response, status: str) -> None:
    assert response.status == status
    assert response.error
    assert len(response.error) < 400


def test_error_text_as_a_reply_is_whole_and_says_nothing() -> None:
    """D05."""
    response = chat("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.")
    assert response.status == "complete"
    assert read_reply(response.text, F1).letter is None


@pytest.mark.parametrize("count", [-1, 1.5, "7", None, True, [7], 10**30, {"x": 1}])
def test_a_count_that_is_none(count: object) -> None:
    usage = {"input_tokens": count, "output_tokens": 3, "input_tokens_details": count}
    assert responses(usage=usage).tokens == Tokens(None, None, 3, None)
    assert responses(usage=count).tokens == Tokens()


def test_text_that_could_not_be_stored_is_made_storable() -> None:
    response = read_body(
        b'{"model": "m\\ud800", "choices": [{"message": {"content": "a\\ud800"}, "finish_reason": "stop"}]}',
        "chat",
    )
    assert (response.text, response.model_served) == ("a?", "m?")


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-5.4", "gpt-5.4", True),
        ("gpt-5.4", "gpt-5.4-2026-03-01", True),
        ("gpt-5.4", "gpt-5.4-20260301", True),
        ("gpt-4", "gpt-4-0613", True),
        ("m", "m-latest", True),
        ("m", "m@20241022", True),
        ("m", "m:v2", True),
        ("m", "m-v1.2", True),
        ("m", "m-preview-04-17", True),
        ("gpt-5.4", "gpt-5.4-mini", False),
        ("gpt-5.4", "gpt-5.4-mini-2026-03-01", False),
        ("gpt-5", "gpt-5.4", False),
        ("gpt-5.4", "gpt-5", False),
        ("gpt-4", "gpt-4-32k", False),
        ("claude-3", "claude-3-5-sonnet", False),
        ("llama-3", "llama-3-8b-instruct", False),
        ("gpt-4", "gpt-4o", False),
        ("m", "other", False),
        ("m", "", False),
        ("m", None, False),
    ],
)
def test_the_model_served_is_the_one_asked_for_perhaps_with_a_version(
    asked: str, served: str | None, same: bool
) -> None:
    assert is_asked_model(asked, served) is same


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["completed", "message", "stop"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "status",
                    "output",
                    "content",
                    "type",
                    "text",
                    "choices",
                    "message",
                    "usage",
                    "model",
                    "error",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("api", ["responses", "chat"])
@given(body=st.one_of(_JSON.map(lambda body: json.dumps(body).encode()), st.binary(max_size=50)))
def test_no_body_raises(api: str, body: bytes) -> None:
    response = read_body(body, api)
    assert bool(response.error) is (response.status != "complete")
    response.text.encode()
    if response.status == "complete":
        assert response.text.strip()
