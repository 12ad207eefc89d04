"""One event loop in a thread of its own, for network calls made from synchronous code.

The main thread only ever waits on a future, so that Ctrl-C and pytest-timeout's alarm reach it at once and are
never swallowed by a callback of the loop.
"""

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Coroutine
from typing import Any

_starting = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    # The threads that make a process's first calls come together, and a client belongs to one loop.
    with _starting:
        return _started_loop()


@functools.cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="toolgate-network", daemon=True).start()
    return loop


def run[T](coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; interrupted, it is cancelled."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def run_unless[T](coroutine: Coroutine[Any, Any, T], given_up: "concurrent.futures.Future[None] | None") -> T | None:
    """Run a coroutine to its end, or cancel it and return None once `given_up` is done."""
    if given_up is None:
        return run(coroutine)
    if given_up.done():
        coroutine.close()
        return None
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        either: list[concurrent.futures.Future[Any]] = [future, given_up]
        concurrent.futures.wait(either, return_when=concurrent.futures.FIRST_COMPLETED)
        return future.result() if future.done() else None
    finally:
        future.cancel()
