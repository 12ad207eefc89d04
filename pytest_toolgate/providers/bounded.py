"""An HTTP client that reads no more of a response than a reply may hold, and asks only the server it was given."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2


def bounded_client(most: int, streamed: int, *, trust_env: bool) -> "httpx2.AsyncClient":
    """A client for the SDK.

    The SDK reads a body whole before anybody can look at it, so one without end would fill the memory within the
    deadline of a request. And it would follow a redirect, which takes the question to a server that nobody named and
    makes requests that nobody counts; here a redirect is a response like any other.

    Args:
        most: Bytes of a body at most, after decompression. A longer one raises `openai.OpenAIError`.
        streamed: The same for a stream of events, which says in hundreds of bytes what a body says in four.
        trust_env: Whether proxies of the environment are used.
    """
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(
            self,
            request: "httpx2.Request",
            *,
            stream: bool = False,
            **more: Any,  # noqa: ANN401 - whatever else the base class takes
        ) -> "httpx2.Response":
            response = await super().send(request, stream=True, **more)
            if stream:
                return response
            events = response.headers.get("content-type", "").startswith("text/event-stream")
            limit = streamed if events else most
            content = bytearray()
            try:
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > limit:
                        raise openai.OpenAIError(f"the server sent more than {limit / 1024**2:g} MiB")
            finally:
                await response.aclose()
            # The body is here and decompressed, which its headers must not deny.
            headers = [
                (name, value)
                for name, value in response.headers.multi_items()
                if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
            ]
            return type(response)(
                response.status_code, headers=headers, content=bytes(content), request=response.request
            )

    return Bounded(trust_env=trust_env, follow_redirects=False)
