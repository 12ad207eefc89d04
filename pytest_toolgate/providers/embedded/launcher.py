"""The controlling process's side: one thread that starts the server when asked, and always stops it.

A worker asks by creating ``<name>.request`` in the run directory (`connect` does), and the thread answers in
``<name>.json``. Nothing is loaded in a run that makes no call.
"""

import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_toolgate.providers.embedded.endpoint import (
    POLL,
    Endpoint,
    answer_path,
    connect,
    publish,
    request_path,
)
from pytest_toolgate.providers.embedded.errors import EmbeddedError, ModelError
from pytest_toolgate.providers.embedded.model import find_model
from pytest_toolgate.providers.embedded.process import ServerProcess
from pytest_toolgate.providers.embedded.settings import ServerOrder, ServerSettings

__all__ = ["EmbeddedError", "Endpoint", "Launcher", "Supervisor", "connect"]

RESTARTS = 2
START_LIMIT = 100.0
"""Seconds a server may take to load its model; less than a worker's patience, so that it hears the reason."""
# -P: a file of the user's repository must not be taken for one of our imports.
COMMAND = (sys.executable, "-P", "-m", "pytest_toolgate.providers.embedded.server")


@dataclass(frozen=True, slots=True)
class Launch:
    """What it takes to start one server and to tell workers of it."""

    command: Sequence[str]
    order: str
    """The line written to the process's stdin."""
    api_key: str
    model: str
    sha256: str


class Supervisor:
    """Starts, watches, restarts and stops one server; `Launcher` gives it the real one."""

    def __init__(
        self, directory: Path, name: str, prepare: Callable[[], Launch], start_limit: float = START_LIMIT
    ) -> None:
        """Prepare, without starting anything.

        Args:
            directory: Run directory, private to the user and shared by all processes of the run.
            name: Tells servers in one directory apart.
            prepare: Called before each start of a server, in the supervisor's thread.
            start_limit: Seconds a server has to become ready.
        """
        self._request = request_path(directory, name)
        self._answer = answer_path(directory, name)
        self._prepare = prepare
        self._start_limit = start_limit
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{name}-launcher", daemon=True)

    def start(self) -> None:
        """Begin to wait for a request; answers and requests of an earlier run are removed."""
        self._answer.unlink(missing_ok=True)
        self._request.unlink(missing_ok=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the server and the thread, and return when both are gone; may be called again."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._request.exists():
                if self._stopping.wait(POLL):
                    return
            problem = self._keep_serving()
        except Exception as error:  # noqa: BLE001 - workers wait for an answer
            problem = f"The embedded model server could not be managed: {error!r}."
        # The run directory may be gone by now, and with it everyone who could read this.
        with suppress(OSError):
            publish(self._answer, {"error": problem})

    def _keep_serving(self) -> str:
        """Serve until told to stop or until there is no more hope; return the sentence that says why."""
        problem = ""
        for _ in range(1 + RESTARTS):
            try:
                problem = self._serve_once()
            except (EmbeddedError, ModelError) as error:
                return str(error)
            if self._stopping.is_set():
                return "The embedded model server was stopped with its run."
        return f"The embedded model server died {1 + RESTARTS} times; it is not started again. {problem}"

    def _serve_once(self) -> str:
        launch = self._prepare()
        if self._stopping.is_set():
            return ""
        server = ServerProcess(launch.command, launch.order)
        try:
            port = server.wait_ready(self._start_limit, self._stopping.is_set)
            if port is None:
                return ""
            publish(
                self._answer,
                {
                    "base_url": f"http://127.0.0.1:{port}/v1",
                    "api_key": launch.api_key,
                    "model": launch.model,
                    "sha256": launch.sha256,
                },
            )
            while server.alive:
                if self._stopping.wait(POLL):
                    return ""
            return server.describe_death("in the middle of the run")
        finally:
            # First the answer, so that no worker is sent to a server on its way out.
            self._answer.unlink(missing_ok=True)
            server.stop()


class Launcher(Supervisor):
    """The embedded model of one run, in its controlling process."""

    def __init__(self, directory: Path, name: str, settings: ServerSettings | None = None) -> None:
        """Prepare, without looking for the model or starting anything.

        Args:
            directory: Run directory, private to the user and shared by all processes of the run.
            name: The name that workers give to `connect`.
            settings: What to serve and how; the defaults if left out.
        """
        chosen = settings or ServerSettings()
        super().__init__(directory, name, lambda: _launch(chosen))


def _launch(settings: ServerSettings) -> Launch:
    model = settings.model or find_model()
    order = ServerOrder.of(settings, model, api_key=secrets.token_urlsafe(24))
    return Launch(COMMAND, order.to_line(), order.api_key, order.name, model.sha256)
