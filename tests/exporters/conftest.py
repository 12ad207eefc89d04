"""A release on disk, and a server that plays the model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from pytest_toolgate.release import Release

from . import releases


@pytest.fixture(scope="session")
def release() -> Release:
    return releases.sample()


@pytest.fixture(scope="session")
def folder(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return releases.written(release, tmp_path_factory.mktemp("release") / "heat-flow")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running
