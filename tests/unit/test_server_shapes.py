"""Replies as the servers of this world shape them, and what their lists of models come to."""

import threading
from pathlib import Path

import pytest
from scripted_server import KEY, Reply, ScriptedServer, always, saying
from wire_shapes import SHAPES

from pytest_toolgate.config import ProviderSettings, Retries
from pytest_toolgate.providers import Message, ModelList, Request, Response
from pytest_toolgate.providers.openai_api import OpenAIProvider
from pytest_toolgate.providers.pace import Pace

WORDS = "The exact sum decides.\nANSWER: B"
THOUGHT = "Perhaps it is the first.\nANSWER: A"


def ask(
    server: ScriptedServer, api: str, directory: Path, cap: int | None = None, reasoning: str | None = None
) -> Response:
    return provider(server, api, directory).ask(Request("m", (Message("user", "A or B?"),), reasoning, cap))


def provider(server: ScriptedServer, api: str, directory: Path, key: str = KEY) -> OpenAIProvider:
    settings = ProviderSettings("fake", api="chat" if api == "chat" else "responses", timeout=20, retries=Retries(1))
    return OpenAIProvider(settings, server.base_url, key, pace=Pace(directory / "pace.json"))


@pytest.fixture(params=SHAPES)
def kind(request: pytest.FixtureRequest, server: ScriptedServer) -> str:
    """The kind of server that answers."""
    name: str = request.param
    server.shape = SHAPES[name]
    return name


def test_a_whole_reply(server: ScriptedServer, kind: str, api: str, tmp_path: Path) -> None:
    server.script = saying(WORDS)
    response = ask(server, api, tmp_path)
    assert (response.status, response.text, response.error, response.model_served) == ("complete", WORDS, "", "m")
    assert (response.tokens.input, response.tokens.output) == (100, 10)
    assert response.tokens.reasoning in (0, None)


def test_reasoning_is_counted_and_is_no_part_of_the_answer(
    server: ScriptedServer, kind: str, api: str, tmp_path: Path
) -> None:
    server.script = always(Reply(WORDS, thought=THOUGHT, reasoning=40))
    response = ask(server, api, tmp_path, reasoning="low")
    assert (response.status, response.text) == ("complete", WORDS)
    assert (response.tokens.input, response.tokens.output) == (100, 50)
    # Where a server does not tell them apart, it is not known how many they were.
    told = kind == "openai" or (kind, api) == ("vllm", "responses")
    assert response.tokens.reasoning == (40 if told else 0 if (kind, api) == ("ollama", "responses") else None)


def test_a_reply_that_is_only_reasoning_is_empty(server: ScriptedServer, kind: str, api: str, tmp_path: Path) -> None:
    server.script = always(Reply(thought=THOUGHT, reasoning=40, output=0))
    response = ask(server, api, tmp_path)
    assert (response.status, response.text) == ("empty", "")


@pytest.mark.parametrize("text", [WORDS, ""], ids=["in its words", "in its reasoning"])
def test_a_reply_cut_by_our_cap_is_truncated(
    server: ScriptedServer, kind: str, api: str, text: str, tmp_path: Path
) -> None:
    """Ollama's and llama.cpp's Responses endpoints call it completed; only the count of tokens shows it."""
    server.script = always(Reply(text, ended="length", thought=THOUGHT, reasoning=40, output=24))
    response = ask(server, api, tmp_path, cap=64)
    assert (response.status, response.text) == ("truncated", text)
    assert response.tokens.output == 64
    assert "cap" in response.error


def test_a_reply_cut_by_a_cap_of_the_server_is_truncated_where_it_says_so(
    server: ScriptedServer, kind: str, api: str, tmp_path: Path
) -> None:
    server.script = always(Reply(WORDS, ended="length"))
    says_nothing = api == "responses" and kind in ("ollama", "llama.cpp")
    assert ask(server, api, tmp_path).status == ("complete" if says_nothing else "truncated")


def test_sixty_four_calls_at_once_are_all_answered_and_counted(
    server: ScriptedServer, api: str, tmp_path: Path
) -> None:
    server.script = lambda asked: Reply(asked.prompt, delay=0.3)
    asked = provider(server, api, tmp_path)
    texts: dict[int, str] = {}

    def call(number: int) -> None:
        texts[number] = asked.ask(Request("m", (Message("user", f"number {number}"),))).text

    threads = [threading.Thread(target=call, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: f"number {number}" for number in range(64)}
    assert server.count == 64
    assert 1 < server.connections <= 64


# --- before the first call --------------------------------------------------------------------------------


@pytest.mark.parametrize("models", [["a", "b"], [], None], ids=["two", "none", "no list"])
def test_the_list_of_models(server: ScriptedServer, api: str, models: list[str] | None, tmp_path: Path) -> None:
    server.models = models
    assert provider(server, api, tmp_path).models() == ModelList(tuple(models or ()))
    assert [asked.path for asked in server.listed] == ["/v1/models"]
    assert server.count == 0


def test_a_key_that_is_refused_is_an_error_of_the_list_and_of_a_call(
    server: ScriptedServer, api: str, tmp_path: Path
) -> None:
    server.key = KEY
    server.models = ["m"]
    assert provider(server, api, tmp_path).models() == ModelList(("m",))
    wrong = provider(server, api, tmp_path, "sk-another-key")
    assert "Incorrect API key" in wrong.models().error
    response = wrong.ask(Request("m", (Message("user", "A or B?"),)))
    assert (response.status, response.refused, response.requests) == ("failed", True, 1)
    assert "sk-another-key" not in response.error


def test_a_request_that_only_tries_a_model_out_is_counted_apart(
    server: ScriptedServer, api: str, tmp_path: Path
) -> None:
    server.script = saying(WORDS)
    tried = provider(server, api, tmp_path)
    request = Request("m", (Message("user", "Reply with the word OK."),))
    assert tried.ask(request).text == "OK"
    assert (server.count, len(server.preflights)) == (0, 1)
    server.preflight = always(Reply(status=400, error={"message": "no such setting"}))
    assert tried.ask(request).refused
    server.forget()
    assert (server.count, server.preflights, server.listed) == (0, [], [])
