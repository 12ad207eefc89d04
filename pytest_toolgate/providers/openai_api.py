"""Servers that speak OpenAI's Responses or Chat Completions protocol, through the `openai` SDK."""

import asyncio
import dataclasses
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..config import ProviderSettings
from . import background
from .bounded import bounded_client
from .pace import Pace
from .protocol import ModelList, ProviderError, Request, Response
from .retrying import Failure, read_retry_after, wait_before_retry
from .wire import MAX_BODY, is_asked_model, read_body, read_models, says_exhausted, told

if TYPE_CHECKING:
    import openai


_SHORTEST_KEY = 8
NO_KEY = "none"
"""What a server that asks for no key is sent, since the SDK insists on one."""
# What a reply without a cap is thought to use until it is there.
_UNCAPPED = 512
# Seconds; the list of models is a courtesy of the server.
_LIST_PATIENCE = 20.0


def open_provider(settings: ProviderSettings, run_directory: Path) -> "OpenAIProvider":
    """Open the provider, which makes no request yet.

    Raises:
        ProviderError: The environment variable of the key is not set.
    """
    variable = settings.api_key_env or (None if settings.base_url else "OPENAI_API_KEY")
    key = os.environ.get(variable, "") if variable else NO_KEY
    if not key:
        raise ProviderError(
            f"provider `{settings.name}`: the environment variable {variable}, which holds its key, is not set"
        )
    key = key.strip()  # secrets often come with the line end of the file they were in
    if not key or not key.isascii() or not key.isprintable():
        raise ProviderError(f"provider `{settings.name}`: the key in {variable} is not one line of printable ASCII")
    return OpenAIProvider(settings, settings.base_url, key, pace=shared_pace(settings, run_directory))


def shared_pace(settings: ProviderSettings, run_directory: Path) -> Pace:
    """The limits of a provider, shared by all processes of a run."""
    path = run_directory / f"pace-{settings.name}.json"
    return Pace(path, settings.requests_per_minute, settings.tokens_per_minute)


class OpenAIProvider:
    """A client of one server.

    Attributes:
        base_url: Address that requests go to.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        base_url: str | None,
        key: str,
        extra_body: Mapping[str, object] | None = None,
        *,
        pace: Pace,
    ) -> None:
        """Prepare the client.

        Args:
            settings: What the configuration says of the provider.
            base_url: Address of the server; None is the SDK's own default.
            key: The key.
            extra_body: Further fields of every request, for servers that understand more than the protocol.
            pace: How fast the server may be asked.
        """
        import openai

        self._settings = settings
        self._key = key
        self._extra_body = extra_body
        self._pace = pace
        # No proxy leads to a server on this machine.
        local = urlsplit(base_url or "").hostname in ("127.0.0.1", "localhost", "::1")
        self._client = openai.AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=settings.timeout,
            http_client=bounded_client(MAX_BODY, trust_env=not local),
        )
        self.base_url = str(self._client.base_url)

    def ask(self, request: Request) -> Response:
        """Make one call, retried as configured, within the request's deadline."""
        return background.run(self._ask(request))

    def models(self) -> ModelList:
        """Ask which models there are: one request."""
        return background.run(self._models())

    async def _models(self) -> ModelList:
        import openai

        await self._turn(0)
        try:
            async with asyncio.timeout(min(self._settings.timeout, _LIST_PATIENCE)):
                raw = await self._client.models.with_raw_response.list()
                return ModelList(read_models(self._without_key(raw.http_response.content)))
        except openai.AuthenticationError as error:
            return ModelList(error=self._status_failure(error).sentence)
        except (openai.OpenAIError, TimeoutError):
            return ModelList()

    async def _ask(self, request: Request) -> Response:
        begun = time.monotonic()
        requests = 0
        waited = 0.0
        tokens = sum(len(message.content) for message in request.messages) // 3
        tokens += _UNCAPPED if request.max_output_tokens is None else request.max_output_tokens

        def ended(response: Response) -> Response:
            return dataclasses.replace(
                self._clean(response), latency=time.monotonic() - begun, requests=requests, waited=waited
            )

        def left() -> float | None:
            return None if request.deadline is None else request.deadline + waited - (time.monotonic() - begun)

        while True:
            waited += await self._turn(tokens)
            if exhausted := self._pace.exhausted():
                return ended(Response("failed", error=exhausted, quota=True))
            remaining = left()
            if remaining is not None and remaining <= 0:
                return ended(Response("failed", error="the time for this call is over"))
            requests += 1
            outcome = await self._request(request, min(filter(None, (self._settings.timeout, remaining))))
            if isinstance(outcome, Response):
                if outcome.tokens.input is not None and outcome.tokens.output is not None:
                    self._pace.settle(tokens, outcome.tokens.input + outcome.tokens.output)
                if outcome.quota:
                    self._pace.exhaust(outcome.error)
                return ended(self._checked(request, outcome))
            if outcome.retry_after and outcome.retry_after <= self._settings.retries.max_wait:
                self._pace.hold(outcome.retry_after)
            if outcome.quota:
                self._pace.exhaust(outcome.sentence)
            retry = wait_before_retry(outcome, requests, self._settings.retries)
            remaining = left()
            if retry is None or (remaining is not None and retry >= remaining):
                # An outage refuses nothing: only what the server says of this very request does.
                refused = 300 <= (outcome.status or 0) < 500 and not outcome.transient and not outcome.quota
                return ended(Response("failed", error=outcome.sentence, quota=outcome.quota, refused=refused))
            await asyncio.sleep(retry)

    async def _turn(self, tokens: int) -> float:
        """Wait until a request may be made, and return for how many seconds."""
        waited = 0.0
        while True:
            wait = self._pace.reserve(tokens)
            await asyncio.sleep(wait)
            waited += wait
            if not (wait and self._pace.held()):
                return waited
            # While it stood in line, the server has asked another for patience: it goes behind that.
            self._pace.settle(tokens, 0)

    async def _request(self, request: Request, timeout: float) -> Response | Failure:
        import openai

        try:
            async with asyncio.timeout(timeout):
                raw = await self._send(request)
                # Out of the bytes: wherever a text is cut later, no part of the key is in it.
                return read_body(self._without_key(raw.http_response.content), self._settings.api)
        except TimeoutError:
            return Failure(f"no whole reply within {timeout:.3g} s")
        except openai.APIStatusError as error:
            return self._status_failure(error)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            return Failure(f"no connection to {self.base_url}: {type(cause).__name__}: {cause}")
        except openai.OpenAIError as error:
            return Failure(f"the request failed: {error}", status=0)

    async def _send(self, request: Request) -> Any:  # noqa: ANN401 - the SDK's raw response
        messages: list[Any] = [{"role": message.role, "content": message.content} for message in request.messages]
        optional: dict[str, Any] = {}
        if self._settings.api == "responses":
            if request.reasoning is not None:
                optional["reasoning"] = {"effort": request.reasoning}
            if request.max_output_tokens is not None:
                optional["max_output_tokens"] = request.max_output_tokens
            return await self._client.responses.with_raw_response.create(
                model=request.model, input=messages, store=False, extra_body=self._extra_body, **optional
            )
        if request.reasoning is not None:
            optional["reasoning_effort"] = request.reasoning
        if request.max_output_tokens is not None:
            # The old name is the one that servers other than OpenAI's understand.
            hosted = self.base_url.startswith("https://api.openai.com")
            optional["max_completion_tokens" if hosted else "max_tokens"] = request.max_output_tokens
        return await self._client.chat.completions.with_raw_response.create(
            model=request.model, messages=messages, extra_body=self._extra_body, **optional
        )

    def _checked(self, request: Request, response: Response) -> Response:
        """The response as it counts: from the model that was asked, and not cut without saying so."""
        cap, output = request.max_output_tokens, response.tokens.output
        if response.status in ("complete", "empty") and cap is not None and output is not None and output >= cap:
            # llama.cpp's Responses endpoint calls a reply completed that its own cap has cut.
            return dataclasses.replace(
                response, status="truncated", error=f"the reply reached the cap of {cap} output tokens"
            )
        if (
            response.status == "failed"
            or self._settings.any_model
            or is_asked_model(request.model, response.model_served)
        ):
            return response
        served = f"`{response.model_served}`" if response.model_served else "an unnamed model"
        return dataclasses.replace(
            response, status="failed", refused=True, error=f"asked for `{request.model}`, answered by {served}"
        )

    def _clean(self, response: Response) -> Response:
        """The response without the key, which an exception of the client may name."""
        return dataclasses.replace(response, error=self._without_key(response.error.encode()).decode())

    def _without_key(self, content: bytes) -> bytes:
        """What a server sent, without the key: it may echo it anywhere, and all of this is stored and shown."""
        # A key shorter than any real one is a dummy, and would take words out of honest replies.
        return content if len(self._key) < _SHORTEST_KEY else content.replace(self._key.encode(), b"***")

    def _status_failure(self, error: "openai.APIStatusError") -> Failure:
        body = json.loads(self._without_key(json.dumps(error.body, default=str).encode()))
        words = told(body)
        if not words and error.status_code == 404:
            # No such address, rather than no such model, which a server would put into words.
            words = f"at {error.request.url}; is `base_url` right up to `/v1`, and `api` (here {self._settings.api})?"
        return Failure(
            f"the server answered {error.status_code}" + (f": {words}" if words else ""),
            status=error.status_code,
            retry_after=read_retry_after(error.response.headers),
            quota=error.status_code == 402 or says_exhausted(body),
        )
