"""A provider asks no faster than it may, and not before a server wants to be asked again."""

import threading
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scripted_server import SERVER_ERROR, Asked, Reply, ScriptedServer, always, in_turn, rate_limited, saying

from pytest_toolgate.config import ProviderSettings, Retries
from pytest_toolgate.providers import Message, Provider, Request, Response, open_provider

# Of requests that travel: how late one may be on a loaded machine, so that those after it seem early.
LATE = 0.25


class Arrivals:
    """A script that notes when requests arrive, and what it made of each."""

    def __init__(self, server: ScriptedServer, *replies: Reply) -> None:
        self.at: list[float] = []
        self._script = in_turn([*map(always, replies), saying("ANSWER: A")])
        self._lock = threading.Lock()
        server.script = self

    def __call__(self, asked: Asked) -> Reply:
        with self._lock:
            self.at.append(time.monotonic())
            return self._script(asked)

    def keep(self, gap: float) -> bool:
        """Whether any two are as many times these seconds apart as lie between them, but for what one was late."""
        pairs = combinations(enumerate(self.at), 2)
        return all(later - earlier > gap * (j - i) - LATE for (i, earlier), (j, later) in pairs)


def ask(server: ScriptedServer, directory: Path, calls: int, cap: int | None = None, **limits: Any) -> list[Response]:  # noqa: ANN401
    """Make calls at once, each through a client of its own, as the processes of a run do."""
    settings = ProviderSettings("lab", base_url=server.base_url, **limits)
    request = Request("model", (Message("user", "Which one?"),), max_output_tokens=cap)
    responses: list[Response] = []

    def work(provider: Provider) -> None:
        responses.append(provider.ask(request))

    threads = [threading.Thread(target=work, args=(open_provider(settings, directory),)) for _ in range(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return responses


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        ask(running, tmp_path_factory.mktemp("first"), 1)  # the SDK imports most of itself at its first request
        yield running


def test_calls_arrive_one_after_the_other(server: ScriptedServer, tmp_path: Path) -> None:
    arrivals = Arrivals(server)
    responses = ask(server, tmp_path, 6, requests_per_minute=240)
    assert [response.status for response in responses] == ["complete"] * 6
    assert arrivals.keep(0.25)
    # What our own limits took is told apart from what the server did.
    waits = sorted(response.waited for response in responses)
    assert waits == pytest.approx([0, 0.25, 0.5, 0.75, 1.0, 1.25], abs=0.5)


def test_a_retry_stands_in_line_like_any_other(server: ScriptedServer, tmp_path: Path) -> None:
    arrivals = Arrivals(server, SERVER_ERROR, SERVER_ERROR)
    responses = ask(server, tmp_path, 3, requests_per_minute=240, retries=Retries(3, 0.0))
    assert [response.status for response in responses] == ["complete"] * 3
    assert len(arrivals.at) == 5
    assert arrivals.keep(0.25)


def test_tokens_slow_the_calls_by_what_they_used(server: ScriptedServer, tmp_path: Path) -> None:
    """The server says 110 of each, whatever was thought: at 22,000 a minute that is 0.3 s."""
    arrivals = Arrivals(server)
    for _ in range(4):
        ask(server, tmp_path, 1, cap=2000, tokens_per_minute=22_000)
    assert arrivals.keep(0.3)
    assert arrivals.at[-1] - arrivals.at[0] < 10


def test_who_stands_in_line_waits_as_long_as_the_server_told_another(server: ScriptedServer, tmp_path: Path) -> None:
    """The first call of a line is told to wait; those behind it have their places already."""
    told = Reply(status=503, error={"message": "overloaded"}, headers={"Retry-After": "1"})
    arrivals = Arrivals(server, told)
    responses = ask(server, tmp_path, 4, requests_per_minute=600, retries=Retries(3, 5.0))
    assert [response.status for response in responses] == ["complete"] * 4
    assert len(arrivals.at) == 5
    assert min(after - arrivals.at[0] for after in arrivals.at[1:]) >= 1
    # And then not all at once.
    assert arrivals.keep(0.1)


def test_a_call_that_gives_up_has_been_told_for_all(server: ScriptedServer, tmp_path: Path) -> None:
    """The last request of a call may be the one that the server answers with a time to wait."""
    arrivals = Arrivals(server, rate_limited(1))
    assert [response.status for response in ask(server, tmp_path, 1, retries=Retries(1, 5.0))] == ["failed"]
    assert [response.status for response in ask(server, tmp_path, 1, retries=Retries(1, 5.0))] == ["complete"]
    assert arrivals.at[1] - arrivals.at[0] >= 1
