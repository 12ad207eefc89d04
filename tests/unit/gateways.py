"""Gateways on a loopback socket, before a provider that answers as it is told to."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Protocol, cast

from pytest_toolgate.agents.gateway import Gateway
from pytest_toolgate.agents.protocol import AgentError, Task
from pytest_toolgate.config import SolveSettings
from pytest_toolgate.providers import Call, Passed, Request, Response, Tokens
from pytest_toolgate.sandbox import Slots

BODY = {"model": "m", "input": "What is it?"}
REPLY = Passed(Response("complete", "B", tokens=Tokens(10, 2, 3, 1)), 200, "text/event-stream", b"data: B\n\n")
Answer = Callable[[Call], Passed]


def failed(error: str, status: int | None, *, quota: bool = False) -> Passed:
    return Passed(Response("failed", error=error, quota=quota), status, "application/json", b'{"error": "no"}')


@dataclass(slots=True)
class Provider:
    """Answers as it is told to."""

    answer: Answer
    base_url: str = "http://model"
    calls: list[Call] = field(default_factory=list)

    def ask(self, request: Request) -> Response:
        raise AssertionError("nobody asks in words of our own")

    def pass_on(self, call: Call) -> Passed:
        self.calls.append(call)
        return self.answer(call)


@dataclass(slots=True)
class World:
    """A gateway at work."""

    gateway: Gateway
    provider: Provider
    slots: Slots
    address: tuple[str, int]
    ending: float = 0.0

    @property
    def problem(self) -> AgentError:
        assert self.gateway.problem is not None
        return self.gateway.problem

    def post(self, body: object = BODY, path: str = "/v1/responses", **headers: str) -> HTTPResponse:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = HTTPConnection(self.address[0], self.address[1], timeout=20)
        connection.request("POST", path, content, {name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()

    def post_aside(self) -> threading.Thread:
        """In a thread of its own, whatever becomes of it."""

        def post() -> None:
            with suppress(OSError, HTTPException):
                self.post()

        thread = threading.Thread(target=post)
        thread.start()
        return thread

    def send(self, head: str, body: bytes = b"") -> socket.socket:
        connection = socket.create_connection(self.address, timeout=20)
        connection.sendall(f"POST /v1/responses HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode() + body)
        return connection

    def free(self) -> bool:
        """Whether the one place for running commands is free."""
        hasty = Slots(self.slots.directory, self.slots.count, 0.05)
        with suppress(Exception), hasty.hold():
            return True
        return False


class Opens(Protocol):
    def __call__(
        self,
        answer: Answer | Passed = ...,
        *,
        seconds: float = ...,
        **task: Any,  # noqa: ANN401
    ) -> AbstractContextManager[World]: ...


def opens(tmp_path: Path) -> Opens:
    """Opens gateways whose places are in a directory, and sees to it that they leave nothing behind."""

    @contextmanager
    def opened(answer: Answer | Passed = REPLY, *, seconds: float = 60.0, **task: Any) -> Iterator[World]:  # noqa: ANN401
        provider = Provider(answer if callable(answer) else lambda call: answer)
        slots = Slots(tmp_path / "cpu", 1, 60.0)
        unused = cast(Any, None)
        given: dict[str, Any] = {
            **dict.fromkeys(("question", "options", "files", "workspace", "domain", "interpreter", "limits"), unused),
            "settings": SolveSettings(model="m"),
            "provider": provider,
            "hidden": (),
            "call_slots": Slots(tmp_path / "calls", 1, 60.0),
            "cpu_slots": slots,
            "deadline": time.monotonic() + seconds,
            "may_pay": lambda: None,
            **task,
        }
        gateway = Gateway(Task(**given))
        listener = socket.create_server(("127.0.0.1", 0))
        world = World(gateway, provider, slots, listener.getsockname())
        with gateway.at_work():
            gateway.open(listener)
            yield world
            ended = time.monotonic()
        world.ending = time.monotonic() - ended
        wait_until(world.free)  # no place is kept, and no thread
        wait_until(lambda: not any("toolgate-door" in thread.name for thread in threading.enumerate()))

    return opened


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)
