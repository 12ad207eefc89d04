"""Asking a server of Anthropic's protocol in our own name: only whether key, model and effort are taken."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_server import CACHED, INPUT, KEY, OUTPUT, AgentServer, Fault, Say, turns

from pytest_toolgate.config import ProviderSettings, Retries
from pytest_toolgate.providers import Call, Message, Provider, ProviderError, Request, Tokens
from pytest_toolgate.providers.openai_api import OpenAIProvider, open_provider

REQUEST = Request("agent-model", (Message("user", "Are you there?"),), reasoning="low")


@pytest.fixture
def server() -> Iterator[AgentServer]:
    with AgentServer() as running:
        running.script = turns(Say("Yes."))
        yield running


def opened(folder: Path, base_url: str | None) -> OpenAIProvider:
    settings = ProviderSettings(
        "lab", api="messages", base_url=base_url, api_key_env="LAB_KEY", retries=Retries(1, 0.1)
    )
    return open_provider(settings, folder)


def test_a_request_of_our_own(tmp_path: Path, server: AgentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    provider = opened(tmp_path, server.base_url)
    response = provider.ask(REQUEST)
    assert (response.status, response.text, response.model_served) == ("complete", "Yes.", "agent-model")
    assert response.tokens == Tokens(INPUT, CACHED, OUTPUT, None)
    [asked] = server.requests
    assert asked.body == {
        "model": "agent-model",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Are you there?"}],
        "output_config": {"effort": "low"},
    }
    assert (asked.path, asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (
        "/v1/messages",
        KEY,
        "2023-06-01",
    )
    assert provider.models().names == ("agent-model",)


def test_what_it_refuses(tmp_path: Path, server: AgentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-of-somebody-else")
    response = opened(tmp_path, server.base_url).ask(REQUEST)
    assert (response.status, response.refused) == ("failed", True)
    assert "the server answered 401: Incorrect API key provided." in response.error

    monkeypatch.setenv("LAB_KEY", KEY)
    server.script = turns(Fault(404, {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}))
    response = opened(tmp_path, server.base_url).ask(REQUEST)
    assert (response.refused, response.error) == (True, "the server answered 404: model: m (not_found_error)")


def test_a_key_that_is_echoed_is_not_kept(tmp_path: Path, server: AgentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    server.script = turns(Say(f"Your key is {KEY}."))
    provider = opened(tmp_path, server.base_url)
    assert provider.ask(REQUEST).text == "Your key is ***."
    body = b'{"model": "agent-model", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}'
    passed = provider.pass_on(Call("messages", "messages", body, {}, "agent-model", 5.0))
    assert (passed.status, KEY.encode() in passed.body) == (200, False)


def test_where_nothing_is_said_it_is_anthropics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    provider: Provider = open_provider(ProviderSettings("lab", api="messages"), tmp_path)
    assert provider.base_url == "https://api.anthropic.com/v1/"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY, which holds its key, is not set"):
        open_provider(ProviderSettings("lab", api="messages"), tmp_path)
