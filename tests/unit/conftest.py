"""What several unit tests are given."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_server import AgentServer
from scripted_server import ScriptedServer

from pytest_toolgate.gates import Workbench

from .benches import Make, capped


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes workbenches of one run with some caps, each as a process of the run would."""
    made: list[Workbench] = []

    def make_one(**caps: float) -> Workbench:
        made.append(capped(tmp_path, **caps))
        return made[-1]

    yield make_one
    for own in made:
        own.store.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A model server on loopback."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture(params=["responses", "chat"])
def api(request: pytest.FixtureRequest) -> str:
    """Each of the two protocols."""
    name: str = request.param
    return name


@pytest.fixture
def model() -> Iterator[AgentServer]:
    """A model for agents with a program of their own."""
    with AgentServer() as running:
        yield running
