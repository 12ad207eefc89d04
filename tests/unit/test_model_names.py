"""Names of models: whether the asked one has answered, and which a server lists."""

import pytest

from pytest_toolgate.providers.wire import MAX_BODY, is_asked_model, read_models


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
        ("claude-3", "claude-3-5", False),
        ("llama-3", "llama-3-1", False),
        ("gemini-2", "gemini-2.5", False),
        ("qwen3", "qwen3:8b", False),
        ("qwen3", "qwen3:latest", True),
        ("gemini-1.5-flash", "gemini-1.5-flash-002", True),
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


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"object": "list", "data": [{"id": "a", "object": "model"}, {"id": "b"}]}', ("a", "b")),
        (b'{"data": []}', ()),
        (b'{"data": {"id": "a"}}', ()),
        (b'{"data": [{"id": 1}, "a", {"id": ""}, {"name": "a"}, {"id": "b"}]}', ("b",)),
        (b'{"data": [{"id": "a\\ud800"}]}', ("a?",)),
        (b'["a"]', ()),
        (b"<html>", ()),
        (b"[" * 100_000, ()),
        (b" " * (MAX_BODY + 1), ()),
        (b"", ()),
    ],
)
def test_the_list_of_models(body: bytes, names: tuple[str, ...]) -> None:
    assert read_models(body) == names
