"""One call against a real server that does everything wrong: what is retried, and what it comes to.

Whatever the fault, a call ends as the words the model said, or says that there are none.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_server import KEY, Reply, ScriptedServer, always, in_turn, rate_limited, saying
from wire_faults import EXHAUSTED, FAULTS, Fault, http_date

from pytest_toolgate.config import ProviderSettings, Retries
from pytest_toolgate.providers import Message, Request, Response
from pytest_toolgate.providers.openai_api import OpenAIProvider
from pytest_toolgate.providers.pace import Pace

WORDS = "The exact sum decides.\nANSWER: B"
ATTEMPTS = 2
REQUEST = Request("asked-model", (Message("system", "Answer."), Message("user", "A) 1\nB) 2\nC) 3\nD) 4")))

Ask = Callable[..., Response]


@pytest.fixture
def ask(server: ScriptedServer, api: str, tmp_path: Path) -> Ask:
    """Ask the server over one of the protocols."""

    def ask(
        request: Request = REQUEST,
        timeout: float = 1.0,
        retries: Retries = Retries(ATTEMPTS, 0.05),  # noqa: B008 - it is frozen
        extra_body: dict[str, object] | None = None,
    ) -> Response:
        settings = ProviderSettings(
            "fake", api="chat" if api == "chat" else "responses", timeout=timeout, retries=retries
        )
        provider = OpenAIProvider(settings, server.base_url, KEY, extra_body, pace=Pace(tmp_path / "pace.json"))
        return provider.ask(request)

    return ask


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_that_goes_on_is_never_an_answer(server: ScriptedServer, ask: Ask, fault: Fault) -> None:
    server.script = fault.script
    response = ask()
    assert response.status == fault.status, response
    assert fault.says in response.error
    assert response.error
    assert response.requests == server.count == (ATTEMPTS if fault.transient else 1)
    assert not response.quota
    assert KEY not in str(response)
    # All of it can be stored and shown.
    (response.error + response.text + (response.model_served or "")).encode()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_that_passes_is_asked_again_if_that_can_help(server: ScriptedServer, ask: Ask, fault: Fault) -> None:
    server.script = in_turn([fault.script, saying(WORDS)])
    response = ask()
    assert response.requests == server.count == (2 if fault.transient else 1)
    if fault.transient:
        assert (response.status, response.text, response.error) == ("complete", WORDS, "")
        assert response.model_served == "asked-model"
    else:
        assert response.status == fault.status


@pytest.mark.parametrize("reply", EXHAUSTED.values(), ids=EXHAUSTED.keys())
def test_an_exhausted_account_is_asked_once(server: ScriptedServer, ask: Ask, reply: Reply) -> None:
    """D09."""
    server.script = in_turn([always(reply), saying(WORDS)])
    response = ask()
    assert (response.status, response.quota, response.requests, server.count) == ("failed", True, 1, 1)


def test_a_server_is_not_asked_earlier_than_it_says(server: ScriptedServer, ask: Ask) -> None:
    """D11."""
    server.script = in_turn([always(rate_limited(1)), saying(WORDS)])
    response = ask(retries=Retries(2, 5))
    assert (response.status, response.requests) == ("complete", 2)
    assert response.latency >= 1


def test_a_date_is_kept_as_well(server: ScriptedServer, ask: Ask) -> None:
    """D11: a date has whole seconds only."""
    answered: list[float] = []

    def script(asked: object) -> Reply:
        answered.append(time.time())
        return rate_limited(http_date(2)) if len(answered) == 1 else Reply(WORDS)

    server.script = script
    assert ask(retries=Retries(2, 5)).status == "complete"
    assert answered[1] >= int(answered[0]) + 2


def test_retries_end_with_the_time_of_the_call(server: ScriptedServer, ask: Ask) -> None:
    server.script = always(Reply(status=503, delay=0.1))
    request = Request(REQUEST.model, REQUEST.messages, deadline=1)
    response = ask(request, retries=Retries(1000, 0.3))
    assert response.status == "failed"
    assert 2 <= response.requests == server.count < 12


def test_one_connection_serves_many_requests(server: ScriptedServer, ask: Ask) -> None:
    server.script = in_turn(
        [always(rate_limited()), always(Reply(status=500)), always(Reply(status=503)), saying(WORDS)]
    )
    assert ask(retries=Retries(4, 0.01)).requests == 4
    assert server.connections == 1


@pytest.mark.parametrize("parameter", ["reasoning", "temperature"])
def test_a_setting_that_the_model_refuses_is_named_and_never_dropped(
    server: ScriptedServer, ask: Ask, api: str, parameter: str
) -> None:
    """D13."""
    sent = "reasoning_effort" if (parameter, api) == ("reasoning", "chat") else parameter
    message = f"Unsupported parameter: '{sent}' is not supported with this model." + " It never was." * 50
    error = {"message": message, "type": "invalid_request_error", "param": sent, "code": "unsupported_parameter"}
    server.script = lambda asked: Reply(status=400, error=error) if sent in asked.body else Reply(WORDS)
    assert ask().text == WORDS
    reasoning = "low" if parameter == "reasoning" else None
    extra_body: dict[str, object] | None = {"temperature": 0.2} if parameter == "temperature" else None
    response = ask(Request(REQUEST.model, REQUEST.messages, reasoning), extra_body=extra_body)
    assert (response.status, response.refused, response.requests) == ("failed", True, 1)
    assert f"'{sent}'" in response.error
    assert server.count == 2


def test_what_is_not_set_is_not_sent(server: ScriptedServer, ask: Ask, api: str) -> None:
    """Models that refuse `temperature` or `reasoning` are asked without them."""
    server.script = saying(WORDS)
    ask()
    assert set(server.requests[0].body) == ({"model", "messages"} if api == "chat" else {"model", "input", "store"})


@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high", "xhigh"])
def test_an_effort_is_sent_as_it_stands(server: ScriptedServer, ask: Ask, effort: str) -> None:
    server.script = saying(WORDS)
    ask(Request(REQUEST.model, REQUEST.messages, effort, 1000))
    assert server.requests[0].effort == effort
    assert server.requests[0].cap == 1000


def test_output_exhausted_by_hidden_reasoning_is_a_cut_reply(server: ScriptedServer, ask: Ask) -> None:
    tokens = {"none": 0, "low": 60, "medium": 400, "high": 2000}

    def script(asked: object) -> Reply:
        request = server.requests[-1]
        cap = request.cap or 10**6
        reasoning = tokens[request.effort or "none"]
        return Reply(ended="length", reasoning=cap, output=0) if reasoning >= cap else Reply(WORDS, reasoning=reasoning)

    server.script = script
    got = {
        (effort, cap): ask(Request(REQUEST.model, REQUEST.messages, effort, cap))
        for effort in tokens
        for cap in (None, 500)
    }
    for (effort, cap), response in got.items():
        if (effort, cap) == ("high", 500):
            assert (response.status, response.text) == ("truncated", "")
            assert (response.tokens.reasoning, response.tokens.output) == (500, 500)
            assert "cap" in response.error
        else:
            assert (response.status, response.text) == ("complete", WORDS)
            assert response.tokens.reasoning == tokens[effort]
            assert response.tokens.output == tokens[effort] + 10
