"""The client below the SDK: how much it reads, and where it goes."""

import asyncio
import gzip
import tracemalloc

import openai
import pytest
from scripted_server import Reply, ScriptedServer, always

from pytest_toolgate.providers.bounded import bounded_client

MOST = 64 * 1024


def body_of(server: ScriptedServer, reply: Reply, most: int = MOST) -> bytes:
    """What the SDK gets of a reply."""
    server.script = always(reply)

    async def ask() -> bytes:
        async with openai.AsyncOpenAI(
            api_key="none",
            base_url=server.base_url,
            max_retries=0,
            http_client=bounded_client(most, 4 * most, trust_env=False),
        ) as client:
            raw = await client.responses.with_raw_response.create(model="m", input=[{"role": "user", "content": "?"}])
            return raw.http_response.content

    return asyncio.run(ask())


def test_a_body_up_to_the_limit_is_whole(server: ScriptedServer) -> None:
    assert body_of(server, Reply(raw=b"x" * MOST)) == b"x" * MOST
    packed = gzip.compress(b"x" * MOST)
    assert body_of(server, Reply(raw=packed, headers={"Content-Encoding": "gzip"})) == b"x" * MOST
    assert body_of(server, Reply(raw=b"")) == b""


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"raw": b"x" * (MOST + 1)}, id="a byte more"),
        pytest.param({"raw": b"x" * 1000, "endless": True}, id="without end"),
        pytest.param(
            {"raw": gzip.compress(b"x" * MOST * 1000), "headers": {"Content-Encoding": "gzip"}}, id="when unpacked"
        ),
    ],
)
def test_a_longer_one_is_given_up(server: ScriptedServer, reply: dict[str, object], status: int) -> None:
    sent = Reply(status=status, **reply)  # type: ignore[arg-type]
    with pytest.raises(openai.OpenAIError, match=r"more than 0\.0625 MiB"):
        body_of(server, sent)


def test_a_stream_of_events_may_be_longer(server: ScriptedServer) -> None:
    headers = {"Content-Type": "text/event-stream"}
    assert len(body_of(server, Reply(raw=b"x" * 4 * MOST, headers=headers))) == 4 * MOST
    with pytest.raises(openai.OpenAIError, match=r"more than 0\.25 MiB"):
        body_of(server, Reply(raw=b"x" * (4 * MOST + 1), headers=headers))


def test_a_body_without_end_fills_no_memory(server: ScriptedServer) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(openai.OpenAIError, match="more than 1 MiB"):
            body_of(server, Reply(raw=b"x" * 65536, endless=True), 2**20)
        assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: ScriptedServer, status: int) -> None:
    """The question, and perhaps the key, would go to a server that nobody named."""
    with ScriptedServer() as other:
        target = {"Location": f"{other.base_url}/responses"}
        with pytest.raises(openai.APIStatusError) as caught:
            body_of(server, Reply(status=status, headers=target))
        assert caught.value.status_code == status
        assert (other.count, other.listed, server.count) == (0, [], 1)


def test_an_error_keeps_its_status_headers_and_words(server: ScriptedServer) -> None:
    reply = Reply(
        status=429, headers={"Retry-After": "7"}, error={"message": "slow down", "code": "rate_limit_exceeded"}
    )
    with pytest.raises(openai.RateLimitError, match="slow down") as caught:
        body_of(server, reply)
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.code == "rate_limit_exceeded"


@pytest.mark.parametrize(
    "reply", [Reply("x", reset=True, after=10), Reply("x", cut=True, after=10)], ids=["reset", "cut"]
)
def test_a_body_that_breaks_off_is_no_body(server: ScriptedServer, reply: Reply) -> None:
    with pytest.raises(openai.APIConnectionError):
        body_of(server, reply)
