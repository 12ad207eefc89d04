"""``python -m pytest_toolgate.providers.embedded.server``: llama.cpp on loopback, while stdin is open.

Reads one `ServerOrder` line on stdin, prints ``{"port": …, "pid": …}`` or ``{"error": …}`` on stdout, and
ends at once when stdin does: a pipe closes however its owner dies, so no server outlives its run.
llama.cpp's own log goes to stderr, which the launcher reads.
"""

import fcntl
import http.client
import json
import os
import select
import signal
import stat
import sys
import time
from typing import Any, TextIO
from urllib.parse import urlsplit

from pytest_toolgate.providers.embedded.errors import EmbeddedError
from pytest_toolgate.providers.embedded.settings import ServerOrder

STDIN, STDOUT, STDERR = 0, 1, 2
ORDER_LIMIT = 64 * 1024
HEALTH_LIMIT = 30.0
TEMPERATURE = 0.2
PROMPT_CACHE_MIB = 512
"""Memory for the states of past prompts: about 18,000 tokens of the default model."""


def main() -> None:
    """Serve until stdin ends; never returns."""
    parent = os.getppid()
    answer = _claim_stdout()
    try:
        order = ServerOrder.from_line(_read_line())
        _die_with_stdin(True)
        port = _serve(order)
    except EmbeddedError as error:
        _say(answer, {"error": str(error)})
        os._exit(1)
    _say(answer, {"port": port, "pid": os.getpid()})
    _die_with_stdin(False)
    # The parent is watched besides: a process that it forked may hold the pipe open after its death.
    while os.getppid() == parent:
        readable, _, _ = select.select([STDIN], [], [], 1.0)
        if readable and not os.read(STDIN, 4096):
            break
    # Not sys.exit: llama.cpp's threads may be in the middle of a reply nobody waits for.
    os._exit(0)


def _claim_stdout() -> TextIO:
    # Whatever native code prints goes to stderr, so that stdout carries our one line and nothing else.
    answer = os.fdopen(os.dup(STDOUT), "w", encoding="utf-8")
    os.dup2(STDERR, STDOUT)
    return answer


def _say(answer: TextIO, message: dict[str, object]) -> None:
    answer.write(json.dumps(message) + "\n")
    answer.close()


def _read_line() -> str:
    # Unbuffered: nothing of the pipe may be hidden from the waiting for its end.
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(STDIN, 1)
        if not byte or len(line) > ORDER_LIMIT:
            raise EmbeddedError("The embedded server expects one line of JSON on its standard input.")
        line += byte
    return line.decode("utf-8", errors="replace")


def _die_with_stdin(armed: bool) -> None:
    """Let the kernel end this process when the pipe closes, even while native code holds Python's lock.

    Loading a model holds it for seconds, and no Python thread could see the end of stdin meanwhile.
    """
    if not stat.S_ISFIFO(os.fstat(STDIN).st_mode):
        return
    flags = fcntl.fcntl(STDIN, fcntl.F_GETFL)
    if not armed:
        fcntl.fcntl(STDIN, fcntl.F_SETFL, flags & ~os.O_ASYNC)
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
    fcntl.fcntl(STDIN, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(STDIN, fcntl.F_SETFL, flags | os.O_ASYNC)
    # The pipe may have closed just before the signal was asked for.
    if select.select([STDIN], [], [], 0)[0] and not os.read(STDIN, 4096):
        os._exit(0)


def _serve(order: ServerOrder) -> int:
    try:
        # Waiting threads spin briefly, then sleep: the cores are shared with the scripts under test. Measured
        # on two cores, idle and beside two busy processes: 34 and 12 tokens/s; always spinning, 34 and 4.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
        import xllamacpp
    except ImportError as error:
        raise EmbeddedError(
            f"xllamacpp cannot be imported ({error}); install it with `pip install 'pytest-toolgate[local]'`."
        ) from error
    try:
        server = xllamacpp.Server(_parameters(xllamacpp, order))
    except Exception as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise EmbeddedError(f"llama.cpp could not serve {order.path}: {reason}.") from error
    # Kept for the life of the process: its destructor would stop the server.
    globals()["_running"] = server
    port = urlsplit(server.listening_address).port or 0
    _await_health(port)
    return port


def _parameters(xllamacpp: Any, order: ServerOrder) -> Any:  # noqa: ANN401 - the module ships no types
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order.path
    parameters.model_alias = {order.name}
    parameters.hostnames = ["127.0.0.1"]
    # Port 0: the kernel picks a free one at bind, so there is no gap in which another process could take it.
    parameters.port = 0
    parameters.api_keys = [order.api_key]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.n_parallel = order.slots
    parameters.n_ctx = order.context * order.slots
    parameters.cpuparams.n_threads = order.threads
    parameters.cpuparams_batch.n_threads = order.threads
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    parameters.sampling.seed = order.seed
    # Requests that name no temperature get a low one: a small model's code is best near its first choice.
    parameters.sampling.temp = TEMPERATURE
    # Off unless a request asks for it, see `REUSE_PROMPT`; states of past prompts are kept in so many MiB.
    parameters.cache_prompt = False
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    # Both only cost time at start: memory is as asked for, and the first request warms up as well.
    parameters.fit_params = False
    parameters.warmup = False
    return parameters


def _await_health(port: int) -> None:
    deadline = time.monotonic() + HEALTH_LIMIT
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == http.HTTPStatus.OK:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    raise EmbeddedError(f"llama.cpp did not become healthy on port {port} within {HEALTH_LIMIT:.0f} seconds.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        # Started by hand and stopped by hand; under the launcher the server is in a session of its own.
        print(file=sys.stderr)
        os._exit(130)
