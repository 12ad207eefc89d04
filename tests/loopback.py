"""An HTTP server on loopback that sends what it is told to, or breaks off where it is told to."""

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from exchange import Asked, Reply

# What to do with a request to post (method, request): the reply and the body that goes with it.
Answer = Callable[[str, Asked], tuple[Reply, bytes]]


class Loopback:
    """The server, running from `with` to its end. Connections are kept, as servers of models keep them.

    Args:
        answer: Called in a thread of each connection, for many requests at once.
    """

    def __init__(self, answer: Answer) -> None:
        self._closing = threading.Event()
        self._http = _Server(answer, self._closing)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """What goes into a configuration."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def connections(self) -> int:
        """Connections accepted so far."""
        return self._http.accepted

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
        self._http.end_connections()


class _Server(ThreadingHTTPServer):
    request_queue_size = 1024

    def __init__(self, answer: Answer, closing: threading.Event) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.closing = closing
        self.accepted = 0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        with self._lock:
            self.accepted += 1
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as the base class has it
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        # A client that goes away is no fault; anything else is one of the script.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end_connections(self) -> None:
        """No kept connection outlives the server."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # it ends by itself at this moment


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, content: Mapping[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply, body = self.server.answer(self.command, Asked(self.path, headers, content))
        self.server.closing.wait(reply.delay)
        if reply.stall or reply.reset or reply.cut:
            self._break_off(reply, body)
        elif reply.endless:
            self._send_for_ever(reply, body)
        elif reply.pause:
            self._trickle(reply, body)
        else:
            # In one piece: a head sent by itself would wait for the client to acknowledge it.
            self.wfile.write(self._head(reply, f"Content-Length: {len(body)}") + body)

    def _head(self, reply: Reply, *more: str) -> bytes:
        headers = {"Content-Type": "application/json", **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), *more]
        return "".join(f"{line}\r\n" for line in (*lines, "")).encode()

    def _break_off(self, reply: Reply, body: bytes) -> None:
        self.close_connection = True
        if reply.after is not None:
            self.wfile.write(self._head(reply, f"Content-Length: {len(body)}") + body[: reply.after])
        if reply.stall:
            self.server.closing.wait()
        if reply.reset:
            if reply.after is not None:
                # A reset takes what the client has not read yet.
                self.server.closing.wait(0.05)
            # Closing with a linger time of zero sends a reset; the reader holds the connection as well.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()

    def _send_for_ever(self, reply: Reply, body: bytes) -> None:
        self.close_connection = True
        chunk = b"%x\r\n%s\r\n" % (len(body), body)
        self.wfile.write(self._head(reply, "Transfer-Encoding: chunked"))
        while not self.server.closing.is_set():
            self.wfile.write(chunk)

    def _trickle(self, reply: Reply, body: bytes) -> None:
        self.wfile.write(self._head(reply, f"Content-Length: {len(body)}"))
        for byte in body:
            if self.server.closing.wait(reply.pause):
                break
            self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:
        pass
