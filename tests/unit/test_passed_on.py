"""Calls of agents' own programs, as a provider passes them on: the reply as it is, and what it says for the record."""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, get_args

import pytest
from agent_server import CACHED, HANG, INPUT, KEY, OUTPUT, REASONING, AgentServer, Fault, Run, Say, turns

from pytest_toolgate.config import ProviderSettings, Retries
from pytest_toolgate.providers import Call, Response
from pytest_toolgate.providers.openai_api import OpenAIProvider, shared_pace
from pytest_toolgate.providers.protocol import Api
from pytest_toolgate.providers.streamed import read_passed

APIS: tuple[Api, ...] = get_args(Api)
PATHS: Mapping[Api, str] = {"responses": "responses", "chat": "chat/completions", "messages": "messages"}
TOOLS: Mapping[Api, Any] = {
    "responses": [{"type": "function", "name": "exec_command"}],
    "chat": [{"type": "function", "function": {"name": "bash"}}],
    "messages": [{"name": "Bash"}],
}


def provider(model: AgentServer, tmp_path: Path, **settings: Any) -> OpenAIProvider:  # noqa: ANN401
    told = ProviderSettings("lab", base_url=model.base_url, retries=Retries(2, 1.0), **settings)
    return OpenAIProvider(told, model.base_url, KEY, pace=shared_pace(told, tmp_path))


def call_in(api: Api = "responses", *, stream: bool = True, deadline: float = 20.0, **more: Any) -> Call:  # noqa: ANN401
    turn = {"role": "user", "content": "What is it?"}
    body = {
        "model": "m",
        "stream": stream,
        "tools": TOOLS[api],
        ("input" if api == "responses" else "messages"): [turn],
    }
    return Call(api, PATHS[api], json.dumps(body).encode(), {"content-type": "application/json"}, "m", deadline, **more)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_is_read_and_handed_back(model: AgentServer, tmp_path: Path, api: Api, stream: bool) -> None:
    model.script = turns(Run("ls -l"))
    passed = provider(model, tmp_path).pass_on(call_in(api, stream=stream))
    response = passed.response
    assert (response.status, response.model_served, passed.status) == ("complete", "m", 200)
    assert "ls -l" in response.text
    tokens = response.tokens
    assert (tokens.input, tokens.cached, tokens.output) == (INPUT, CACHED, OUTPUT)
    assert tokens.reasoning == (None if api == "messages" else REASONING)
    assert passed.content_type == ("text/event-stream" if stream else "application/json")
    assert read_passed(passed.body, api) == Response(
        "complete", response.text, model_served="m", tokens=tokens
    )  # nothing is missing in it


def test_a_long_reply_in_many_events_is_whole(model: AgentServer, tmp_path: Path) -> None:
    """Some 40,000 tokens, each in an event of a few hundred bytes."""
    delta = {"choices": [{"index": 0, "delta": {"content": "word "}}], "model": "m", "padding": "x" * 200}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "model": "m"}
    events = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in (*[delta] * 40_000, last))
    assert len(events) > 8 * 1024**2
    model.script = turns(Fault(raw=events, headers={"Content-Type": "text/event-stream"}))
    passed = provider(model, tmp_path).pass_on(call_in("chat"))
    assert (passed.response.status, len(passed.response.text)) == ("complete", 200_000)
    assert passed.body == events


def test_a_reply_of_another_model_is_none(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(Say("B", model="cheaper"))
    assert provider(model, tmp_path).pass_on(call_in()).response.status == "failed"
    assert provider(model, tmp_path, any_model=True).pass_on(call_in()).response.text == "B"


def test_a_call_is_given_up_at_once(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(HANG)
    given_up: Future[None] = Future()
    Timer(0.3, given_up.set_result, (None,)).start()
    begun = time.monotonic()
    passed = provider(model, tmp_path).pass_on(call_in(deadline=1000, given_up=given_up))
    assert time.monotonic() - begun < 10
    assert (passed.response.status, passed.status, passed.response.unheard) == ("failed", None, 1)
    # One that is given up before it begins never comes to the server.
    asked = len(model.requests)
    never = provider(model, tmp_path).pass_on(call_in(given_up=given_up)).response
    assert (never.status, never.unheard) == ("failed", 0)
    assert len(model.requests) == asked


def test_a_stalled_call_ends_with_its_deadline(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(HANG)
    begun = time.monotonic()
    passed = provider(model, tmp_path).pass_on(call_in(deadline=1.0))
    assert 0.9 < time.monotonic() - begun < 10
    assert passed.response.error.startswith("no whole reply within")


def test_requests_that_nobody_waited_for_are_counted(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(HANG)
    response = provider(model, tmp_path, timeout=0.3).pass_on(call_in()).response
    assert (response.status, response.requests, response.unheard) == ("failed", 2, 2)
    model.script = turns(Fault(500))
    assert provider(model, tmp_path).pass_on(call_in()).response.unheard == 0
    model.script = turns(Say("B"))
    assert provider(model, tmp_path).pass_on(call_in()).response.unheard == 0


def test_who_keeps_the_time_sees_what_holds_a_call_up(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(Say("B"))
    held: list[float] = []

    @contextmanager
    def holding_up() -> Iterator[None]:
        begun = time.monotonic()
        yield
        held.append(time.monotonic() - begun)

    slow = provider(model, tmp_path, requests_per_minute=60)
    for _ in range(2):
        # The second has to wait for longer than it may take.
        assert slow.pass_on(call_in(deadline=0.8, holding_up=holding_up)).response.status == "complete"
    assert held[0] < 0.5 < held[1]


def test_a_huge_reply_is_cut_off(model: AgentServer, tmp_path: Path) -> None:
    model.script = turns(Fault(raw=b"data: {}\n\n" * 1_000_000))
    passed = provider(model, tmp_path).pass_on(call_in())
    assert (passed.response.status, passed.body) == ("failed", b"")
    assert "more than 8 MiB" in passed.response.error
