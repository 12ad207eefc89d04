"""One server process: started with an order on stdin, stopped by closing it, its log kept."""

import json
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from pytest_toolgate.providers.embedded.errors import EmbeddedError

LOG_LINES = 30
LINE_LIMIT = 400
ERROR_MARK = re.compile(r"[\d.]+ E ")
STOP_LIMIT = 3.0
"""Seconds a server has between the end of its stdin and SIGKILL."""
SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class ServerProcess:
    """A running server; used by one thread."""

    def __init__(self, command: Sequence[str], order: str) -> None:
        """Start the process and hand it its order.

        Raises:
            EmbeddedError: The command cannot be started.
        """
        try:
            # A session of its own: Ctrl-C reaches the controlling process alone, which closes the pipe.
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=_environment(),
            )
        except OSError as error:
            raise EmbeddedError(f"The embedded model server cannot be started: {error}.") from error
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._reader = threading.Thread(target=self._keep_log, name="embedded-model-log", daemon=True)
        self._reader.start()
        assert self._process.stdin is not None
        # Where it died already, waiting for its answer says so with its last words.
        with suppress(OSError):
            self._process.stdin.write(order.encode() + b"\n")
            self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def wait_ready(self, limit: float, cancelled: Callable[[], bool]) -> int | None:
        """Wait for the server's one line and return its port, or None when cancelled meanwhile.

        Raises:
            EmbeddedError: It reported an error, died, or said nothing within `limit` seconds.
        """
        assert self._process.stdout is not None
        stdout = self._process.stdout.fileno()
        deadline = time.monotonic() + limit
        line = b""
        while not line.endswith(b"\n"):
            if cancelled():
                return None
            if time.monotonic() >= deadline:
                raise EmbeddedError(self.describe(f"was not ready within {limit:g} seconds"))
            if not select.select([stdout], [], [], 0.05)[0]:
                continue
            received = os.read(stdout, 4096)
            if not received:
                raise EmbeddedError(self.describe_death("at its start"))
            line += received
        return self._port(line)

    def describe_death(self, when: str) -> str:
        """One sentence on how the process ended, with the last lines of its log."""
        try:
            code = self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            return self.describe(f"closed its output {when}")
        how = f"ended with status {code}" if code >= 0 else f"was killed by {_signal_name(-code)}"
        return self.describe(f"{how} {when}")

    def describe(self, what: str) -> str:
        """One sentence: what happened, and what the log says of it."""
        if not self.alive:
            self._reader.join(1.0)
        lines = list(self._log)
        # llama.cpp marks errors with an E after the time, and the first names the cause.
        log = " | ".join([line for line in lines if ERROR_MARK.match(line)][:3] or lines[-3:])
        return f"The embedded model server {what}" + (f"; the end of its log: {log}" if log else "") + "."

    def stop(self) -> None:
        """Close the pipe, wait, and kill if that is not enough; may be called again."""
        process = self._process
        assert process.stdin is not None
        # An order that was never read would be flushed here, into a pipe without a reader.
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join(1.0)
        for stream in (process.stdout, process.stderr):
            # The reader holds stderr for as long as a stray child of the server does; it is a daemon.
            if stream is not None and not (stream is process.stderr and self._reader.is_alive()):
                stream.close()

    def _port(self, line: bytes) -> int:
        try:
            message = json.loads(line)
            if "error" in message:
                # It ends after that, and what its log says of it is read to its end.
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(1.0)
                raise EmbeddedError(self.describe(f"could not start: {str(message['error']).rstrip('.')}"))
            return int(message["port"])
        except (ValueError, TypeError, KeyError) as error:
            raise EmbeddedError(self.describe(f"gave an unreadable answer {line[:200]!r}")) from error

    def _keep_log(self) -> None:
        assert self._process.stderr is not None
        # Read with a limit, so that a line without an end cannot fill the memory.
        while line := self._process.stderr.readline(64 * 1024):
            text = line.decode("utf-8", errors="replace").strip()
            if text:
                self._log.append(text[:LINE_LIMIT])


def _environment() -> dict[str, str]:
    # Native code that needs no key is given none.
    return {name: value for name, value in os.environ.items() if not any(word in name.upper() for word in SECRET_WORDS)}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
