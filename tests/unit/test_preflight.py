"""Trying a provider out: what it refuses is refused once, what merely fails decides nothing."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from exchange import PREFLIGHT
from scripted_server import (
    HTML,
    QUOTA,
    RESET,
    SERVER_ERROR,
    Asked,
    Reply,
    ScriptedServer,
    always,
    rate_limited,
    saying,
)
from traffic import Traffic

from pytest_toolgate.config import EMBEDDED, ProviderSettings, Retries, ScreenSettings, Settings
from pytest_toolgate.gates.preflight import preflight
from pytest_toolgate.gates.together import together
from pytest_toolgate.providers import Request

from .benches import workbench


class OddList(ScriptedServer):
    """A server whose list of models is a reply of its own."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._list = reply

    def _answer(self, method: str, asked: Asked) -> tuple[Reply, bytes]:
        if method != "GET":
            return super()._answer(method, asked)
        self.listed.append(asked)
        return self._list, self._list.raw or b'{"error": {"message": "no"}}'


class Lab:
    """One provider and its users, without pytest around them.

    Attributes:
        bench: What the gates of the run work with.
    """

    def __init__(self, directory: Path, server: ScriptedServer, *users: ScreenSettings, **provider: Any) -> None:  # noqa: ANN401
        lab = ProviderSettings(
            "lab", base_url=server.base_url, **{"timeout": 5.0, "retries": Retries(2, 0.1), **provider}
        )
        self.bench = workbench(directory, Settings(providers={"lab": lab}, screens=users))
        self._users = users

    def try_out(self) -> list[str]:
        """Try out every user of the provider; what is said of each, nothing where calls may be made."""
        results = [preflight(self.bench, user) for user in self._users]
        return ["" if result is None else result.sentence for result in results]

    def rows(self) -> list[dict[str, Any]]:
        """What is on record."""
        return self.bench.store.query("SELECT * FROM preflights ORDER BY time")


@pytest.fixture
def lab(tmp_path: Path, server: ScriptedServer) -> Iterator[Callable[..., Lab]]:
    made: list[Lab] = []

    def make(*users: ScreenSettings, **provider: Any) -> Lab:  # noqa: ANN401
        made.append(Lab(tmp_path, server, *users, **provider))
        return made[-1]

    yield make
    for one in made:
        one.bench.store.close()


Make = Callable[..., Lab]
LIGHT = ScreenSettings("light", "lab", "m")

# --- how often ---------------------------------------------------------------------------------------------


def test_the_embedded_model_needs_none(tmp_path: Path) -> None:
    own = ProviderSettings("own", kind=EMBEDDED)
    user = ScreenSettings("light", "own", "any")
    bench = workbench(tmp_path, Settings(providers={"own": own}, screens=(user,)))
    assert preflight(bench, user) is None
    assert list(bench.run.directory.iterdir()) == []
    bench.store.close()


def test_it_is_minimal_and_carries_every_setting(lab: Make, server: ScriptedServer) -> None:
    one = lab(dataclasses.replace(LIGHT, reasoning="none", max_output_tokens=64))
    assert one.try_out() == [""]
    [asked] = server.preflights
    assert [message["content"] for message in asked.messages] == [PREFLIGHT]
    assert (asked.model, asked.effort, asked.cap) == ("m", "none", 64)
    assert set(asked.body) == {"model", "input", "store", "reasoning", "max_output_tokens"}
    [row] = one.rows()
    assert row["settings"] == '{"max_output_tokens": 64, "model": "m", "reasoning": "none"}'
    assert (row["provider"], row["status"], row["text"], row["note"]) == ("lab", "complete", "OK", "")
    assert (row["model_served"], row["input_tokens"], row["output_tokens"], row["cost"]) == ("m", 100, 10, None)


def test_a_setting_that_is_left_out_is_not_sent(lab: Make, server: ScriptedServer) -> None:
    assert lab(LIGHT, api="chat").try_out() == [""]
    assert set(server.preflights[0].body) == {"model", "messages"}


def test_users_that_come_together_make_one_request_each_and_one_list(lab: Make, server: ScriptedServer) -> None:
    """Two screens of one provider, whose first candidates arrive at the same moment, in eight threads."""
    server.preflight = Traffic(saying("OK"), 0.1)
    strong = dataclasses.replace(LIGHT, name="strong", model="m2")
    one = lab(LIGHT, strong, max_concurrency=8)
    one.bench.provider("lab").ask(Request("m", ()))  # the SDK imports most of itself at its first request
    assert together([partial(preflight, one.bench, user) for user in (LIGHT, strong) * 4]) == [None] * 8
    assert sorted(asked.model for asked in server.preflights) == ["m", "m2"]
    assert len(server.listed) == 1


# --- what is refused ---------------------------------------------------------------------------------------

UNSUPPORTED = {"message": "Unsupported parameter: 'reasoning.effort'", "code": "unsupported_parameter"}
REFUSALS = {
    "key": (Reply(status=401, error={"message": "Incorrect API key provided."}), "Incorrect API key provided."),
    "permission": (Reply(status=403, error={"message": "Not for you."}), "Not for you."),
    "model": (Reply(status=404, error={"message": "The model does not exist."}), "The model does not exist."),
    "reasoning": (Reply(status=400, error=UNSUPPORTED), "Unsupported parameter: 'reasoning.effort'"),
    "cap": (
        Reply(status=400, error={"message": "max_output_tokens: below the minimum", "code": "unsupported_parameter"}),
        "max_output_tokens: below the minimum",
    ),
    "form": (Reply(status=422, error={"message": "extra fields not permitted"}), "extra fields not permitted"),
    "another model": (Reply("OK", model="m-mini"), "asked for `m`, answered by `m-mini`"),
    "no model": (Reply(raw=b'{"status": "completed", "output": [{"type": "message", "content": '
                           b'[{"type": "output_text", "text": "OK"}]}]}'), "answered by an unnamed model"),
    "quota": (QUOTA, "You exceeded your current quota"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSALS)
def test_what_is_refused_once_is_refused(lab: Make, server: ScriptedServer, kind: str) -> None:
    """D13: the sentence names provider, setting and reason; nobody asks a second time; all paid work ends."""
    refusal, said = REFUSALS[kind]
    server.preflight = always(refusal)
    user = dataclasses.replace(LIGHT, reasoning="low", max_output_tokens=64)
    one = lab(user, dataclasses.replace(user, name="again"), dataclasses.replace(user, model="other"))
    sentences = one.try_out()
    assert len(set(sentences)) == 1
    assert sentences[0].startswith("paid work of this run was stopped: provider `lab`")
    assert said in sentences[0]
    if kind != "quota":
        assert "refuses a request with model m, reasoning low, max_output_tokens 64: " in sentences[0]
    assert "\n" not in sentences[0]
    refusal_of_all = one.bench.refusal()
    assert refusal_of_all is not None
    assert refusal_of_all.sentence == sentences[0]
    assert len(server.preflights) == 1
    [row] = one.rows()
    assert row["status"] == "failed"


def test_all_that_come_together_hear_of_a_refusal(lab: Make, server: ScriptedServer) -> None:
    """Not only the one that asked: whoever sees that it was asked sees what came of it."""
    server.preflight = Traffic(always(REFUSALS["model"][0]), 0.1)
    one = lab(LIGHT, max_concurrency=8)
    results = together([partial(preflight, one.bench, LIGHT)] * 8)
    assert {result.reason for result in results if result is not None} == {"not-run"}
    assert None not in results
    assert len(server.preflights) == 1


def test_an_unknown_model_is_told_with_the_known_ones(lab: Make, server: ScriptedServer) -> None:
    server.models = ["m-2", "other-model"]
    server.preflight = always(Reply(status=404, error={"message": "no such model"}))
    [sentence] = lab(LIGHT).try_out()
    assert "no such model; it lists m-2, other-model" in sentence


def test_a_list_without_the_model_is_no_refusal(lab: Make, server: ScriptedServer) -> None:
    """Aliases and private deployments are listed nowhere; the request itself decides."""
    server.models = ["something-else"]
    assert lab(LIGHT).try_out() == [""]


def test_another_model_is_taken_where_any_is_allowed(lab: Make, server: ScriptedServer) -> None:
    server.preflight = saying("OK", model="whatever")
    assert lab(LIGHT, any_model=True).try_out() == [""]


def test_a_version_of_the_model_is_the_model(lab: Make, server: ScriptedServer) -> None:
    server.preflight = saying("OK", model="m-2026-03-05")
    assert lab(LIGHT).try_out() == [""]


# --- what decides nothing ----------------------------------------------------------------------------------

ODD_LISTS = {
    "not found": Reply(status=404),
    "server error": Reply(status=500),
    "busy": rate_limited(),
    "html": HTML,
    "empty": Reply(raw=b""),
    "no list": Reply(raw=b'{"data": {"id": 1}}'),
    "nothing listed": Reply(raw=b'{"object": "list", "data": []}'),
    "deep": Reply(raw=b"[" * 100_000),
    "reset": RESET,
}


@pytest.mark.parametrize("kind", ODD_LISTS)
def test_a_list_that_a_server_does_not_have_is_no_fault(tmp_path: Path, kind: str) -> None:
    """Asked for once, however little it says."""
    with OddList(ODD_LISTS[kind]) as server:
        one = Lab(tmp_path, server, LIGHT, dataclasses.replace(LIGHT, model="m2"))
        assert one.try_out() + one.try_out() == [""] * 4
        one.bench.store.close()
        assert (len(server.listed), len(server.preflights)) == (1, 2)


WIRE = {
    "down": always(SERVER_ERROR),
    "reset": always(RESET),
    "html": always(HTML),
    "busy": always(rate_limited()),
    "words": saying("I'd rather not."),
    "no words": saying(""),
    "refused": always(Reply(refusal="I cannot help with that.")),
    "cut": always(Reply("O", ended="length")),
}


@pytest.mark.parametrize("kind", WIRE)
def test_what_merely_fails_is_left_to_the_calls(lab: Make, server: ScriptedServer, kind: str) -> None:
    """One request, perhaps repeated as any is; it is on record, and no second one is due."""
    server.preflight = WIRE[kind]
    one = lab(LIGHT)
    assert one.try_out() + one.try_out() == ["", ""]
    [row] = one.rows()
    assert row["requests"] == len(server.preflights) <= 2
    assert one.bench.refusal() is None
