"""Where the host listens: an attack that gets out is heard here, whatever way it takes."""

import contextlib
import os
import selectors
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

_PIECE = 4096
_LOCAL_CID = 1  # vsock: this machine itself


class Listeners:
    """Loopback TCP, UDP, unix, abstract and vsock sockets and a named pipe, heard from `with` to its end.

    Attributes:
        places: Name of a listener -> where it is found: a port, a path, a name; 0 or empty where there is none.
        heard: What came in; an empty text for a connection that said nothing.
    """

    def __init__(self, directory: Path, mark: str) -> None:
        self.places: dict[str, int | str] = {}
        self.heard: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._open(directory, mark)

    def _open(self, directory: Path, mark: str) -> None:
        unix, fifo, abstract = str(directory / "s"), str(directory / "fifo"), f"\0{mark}"
        streams: dict[str, tuple[int, object, int | str]] = {
            "tcp": (socket.AF_INET, ("127.0.0.1", 0), 0),
            "tcp6": (socket.AF_INET6, ("::1", 0), 0),
            "unix": (socket.AF_UNIX, unix, unix),
            "abstract": (socket.AF_UNIX, abstract, abstract),
            "vsock": (socket.AF_VSOCK, (socket.VMADDR_CID_ANY, socket.VMADDR_PORT_ANY), 0),
        }
        for name, (family, address, place) in streams.items():
            self.places[name] = "" if isinstance(place, str) else 0
            with contextlib.suppress(OSError):  # a family that this machine lacks cannot be heard on either
                server = socket.socket(family, socket.SOCK_STREAM)
                server.bind(address)  # type: ignore[arg-type]
                server.listen()
                self.places[name] = place or server.getsockname()[1]
                self._selector.register(server, selectors.EVENT_READ, self._accept)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        self.places["udp"] = udp.getsockname()[1]
        self._selector.register(udp, selectors.EVENT_READ, self._read)
        os.mkfifo(fifo)
        self.places["fifo"] = fifo
        # Open for writing too, or the first writer that leaves would end it.
        pipe = os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
        self._selector.register(pipe, selectors.EVENT_READ, self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _listen(self) -> None:
        while not self._closing.is_set():
            for key, _ in self._selector.select(0.05):
                hear: Callable[[object], None] = key.data
                hear(key.fileobj)

    def _accept(self, server: socket.socket) -> None:
        connection, _ = server.accept()
        self._selector.register(connection, selectors.EVENT_READ, self._read_to_end)

    def _read(self, source: socket.socket) -> str:
        piece = os.read(source.fileno(), _PIECE).decode("latin-1")
        self.heard.append(piece)
        return piece

    def _read_to_end(self, connection: socket.socket) -> None:
        try:
            more = self._read(connection)
        except OSError:
            more = ""
        if not more:
            self._selector.unregister(connection)
            connection.close()
