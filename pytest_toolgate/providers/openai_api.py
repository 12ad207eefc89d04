"""Servers that speak OpenAI's Responses or Chat Completions protocol, through the `openai` SDK.

Those that speak Anthropic's have a client of their own, in `messages_api`.
"""

import asyncio
import dataclasses
import json
import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..config import ProviderSettings
from . import background
from .bounded import bounded_client
from .pace import Pace
from .persistent import persist, take_turn
from .protocol import Call, ModelList, Passed, ProviderError, Request, Response
from .rendered import as_chat, as_responses, is_openais_own
from .retrying import Failure, read_retry_after
from .streamed import read_passed
from .wire import MAX_BODY, MAX_STREAM, is_about_tools, is_asked_model, read_body, read_models, says_exhausted, told

if TYPE_CHECKING:
    import httpx2
    import openai


_SHORTEST_KEY = 8
NO_KEY = "none"
"""What a server that asks for no key is sent, since the SDK insists on one."""
# What a reply without a cap is thought to use until it is there.
_UNCAPPED = 512
# With what servers refuse a field of a request; llama.cpp has a 500 for what it was not started for.
_REFUSING = frozenset({400, 404, 405, 422, 500, 501})
# Seconds; the list of models is a courtesy of the server.
LIST_PATIENCE = 20.0


def open_provider(settings: ProviderSettings, run_directory: Path) -> "OpenAIProvider":
    """Open the provider, which makes no request yet.

    Raises:
        ProviderError: The environment variable of the key is not set.
    """
    from . import messages_api

    anthropic = settings.api == "messages"
    usual = messages_api.KEY_VARIABLE if anthropic else "OPENAI_API_KEY"
    variable = settings.api_key_env or (None if settings.base_url else usual)
    key = os.environ.get(variable, "") if variable else NO_KEY
    if not key:
        raise ProviderError(
            f"provider `{settings.name}`: the environment variable {variable}, which holds its key, is not set"
        )
    key = key.strip()  # secrets often come with the line end of the file they were in
    if not key or not key.isascii() or not key.isprintable():
        raise ProviderError(f"provider `{settings.name}`: the key in {variable} is not one line of printable ASCII")
    pace = shared_pace(settings, run_directory)
    if anthropic:
        return messages_api.MessagesProvider(settings, settings.base_url or messages_api.BASE_URL, key, pace=pace)
    return OpenAIProvider(settings, settings.base_url, key, pace=pace)


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
        self._http = bounded_client(MAX_BODY, MAX_STREAM, trust_env=not local)
        self._client = openai.AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=settings.timeout,
            http_client=self._http,
        )
        self.base_url = str(self._client.base_url)

    def ask(self, request: Request) -> Response:
        """Make one call, retried as configured, within the request's deadline."""
        written = (len(message.content) + sum(len(c.arguments) for c in message.calls) for message in request.messages)
        tokens = sum(written) // 3
        tokens += _UNCAPPED if request.max_output_tokens is None else request.max_output_tokens

        unheard = 0

        async def send(timeout: float) -> Response | Failure:
            nonlocal unheard
            outcome = await self._request(request, timeout)
            if isinstance(outcome, Response):
                return self._checked(request, outcome)
            unheard += outcome.unheard
            if request.tools and outcome.about_tools:
                return Response("failed", error=outcome.sentence, refused=True, tools_refused=True)
            return outcome

        response = background.run(persist(send, self._settings, self._pace, tokens, request.deadline))
        return dataclasses.replace(self._clean(response), unheard=unheard)

    def pass_on(self, call: Call) -> Passed:
        """Make one call of an agent's own program, retried as configured, within its deadline."""
        received: list[httpx2.Response] = []

        unheard = 0

        async def send(timeout: float) -> Response | Failure:
            nonlocal unheard
            received.clear()
            unheard += 1  # as long as nothing has come, and for ever when it is given up here
            outcome = await self._forward(call, timeout, received)
            if isinstance(outcome, Response):
                unheard -= 1
                return self._from_asked_model(call.model, outcome)
            unheard -= not outcome.unheard
            return outcome

        tokens = len(call.body) // 4 + _UNCAPPED
        asking = persist(send, self._settings, self._pace, tokens, call.deadline, call.holding_up)
        ended = background.run_unless(asking, call.given_up)
        if ended is None:
            return Passed(Response("failed", error="the agent had ended before the reply was there", unheard=unheard))
        response = dataclasses.replace(self._clean(ended), unheard=unheard)
        if not received:
            return Passed(response)
        raw = received[0]
        streamed = raw.headers.get("content-type", "").startswith("text/event-stream")
        kind = "text/event-stream" if streamed else "application/json"
        return Passed(response, raw.status_code, kind, self._without_key(raw.content))

    def models(self) -> ModelList:
        """Ask which models there are: one request."""
        return background.run(self._models())

    async def _models(self) -> ModelList:
        import openai

        await take_turn(self._pace, 0)
        try:
            async with asyncio.timeout(min(self._settings.timeout, LIST_PATIENCE)):
                raw = await self._client.models.with_raw_response.list()
                return ModelList(read_models(self._without_key(raw.http_response.content)))
        except openai.AuthenticationError as error:
            return ModelList(error=self._status_failure(error).sentence)
        except (openai.OpenAIError, TimeoutError):
            return ModelList()

    async def _request(self, request: Request, timeout: float) -> Response | Failure:
        import openai

        try:
            async with asyncio.timeout(timeout):
                raw = await self._send(request)
                # Out of the bytes: wherever a text is cut later, no part of the key is in it.
                content = self._without_key(raw.http_response.content)
                return read_body(content, self._settings.api, tools=bool(request.tools))
        except TimeoutError:
            return Failure(f"no whole reply within {timeout:.3g} s", unheard=True)
        except openai.APIStatusError as error:
            return self._status_failure(error)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            return Failure(f"no connection to {self.base_url}: {type(cause).__name__}: {cause}")
        except openai.OpenAIError as error:
            return Failure(f"the request failed: {error}", status=0)

    async def _send(self, request: Request) -> Any:  # noqa: ANN401 - the SDK's raw response
        optional: dict[str, Any] = {}
        if self._settings.api == "responses":
            if request.reasoning is not None:
                optional["reasoning"] = {"effort": request.reasoning}
            if request.max_output_tokens is not None:
                optional["max_output_tokens"] = request.max_output_tokens
            return await self._client.responses.with_raw_response.create(
                model=request.model, store=False, extra_body=self._extra_body, **as_responses(request), **optional
            )
        if request.reasoning is not None:
            optional["reasoning_effort"] = request.reasoning
        if request.max_output_tokens is not None:
            # The old name is the one that servers other than OpenAI's understand.
            optional["max_completion_tokens" if is_openais_own(self.base_url) else "max_tokens"] = (
                request.max_output_tokens
            )
        return await self._client.chat.completions.with_raw_response.create(
            model=request.model, extra_body=self._extra_body, **as_chat(request), **optional
        )

    async def _forward(self, call: Call, timeout: float, received: "list[httpx2.Response]") -> Response | Failure:
        """One request as an agent's program made it, but for the key; what was received is put into the list."""
        import httpx2
        import openai

        key = {"x-api-key": self._key} if call.api == "messages" else {"Authorization": f"Bearer {self._key}"}
        url = f"{self.base_url.rstrip('/')}/{call.path}"
        try:
            async with asyncio.timeout(timeout):
                raw = await self._http.post(url, content=call.body, headers={**call.headers, **key}, timeout=timeout)
        except TimeoutError:
            return Failure(f"no whole reply within {timeout:.3g} s", unheard=True)
        except httpx2.HTTPError as error:
            return Failure(f"no connection to {self.base_url}: {type(error).__name__}: {error}")
        except openai.OpenAIError as error:
            return Failure(f"the request failed: {error}", status=0)
        received.append(raw)
        content = self._without_key(raw.content)
        if raw.status_code == HTTPStatus.OK:
            return read_passed(content, call.api)
        return self._refusal(raw.status_code, content, raw.headers, url)

    def _checked(self, request: Request, response: Response) -> Response:
        """The response as it counts: from the model that was asked, and not cut without saying so."""
        cap, output = request.max_output_tokens, response.tokens.output
        if response.status in ("complete", "empty") and cap is not None and output is not None and output >= cap:
            # llama.cpp's Responses endpoint calls a reply completed that its own cap has cut.
            return dataclasses.replace(
                response, status="truncated", error=f"the reply reached the cap of {cap} output tokens"
            )
        return self._from_asked_model(request.model, response)

    def _from_asked_model(self, asked: str, response: Response) -> Response:
        if response.status == "failed" or self._settings.any_model or is_asked_model(asked, response.model_served):
            return response
        served = f"`{response.model_served}`" if response.model_served else "an unnamed model"
        return dataclasses.replace(
            response, status="failed", refused=True, error=f"asked for `{asked}`, answered by {served}"
        )

    def _clean(self, response: Response) -> Response:
        """The response without the key, which an exception of the client may name."""
        return dataclasses.replace(response, error=self._without_key(response.error.encode()).decode())

    def _without_key(self, content: bytes) -> bytes:
        """What a server sent, without the key: it may echo it anywhere, and all of this is stored and shown."""
        # A key shorter than any real one is a dummy, and would take words out of honest replies.
        return content if len(self._key) < _SHORTEST_KEY else content.replace(self._key.encode(), b"***")

    def _status_failure(self, error: "openai.APIStatusError") -> Failure:
        content = self._without_key(json.dumps(error.body, default=str).encode())
        return self._refusal(error.status_code, content, error.response.headers, str(error.request.url))

    def _refusal(self, status: int, content: bytes, headers: Mapping[str, str], url: str) -> Failure:
        """What an answer that is no reply says, its body being the `error` object or a body that holds one."""
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = content.decode(errors="replace")
        if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
            body = body["error"]
        words = told(body)
        if not words and status == HTTPStatus.NOT_FOUND:
            # No such address, rather than no such model, which a server would put into words.
            words = f"at {url}; is `base_url` right up to `/v1`, and `api` (here {self._settings.api})?"
        return Failure(
            f"the server answered {status}" + (f": {words}" if words else ""),
            status=status,
            retry_after=read_retry_after(headers),
            quota=status == HTTPStatus.PAYMENT_REQUIRED or says_exhausted(body),
            about_tools=status in _REFUSING and is_about_tools(content),
        )
