"""What stands between an agent's own program and its model: everything it does is bounded, counted and ended."""

import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.agents.protocol import AgentError
from pytest_toolgate.providers import Call, Passed, ProviderError, Tokens

from .gateways import BODY, Opens, failed, opens


@pytest.fixture
def open_gateway(tmp_path: Path) -> Opens:
    return opens(tmp_path)


def words(response: HTTPResponse) -> str:
    return str(json.loads(response.read())["error"]["message"])


# --- what is passed on ----------------------------------------------------------------------------------------


def test_a_call_is_passed_on_and_its_reply_handed_back_as_it_is(open_gateway: Opens) -> None:
    with open_gateway() as world:
        response = world.post(
            path="/v1/responses?x=1", Accept="text/event-stream", Authorization="Bearer toolgate", Cookie="x"
        )
        assert (response.status, response.read()) == (200, b"data: B\n\n")
        assert response.headers["Content-Type"] == "text/event-stream"
        [call] = world.provider.calls
        assert (call.api, call.path, json.loads(call.body)) == ("responses", "responses", BODY)
        assert call.headers == {"content-type": "application/json", "accept": "text/event-stream"}
        assert 0 < call.deadline <= 60
        assert (world.gateway.calls, world.gateway.tokens) == (1, Tokens(10, 2, 3, 1))


@pytest.mark.parametrize(("path", "api"), [("chat/completions", "chat"), ("messages", "messages")])
def test_every_protocol_has_its_place(open_gateway: Opens, path: str, api: str) -> None:
    with open_gateway() as world:
        assert world.post({"model": "m", "stream": True}, f"/v1/{path}").status == 200
        [call] = world.provider.calls
        assert (call.api, call.path) == (api, path)
        # Without being asked, servers of this protocol do not say what a stream has used.
        assert (json.loads(call.body).get("stream_options") == {"include_usage": True}) is (api == "chat")


def test_the_models_are_known_without_asking(open_gateway: Opens) -> None:
    with open_gateway() as world:
        connection = HTTPConnection(world.address[0], world.address[1], timeout=20)
        connection.request("GET", "/v1/models")
        assert [model["id"] for model in json.loads(connection.getresponse().read())["data"]] == ["m"]
        connection.request("GET", "/v1/files")
        assert connection.getresponse().status == 404
    assert not world.provider.calls


# --- what is turned away --------------------------------------------------------------------------------------

DEEP = b'{"model": "m", "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
REFUSED: Mapping[str, tuple[Any, str, Mapping[str, str], int]] = {
    "another-model": ({"model": "dearer"}, "/v1/responses", {}, 400),
    "two-models": (b'{"model": "m", "model": "dearer"}', "/v1/responses", {}, 400),
    "no-model": ({}, "/v1/responses", {}, 400),
    "a-list": ([], "/v1/responses", {}, 400),
    "no-json": (b"\xff{", "/v1/responses", {}, 400),
    "deep": (DEEP, "/v1/responses", {}, 400),
    "elsewhere": (BODY, "/v1/files", {}, 404),
    "above": (BODY, "/v1/../responses", {}, 404),
    "zstd": (b"\x28\xb5\x2f\xfd", "/v1/responses", {"Content-Encoding": "zstd"}, 415),
    "gzip": (b"\x1f\x8b", "/v1/responses", {"Content-Encoding": "gzip"}, 415),
    "chunked": (b"2\r\n{}\r\n0\r\n\r\n", "/v1/responses", {"Transfer-Encoding": "chunked"}, 411),
    "huge": (b"", "/v1/responses", {"Content-Length": "9999999999999"}, 413),
    "negative": (b"", "/v1/responses", {"Content-Length": "-1"}, 411),
    "no-number": (b"", "/v1/responses", {"Content-Length": "1_0"}, 411),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_call_to_its_model_is_turned_away(open_gateway: Opens, name: str) -> None:
    body, path, headers, status = REFUSED[name]
    with open_gateway() as world:
        response = world.post(body, path, **{key.replace("-", "_"): value for key, value in headers.items()})
        assert response.status == status
        assert words(response)
        assert world.gateway.problem is None
        assert world.post().status == 200
    assert len(world.provider.calls) == 1


def test_headers_that_cannot_be_sent_are_left_out(open_gateway: Opens) -> None:
    with open_gateway() as world:
        assert world.post(Accept="x" * 5000, anthropic_beta="caf\xe9").status == 200
        assert world.provider.calls[0].headers == {"content-type": "application/json"}


# --- many, and half of one ------------------------------------------------------------------------------------


def test_hundreds_of_connections_have_few_threads(open_gateway: Opens) -> None:
    with open_gateway() as world:
        before = threading.active_count()
        many = [socket.socket() for _ in range(300)]
        for each in many:
            each.setblocking(False)
            each.connect_ex(world.address)
        time.sleep(0.3)
        assert threading.active_count() - before <= 32
        for each in many:
            each.close()
        assert world.post().status == 200


def test_half_a_request_ends_with_the_solve(open_gateway: Opens) -> None:
    with open_gateway() as world:
        halves = [world.send("Content-Length: 100", b'{"model"'), socket.create_connection(world.address)]
        halves[1].sendall(b"POST /v1/resp")
        time.sleep(0.1)
    assert world.ending < 8
    for half in halves:
        with half, suppress(ConnectionResetError):
            assert half.recv(100) == b""


def test_a_program_that_hangs_up_takes_nothing_with_it(open_gateway: Opens) -> None:
    with open_gateway() as world:
        world.send("Content-Length: 100", b"{").close()
        world.send(f"Content-Length: {len(json.dumps(BODY))}", json.dumps(BODY).encode()).close()
        assert world.post().status == 200
        assert world.gateway.problem is None


# --- what fails -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "mended"),
    [(400, True), (413, True), (422, True), (401, False), (429, False), (500, False), (None, False)],
)
def test_what_an_agent_cannot_mend_ends_it(open_gateway: Opens, status: int | None, mended: bool) -> None:
    with open_gateway(failed("no", status)) as world:
        response = world.post()
        assert response.status == (status if mended else 403)
        assert world.gateway.closed is not mended
        assert world.gateway.refusal == "no"
    if not mended:
        assert (world.problem.reason, str(world.problem)) == ("provider", "the agent's model failed: no")


def test_an_exhausted_account_is_told(open_gateway: Opens) -> None:
    with open_gateway(failed("no money", 429, quota=True)) as world:
        world.post()
        assert world.problem.quota
        # It is said once; nothing is asked any more.
        assert world.post().status == 403
    assert len(world.provider.calls) == 1


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (ProviderError("no server at http://10.0.0.7/v1"), "provider"),
        (AgentError("10.0.0.7 has spent its budget", "budget"), "budget"),
        (OSError(2, "No such file or directory", "/home/me/10.0.0.7"), "internal"),
    ],
)
def test_what_is_raised_is_on_the_record_and_not_in_the_sandbox(
    open_gateway: Opens, raised: Exception, reason: str
) -> None:
    def fail(call: Call) -> Passed:
        raise raised

    with open_gateway(fail) as world:
        response = world.post()
        assert response.status == 403
        assert b"10.0.0.7" not in response.read()
        assert world.problem.reason == reason
        assert "10.0.0.7" in str(world.problem)


def test_each_call_is_admitted(open_gateway: Opens) -> None:
    stops = iter([None, ("budget", "it is spent")])
    with open_gateway(may_pay=lambda: next(stops)) as world:
        assert world.post().status == 200
        response = world.post()
        assert (response.status, words(response)) == (403, "the solve cannot go on")
        assert (world.problem.reason, world.gateway.calls) == ("budget", 1)


def test_what_may_not_be_seen_is_not_sent(open_gateway: Opens) -> None:
    with open_gateway(watch=lambda body, where: "a canary" if b"canary" in body else None) as world:
        assert world.post({**BODY, "input": "canary"}).status == 403
        assert (world.problem.reason, world.provider.calls) == ("sandbox", [])
