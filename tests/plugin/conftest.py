"""A repository of candidates and, where models are asked, a server that plays them."""

import os
from collections.abc import Iterator

import pytest
from agent_server import AgentServer
from scripted_server import KEY, ScriptedServer

from .pool import Pool


@pytest.fixture
def pool(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Pool:
    for name in os.environ:
        if name.startswith(("PYTEST_", "TOOLGATE_")) and name != "PYTEST_DEBUG_TEMPROOT":
            monkeypatch.delenv(name)
    monkeypatch.setenv("CANARY_KEY", KEY)
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    return Pool(pytester, temporary)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def model() -> Iterator[AgentServer]:
    """A model for agents with a program of their own."""
    with AgentServer() as running:
        yield running


@pytest.fixture(params=[0, 2], ids=["n0", "n2"])
def workers(request: pytest.FixtureRequest) -> int:
    """Without xdist and with it."""
    count: int = request.param
    return count
