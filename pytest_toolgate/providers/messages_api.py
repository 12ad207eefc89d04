"""Servers that speak Anthropic's Messages protocol, for agents with a program of their own that speak it too.

Such a program makes its calls itself, and they are passed on as they are. What we ask in our own name is only whether
key, model and effort are taken.
"""

import asyncio
import json
from http import HTTPStatus
from typing import Any, Final

from .openai_api import LIST_PATIENCE, OpenAIProvider
from .persistent import take_turn
from .protocol import Call, ModelList, Request, Response
from .retrying import Failure
from .wire import read_models

BASE_URL: Final = "https://api.anthropic.com/v1"
KEY_VARIABLE: Final = "ANTHROPIC_API_KEY"
# Source: Anthropic's API reference; `output_config` is what Claude Code sends for its effort, with the second header.
_VERSION: Final = {"anthropic-version": "2023-06-01"}
_EFFORT: Final = {"anthropic-beta": "effort-2025-11-24"}
# A cap is required; enough for the word that is asked for.
_CAP: Final = 64


class MessagesProvider(OpenAIProvider):
    """A client of one server that speaks this protocol."""

    async def _request(self, request: Request, timeout: float) -> Response | Failure:
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        cap = _CAP if request.max_output_tokens is None else request.max_output_tokens
        body: dict[str, Any] = {"model": request.model, "max_tokens": cap, "messages": messages}
        headers = {"content-type": "application/json", **_VERSION}
        if request.reasoning is not None:
            body["output_config"] = {"effort": request.reasoning}
            headers |= _EFFORT
        call = Call("messages", "messages", json.dumps(body).encode(), headers, request.model, timeout)
        return await self._forward(call, timeout, [])

    async def _models(self) -> ModelList:
        import httpx2
        import openai

        await take_turn(self._pace, 0)
        url = f"{self.base_url.rstrip('/')}/models"
        try:
            async with asyncio.timeout(min(self._settings.timeout, LIST_PATIENCE)):
                raw = await self._http.get(url, headers={**_VERSION, "x-api-key": self._key})
        except (httpx2.HTTPError, openai.OpenAIError, TimeoutError):
            return ModelList()
        content = self._without_key(raw.content)
        if raw.status_code == HTTPStatus.UNAUTHORIZED:
            return ModelList(error=self._refusal(raw.status_code, content, raw.headers, url).sentence)
        return ModelList(read_models(content) if raw.status_code == HTTPStatus.OK else ())
