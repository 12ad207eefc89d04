"""From the JSON of a server to a response: what is not plainly a whole reply is not one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.providers.protocol import Response, Tokens
from pytest_toolgate.providers.wire import MAX_BODY, read_body, read_models, says_exhausted, told
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
        pytest.param(responses([message(part()) | {"status": "incomplete"}]), "failed", id="message-cut"),
        pytest.param(responses([message(part()) | {"status": "in_progress"}]), "failed", id="message-under-way"),
        pytest.param(responses([message(part()), {"type": "function_call"}]), "failed", id="call"),
        pytest.param(responses([message(part()), {"type": "web_search_call"}]), "failed", id="call-of-the-server"),
        pytest.param(responses([message(part()) | {"phase": "commentary"}]), "empty", id="only-commentary"),
        pytest.param(responses([{"type": "reasoning", "content": [part()]}]), "empty", id="only-reasoning"),
        pytest.param(responses([message(part(kind="reasoning_text"))]), "empty", id="reasoning-in-a-message"),
        pytest.param(responses(status=None), "failed", id="no-status"),
        pytest.param(responses(status=["completed"]), "failed", id="odd-status"),
        pytest.param(chat(finish=None), "failed", id="chat-no-finish"),
        pytest.param(chat(finish="tool_calls"), "failed", id="chat-tool"),
        pytest.param(chat(more={"tool_calls": [{"id": "1"}]}), "failed", id="chat-tool-called-stop"),
        pytest.param(chat(more={"function_call": {"name": "f"}}), "failed", id="chat-function-called-stop"),
        pytest.param(chat(None, more={"reasoning_content": "ANSWER: B"}), "empty", id="chat-only-reasoning"),
        pytest.param(
            chat(choices=[{"error": {"code": 502}, "message": {"content": "ANSWER: B"}, "finish_reason": "stop"}]),
            "failed",
            id="chat-error-in-choice",
        ),
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


@pytest.mark.parametrize(
    ("error", "quota"),
    [
        ({"code": "insufficient_quota", "message": "no money"}, True),
        ({"code": None, "type": "insufficient_quota"}, True),
        ({"code": "429", "type": "insufficient_quota"}, True),
        ({"code": "billing_hard_limit_reached"}, True),
        ({"code": 402, "message": "Insufficient credits"}, True),
        ({"code": "rate_limit_exceeded", "type": "requests"}, False),
        ({"code": "server_error"}, False),
        ({"code": ["insufficient_quota"], "type": {"x": "402"}}, False),
        ("insufficient_quota", False),
        (["insufficient_quota"], False),
        (402, False),
    ],
)
def test_an_exhausted_account_is_known_in_a_200_as_well(error: object, quota: bool) -> None:
    """D09."""
    assert says_exhausted(error) is quota
    for response in (responses(error=error, status="failed"), chat(error=error), chat(choices=[{"error": error}])):
        assert (response.status, response.quota) == ("failed", quota)
        assert response.error.startswith("the server answered 200 with an error: ")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            {"message": "Unsupported parameter: 'x'.", "param": "x", "code": "unsupported_parameter"},
            "Unsupported parameter: 'x'. (unsupported_parameter)",
        ),
        (
            {"message": "It is refused.", "type": "invalid", "param": "reasoning.effort"},
            "It is refused. (invalid, reasoning.effort)",
        ),
        ({"message": "a\n b", "code": 503, "type": None}, "a b (503)"),
        ({"code": "server_error", "type": "server_error"}, "(server_error)"),
        ("<h1>Bad Gateway</h1>", "<h1>Bad Gateway</h1>"),
        ({"message": "a\ud800"}, "a?"),
        ({"message": ["a"], "type": {"a": 1}, "code": [1]}, ""),
        (["a"], ""),
        (None, ""),
        ({"message": "x" * 10**6, "param": "y" * 10**6}, f"{'x' * 197}... ({'y' * 100})"),
    ],
)
def test_what_an_error_says(error: object, words: str) -> None:
    """D13: the setting is named, however long the words before it."""
    assert told(error) == words


def test_the_answer_is_what_is_said_last_and_not_on_the_way() -> None:
    commentary = message(part("I compare A and C first.")) | {"phase": "commentary"}
    final = message(part("ANSWER:"), part(" B")) | {"phase": "final_answer", "status": "completed"}
    assert responses([commentary, final]).text == "ANSWER: B"
    assert responses([message(part("It is small.")), message(part("ANSWER: B"))]).text == "It is small.\nANSWER: B"


@pytest.mark.parametrize(
    ("output", "total", "counted"),
    [
        pytest.param(300, 400, 300, id="OpenAI: reasoning is among the output"),
        pytest.param(9, 399, 299, id="xAI: reasoning is beside it, as the total shows"),
        pytest.param(9, 109, 9, id="a total that leaves it out"),
        pytest.param(9, None, 9, id="no total"),
        pytest.param(9, "399", 9, id="no number"),
    ],
)
def test_hidden_reasoning_counts_as_output(output: int, total: object, counted: int) -> None:
    details = {"reasoning_tokens": 290}
    usage = {"prompt_tokens": 100, "completion_tokens": output, "completion_tokens_details": details}
    assert chat(usage=usage | {"total_tokens": total}).tokens == Tokens(100, None, counted, 290)
    usage = {"input_tokens": 100, "output_tokens": output, "output_tokens_details": details}
    assert responses(usage=usage | {"total_tokens": total}).tokens == Tokens(100, None, counted, 290)


def test_what_was_used_is_kept_whatever_became_of_the_reply() -> None:
    usage = {"input_tokens": 9, "output_tokens": 7}
    for response in (
        responses(usage=usage, status="failed"),
        responses(usage=usage, status="incomplete"),
        responses([], usage=usage),
    ):
        assert response.status != "complete"
        assert (response.tokens.input, response.tokens.output) == (9, 7)


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
                    "code",
                    "phase",
                    "finish_reason",
                    "tool_calls",
                    "total_tokens",
                    "incomplete_details",
                    "refusal",
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
    (response.text + response.error + (response.model_served or "")).encode()
    read_models(body)
    if response.status == "complete":
        assert response.text.strip()
