"""A model server on loopback that takes its time: every reply comes after the same delay, however many are under way.

It speaks as much of OpenAI's Chat Completions protocol as clients need, over kept connections. A call that shows
options is answered with the letter of one and the same option text; anything else is answered `OK` and counted apart.
"""

import asyncio
import json
import re
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

_OPTION = re.compile(r"^([A-D])\) (.*)$", re.MULTILINE)
_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(slots=True)
class Counted:
    """What one harness did to the server. Times are of `time.monotonic`.

    Attributes:
        calls: Calls that showed options.
        replies: Those of them whose reply was sent.
        others: Calls that showed none.
        most: Largest number of calls under way at once, those without options included.
        first_request: When the first request of any kind was there.
        first_call: When the first call that showed options was there.
        last_reply: When the last reply to such a call was sent.
    """

    calls: int = 0
    replies: int = 0
    others: int = 0
    most: int = 0
    first_request: float = 0.0
    first_call: float = 0.0
    last_reply: float = 0.0


class DelayedServer:
    """The server, running in a thread from `with` to its end.

    Args:
        latency: Seconds from a whole request to its reply.
        chosen: Text of the option that every reply chooses.

    Attributes:
        counted: What was asked so far.
    """

    def __init__(self, latency: float, chosen: str) -> None:
        self.counted = Counted()
        self._latency = latency
        self._chosen = chosen
        self._under_way = 0
        self._port = 0
        self._listening = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._converse(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._over.wait()
        server.close()
        left = list(connections)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
                body = await reader.readexactly(int(length[1])) if length else b""
                self.counted.first_request = self.counted.first_request or time.monotonic()
                if head.startswith("GET "):
                    model = {"id": "bench-model", "object": "model", "created": 0, "owned_by": "bench"}
                    await _send(writer, {"object": "list", "data": [model]})
                else:
                    await self._answer(json.loads(body), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed the connection
        finally:
            writer.close()

    async def _answer(self, asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        counted = self.counted
        prompt = next(str(message["content"]) for message in asked["messages"] if message["role"] == "user")
        letter = next((letter for letter, text in _OPTION.findall(prompt) if text == self._chosen), None)
        if letter is None:
            counted.others += 1
        else:
            counted.calls += 1
            counted.first_call = counted.first_call or time.monotonic()
        self._under_way += 1
        counted.most = max(counted.most, self._under_way)
        try:
            await asyncio.sleep(self._latency)
        finally:
            self._under_way -= 1
        text = "OK" if letter is None else f"ANSWER: {letter}"
        await _send(writer, {
            "id": f"chatcmpl-{counted.calls}",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": _USAGE,
        })  # fmt: skip
        if letter is not None:
            counted.replies += 1
            counted.last_reply = time.monotonic()


async def _send(writer: asyncio.StreamWriter, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()
