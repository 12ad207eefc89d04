"""The worker's side of the rendezvous: ask for the server with one file, read the answer from another."""

import json
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pytest_toolgate.providers.embedded.errors import EmbeddedError
from pytest_toolgate.whole_file import write_whole

POLL = 0.05
"""Seconds between two looks at a file."""
REUSE_PROMPT: Final = {"cache_prompt": True}
"""Extra body of a request that may start from what earlier ones with the same beginning left behind.

For conversations, whose every turn repeats the ones before: a long prompt costs nothing the second time. Left
out by default, because a reply then depends, in its last bits and so at times in its words, on what was asked
before. A request without it drops what the slot held; among requests with it, older prompts are kept too.
"""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the embedded model answers."""

    base_url: str
    """Base URL of the OpenAI-compatible API, ending in `/v1`."""
    api_key: str
    """The key every request must carry."""
    model: str
    """The model's name in the API."""
    sha256: str
    """SHA-256 of the model file."""


def request_path(directory: Path, name: str) -> Path:
    """The file whose existence asks for the server."""
    return directory / f"{name}.request"


def answer_path(directory: Path, name: str) -> Path:
    """The file that says where the server is, or why there is none."""
    return directory / f"{name}.json"


def connect(directory: Path, name: str, timeout: float = 120.0) -> Endpoint:
    """Return the endpoint of the run's server, which starts now if this is the first call that needs it.

    Call it again after a connection error: a server that died is restarted elsewhere, and an endpoint on
    which nobody listens is never returned.

    Args:
        directory: The run directory that the controlling process gave its `Launcher`.
        name: The name it gave it.
        timeout: Seconds to wait for the server.

    Raises:
        EmbeddedError: The server could not be started, is stopped, or did not come in time.
    """
    deadline = time.monotonic() + timeout
    while True:
        endpoint = _read_answer(answer_path(directory, name))
        if endpoint is not None and _listening(endpoint):
            return endpoint
        if endpoint is None:
            _ask(request_path(directory, name))
        if time.monotonic() >= deadline:
            raise EmbeddedError(
                f"The embedded model server did not answer in {directory} within {timeout:g} seconds; "
                "is the controlling process still running?"
            )
        time.sleep(POLL)


def publish(path: Path, answer: dict[str, str]) -> None:
    """Write an answer file, readable by its owner only."""
    write_whole(path, json.dumps(answer))


def _ask(path: Path) -> None:
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise EmbeddedError(
            f"The embedded model server cannot be asked for at {path}: {error.strerror or error}."
        ) from error


def _read_answer(path: Path) -> Endpoint | None:
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EmbeddedError(f"The embedded model server's answer {path} cannot be read: {error}.") from error
    if "error" in answer:
        raise EmbeddedError(str(answer["error"]))
    return Endpoint(**answer)


def _listening(endpoint: Endpoint) -> bool:
    port = urlsplit(endpoint.base_url).port or 0
    # Only a refusal means death; a busy server may be slow to accept.
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return True
