"""A model behind a real HTTP server on loopback, in a thread of the test process, that follows a script.

It speaks as much of OpenAI's Responses and Chat Completions protocols as a client needs. A script is a
function from the request, as parsed here, to a `Reply`; `saying`, `choosing` and the other functions below
make the usual ones. Every request is kept, so that tests can count what would have been paid for.
"""

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

KEY = "sk-canary-5b1f0f6b2c"
_OPTION = re.compile(r"^([A-D])\) (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        path: The part of the address behind the host.
        headers: Its headers, names in lower case.
        body: Its JSON.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def api(self) -> str:
        """Which protocol it speaks."""
        return "chat" if self.path.endswith("/chat/completions") else "responses"

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation, whatever the protocol calls it."""
        messages: list[dict[str, str]] = self.body["messages" if self.api == "chat" else "input"]
        return messages

    @property
    def prompt(self) -> str:
        """The first user message: question and options."""
        return next(message["content"] for message in self.messages if message["role"] == "user")

    @property
    def last(self) -> str:
        """The last message."""
        return self.messages[-1]["content"]

    @property
    def turn(self) -> int:
        """How often the model has spoken before."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def options(self) -> dict[str, str]:
        """The options as they stand in the prompt."""
        return dict(_OPTION.findall(self.prompt))

    def letter_of(self, value: str) -> str:
        """The letter under which an option stands in the prompt."""
        return next(letter for letter, text in self.options.items() if text == value)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request.

    Attributes:
        text: The model's words.
        refusal: Its words of refusal, which stand in another place.
        ended: How it ended: `stop`, `length` or `filter`.
        model: The model that answers, None for the one asked.
        status: HTTP status; anything but 200 sends `error` instead of words.
        error: The `error` object of a failed request.
        headers: Further headers.
        raw: A whole body to send instead of a well-formed one.
        stall: Keep the client waiting until the server is closed.
        reset: Break the connection instead of answering.
    """

    text: str = ""
    refusal: str = ""
    ended: str = "stop"
    model: str | None = None
    status: int = 200
    error: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    stall: bool = False
    reset: bool = False


Script = Callable[[Asked], Reply]

# --- replies ----------------------------------------------------------------------------------------------

EMPTY = Reply("")
GARBAGE = Reply("\N{SNOWMAN} lorem ipsum dolor sit amet")
TRUNCATED = Reply("ANSWER: ", ended="length")
REFUSED = Reply(refusal="I cannot help with that.")
FILTERED = Reply("ANSWER: ", ended="filter")
SERVER_ERROR = Reply(status=500, error={"message": "the server had an error", "type": "server_error"})
QUOTA = Reply(
    status=429,
    error={
        "message": "You exceeded your current quota",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    },
)
HTML = Reply(raw=b"<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"})
STALL = Reply(stall=True)
RESET = Reply(reset=True)


def rate_limited(retry_after: float | None = None) -> Reply:
    """A 429, with or without the seconds to wait."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return Reply(status=429, error={"message": "slow down", "code": "rate_limit_exceeded"}, headers=headers)


# --- scripts ----------------------------------------------------------------------------------------------


def always(reply: Reply) -> Script:
    """The same reply to everything."""
    return lambda asked: reply


def saying(text: str, model: str | None = None) -> Script:
    """The same words to everything, perhaps as another model."""
    return always(Reply(text, model=model))


def choosing(value: str) -> Script:
    """The letter under which the value stands in the prompt."""
    return lambda asked: Reply(f"ANSWER: {asked.letter_of(value)}")


def avoiding(value: str) -> Script:
    """A letter under which the value does not stand."""
    return lambda asked: Reply(f"ANSWER: {next(k for k, text in asked.options.items() if text != value)}")


def in_turn(scripts: Iterable[Script]) -> Script:
    """One script per request, in order; the last one goes on for ever."""
    left = list(scripts)
    lock = threading.Lock()

    def script(asked: Asked) -> Reply:
        with lock:
            following = left[0] if len(left) == 1 else left.pop(0)
        return following(asked)

    return script


def by_question(scripts: Mapping[str, Script], otherwise: Script) -> Script:
    """The script of the first name that stands in the prompt."""

    def script(asked: Asked) -> Reply:
        named = (script for name, script in scripts.items() if name in asked.prompt)
        return next(named, otherwise)(asked)

    return script


def by_model(scripts: Mapping[str, Script]) -> Script:
    """The script of the model that is asked."""
    return lambda asked: scripts[asked.model](asked)


def running(code: str, then: str = "") -> Script:
    """An agent's model that first runs some Python, and then says something."""
    return lambda asked: Reply(then if asked.turn else f"```python\n{code}\n```")


def computing(value: str) -> Script:
    """An agent's model that prints a value with SciPy and answers with its letter."""

    def script(asked: Asked) -> Reply:
        if asked.turn:
            return Reply(f"ANSWER: {asked.letter_of(value)}")
        return Reply(f"```python\nimport scipy\nprint('RESULT:', '{value}')\n```")

    return script


# --- the server -------------------------------------------------------------------------------------------


class ScriptedServer:
    """The server, running from `with` to its end.

    Attributes:
        script: What it does, garbage at first; may be exchanged at any time.
        requests: Every request for a reply, in order of arrival.
    """

    def __init__(self) -> None:
        self.script: Script = always(GARBAGE)
        self.requests: list[Asked] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def base_url(self) -> str:
        """What goes into a configuration."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def count(self) -> int:
        """Requests so far."""
        return len(self.requests)

    def forget(self) -> None:
        """Count from zero again."""
        with self._lock:
            self.requests.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _take(self, asked: Asked) -> Reply:
        with self._lock:
            self.requests.append(asked)
        return self.script(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, json.dumps({"object": "list", "data": []}).encode(), {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.path, headers, body)
                reply = server._take(asked)
                if reply.stall:
                    server._closing.wait(60)
                if reply.reset or reply.stall:
                    self._reset()
                    return
                self._send(reply.status, _body(asked, reply), reply.headers)

            def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _reset(self) -> None:
                # Closing with a linger time of zero sends a reset instead of an orderly end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _body(asked: Asked, reply: Reply) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        return json.dumps({"error": dict(reply.error)}).encode()
    model = reply.model or asked.model
    return json.dumps(_chat(reply, model) if asked.api == "chat" else _responses(reply, model)).encode()


def _chat(reply: Reply, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal or None}
    finish = "content_filter" if reply.ended == "filter" else reply.ended
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def _responses(reply: Reply, model: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
    if reply.refusal:
        part = {"type": "refusal", "refusal": reply.refusal}
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.ended)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "model": model,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]},
        ],
        "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
    }
