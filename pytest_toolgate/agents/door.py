"""Answers HTTP on a socket that was opened in a sandbox: whoever connects is a stranger, so everything is bounded.

So many connections at once, the others stand in line in their own kernel queue; one request in memory at a time; and at
the end every connection is closed, so that no thread is left waiting for the rest of a request.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

MOST: Final = 16 * 1024**2
"""Bytes of a request: a long conversation is a third of it."""
_CONNECTIONS: Final = 32
_PATIENCE: Final = 60.0  # seconds for the next part of a request; it comes from this machine
_LONGEST_HEADER: Final = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        method: `GET`, `HEAD` or `POST`.
        path: The part of the address behind the host.
        headers: Its headers, names in lower case; what is no short line of ASCII is left out.
        body: What it carries, if it is a `POST`.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for it."""

    status: int
    body: bytes
    content_type: str = "application/json"


def refused(status: int, sentence: str) -> Answer:
    """An error, in the form that programs of every protocol read."""
    error = {"type": "invalid_request_error", "message": sentence}
    return Answer(status, json.dumps({"type": "error", "error": error}).encode())


class Door:
    """The server on one socket."""

    def __init__(self, listener: socket.socket, answer: Callable[[Asked], Answer]) -> None:
        """Begin to answer.

        Args:
            listener: The socket, which is closed at the end.
            answer: Called in a thread of a connection, for one request with a body at a time.
        """
        self.answer = answer
        self.turn = threading.Lock()
        self._listener = listener
        self._room = threading.BoundedSemaphore(_CONNECTIONS)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._over = False
        threading.Thread(target=self._accept, name="toolgate-door", daemon=True).start()

    def end(self) -> None:
        """Take no more connections, and close those that there are."""
        with self._lock:
            self._over = True
            _shut(self._listener)
            for connection in self._open:
                _shut(connection)

    def _accept(self) -> None:
        with self._listener:
            while True:
                self._room.acquire()
                try:
                    connection, _ = self._listener.accept()
                    threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
                except (OSError, RuntimeError):  # it has gone already, or there is no descriptor or thread for it
                    self._room.release()
                    if self._over:
                        return
                    time.sleep(0.05)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                with self._lock:
                    if self._over:
                        return
                    self._open.add(connection)
                try:
                    with suppress(OSError):  # broken off by the program, or by us
                        _Handler(connection, ("sandbox", 0), self)  # type: ignore[arg-type]  # no more of a server
                        _drain(connection)
                finally:
                    with self._lock:
                        self._open.discard(connection)
        finally:
            self._room.release()


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # the other end was faster
        connection.shutdown(socket.SHUT_RDWR)


def _drain(connection: socket.socket) -> None:
    """Read what still comes: closed with something unread, a connection takes our last answer with it."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(1.0)
    left = 4 * MOST
    while left > 0 and (piece := connection.recv(64 * 1024)):
        left -= len(piece)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body of an answer in one piece
    server: Any

    def do_POST(self) -> None:
        """A call."""
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdecimal()) or "Transfer-Encoding" in self.headers:
            return self._turn_away(HTTPStatus.LENGTH_REQUIRED, "a request needs its length, and comes in one piece")
        if len(size) > len(str(MOST)) or int(size) > MOST:
            return self._turn_away(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MOST} bytes")
        if self.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            return self._turn_away(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a request comes as it is, not compressed")
        with self.server.turn:
            body = self.rfile.read(int(size))
            if len(body) < int(size):
                self.close_connection = True
                return None
            answer = self.server.answer(self._asked(body))
            del body
        return self._send(answer)

    def do_GET(self) -> None:
        """A question of what is here."""
        self._send(self.server.answer(self._asked(b"")))

    do_HEAD = do_GET  # noqa: N815 - the base's name

    def _asked(self, body: bytes) -> Asked:
        known = {
            name.lower(): value
            for name, value in self.headers.items()
            if len(value) <= _LONGEST_HEADER and value.isascii() and value.isprintable()
        }
        return Asked(self.command, self.path, known, body)

    def _turn_away(self, status: int, sentence: str) -> None:
        self.close_connection = True  # what follows is a body that nobody reads
        self._send(refused(status, sentence))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
