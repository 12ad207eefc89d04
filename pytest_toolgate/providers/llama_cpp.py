"""The embedded provider: the run's own llama.cpp server, asked for when the first call is due."""

import dataclasses
import threading
from pathlib import Path

from ..config import ProviderSettings
from .embedded import REUSE_PROMPT, EmbeddedError, connect
from .openai_api import OpenAIProvider, shared_pace
from .protocol import Call, Passed, ProviderError, Request, Response


def open_provider(settings: ProviderSettings, run_directory: Path) -> "LlamaCpp":
    """Open the provider; the server starts with the first call."""
    return LlamaCpp(settings, run_directory)


class LlamaCpp:
    """The model served by the controlling process of the run.

    Attributes:
        base_url: A word in place of its address, whose port differs from run to run.
    """

    def __init__(self, settings: ProviderSettings, run_directory: Path) -> None:
        # llama.cpp's Chat endpoint says how a reply ended; its Responses endpoint does not always.
        self._settings = dataclasses.replace(settings, api="chat")
        self._directory = run_directory
        self._client: OpenAIProvider | None = None
        self._connecting = threading.Lock()
        self.base_url = "embedded"

    def ask(self, request: Request) -> Response:
        """Make one call, starting the server if it does not run yet.

        Raises:
            ProviderError: There is no model file, or the server does not start.
        """
        return self._checked(self._connected().ask(request))

    def pass_on(self, call: Call) -> Passed:
        """Pass one call of an agent on, starting the server if it does not run yet.

        Raises:
            ProviderError: There is no model file, or the server does not start.
        """
        with call.holding_up():  # a model takes its time to load
            client = self._connected()
        passed = client.pass_on(call)
        self._checked(passed.response)
        return passed

    def _connected(self) -> OpenAIProvider:
        with self._connecting:
            self._client = self._client or self._connect()
            return self._client

    def _checked(self, response: Response) -> Response:
        if response.status == "failed":
            self._client = None  # the server may have died and come back on another port
        return response

    def _connect(self) -> OpenAIProvider:
        try:
            endpoint = connect(self._directory, self._settings.name)
        except EmbeddedError as error:
            raise ProviderError(f"provider `{self._settings.name}`: {error}") from error
        # A long question comes three times to a screen and every turn to an agent.
        pace = shared_pace(self._settings, self._directory)
        return OpenAIProvider(self._settings, endpoint.base_url, endpoint.api_key, REUSE_PROMPT, pace=pace)
