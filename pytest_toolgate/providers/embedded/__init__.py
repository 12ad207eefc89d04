"""The embedded model: one small GGUF file, served by llama.cpp on loopback, shared by all workers."""

from pytest_toolgate.providers.embedded.endpoint import REUSE_PROMPT, Endpoint, connect
from pytest_toolgate.providers.embedded.errors import EmbeddedError, ModelError
from pytest_toolgate.providers.embedded.launcher import Launcher
from pytest_toolgate.providers.embedded.model import ModelFile, fetch_model, find_model
from pytest_toolgate.providers.embedded.settings import ServerSettings

__all__ = [
    "REUSE_PROMPT",
    "EmbeddedError",
    "Endpoint",
    "Launcher",
    "ModelError",
    "ModelFile",
    "ServerSettings",
    "connect",
    "fetch_model",
    "find_model",
]
