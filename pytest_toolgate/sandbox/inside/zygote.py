"""A sandbox's first process that has the target software loaded, and forks a copy of itself for every script.

It runs in the same sandbox as a script does, and reads nothing that a script wrote or a candidate holds: of a request
it takes the connection, forks, and listens again. The copy leaves for namespaces of its own, reads its task there, and
has the supervisor's code watch over the script. So no script can reach this process, nor another script.
"""

# ruff: noqa: E402 - what is loaded before all else has to be known

from __future__ import annotations

import importlib  # noqa: F401
import sys

# Every interpreter has these at its start; the witness needs one more.
_BARE = frozenset(sys.modules)
sys.path.insert(0, __file__.partition("/pytest_toolgate/")[0])

from pytest_toolgate.sandbox.inside.witness import Witness

_WITNESS = Witness()

import gc
import json
import os
import signal
import socket
import struct
from contextlib import suppress

from pytest_toolgate.sandbox.inside import capabilities, keepsake, namespaces, supervise
from pytest_toolgate.sandbox.inside.immortal import make_immortal
from pytest_toolgate.sandbox.inside.refuse import refuse
from pytest_toolgate.sandbox.inside.report import tell
from pytest_toolgate.sandbox.inside.software import Software
from pytest_toolgate.sandbox.inside.warm_script import begin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Where a script's Python looks for modules, but for the script's own directory.
_PATH = [entry for entry in sys.path if not entry.startswith("/run/toolgate")]
# The task, the control pipe, the supervisor's report, stdout and stderr, and the two ends of the keepsake. What the
# module `socket` has for sending descriptors imports another one first, and none is to be had once all are hidden.
_DESCRIPTORS = struct.Struct("7i")
_DESCRIPTOR = struct.Struct("i")


def main() -> None:
    """Load what the order names, say so, and serve until we are killed."""
    order_fd, listening, ready = map(int, sys.argv[1:4])
    with os.fdopen(order_fd, "rb") as stream:
        order = json.loads(stream.read().decode("utf-8"))
    try:
        software = load(order)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is said
        tell(ready, {"fault": f"{type(error).__name__}: {error}"[:1000]})
        return
    tell(ready, {"ready": True})
    os.close(ready)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel collects the copies
    listener = socket.socket(fileno=listening)
    own = os.getuid(), os.getgid()
    while True:
        with suppress(OSError):  # whoever asked for a copy has gone
            connection, _ = listener.accept()
            with connection:
                try:
                    first = namespaces.fork_away(as_root=order["as_root"])
                except OSError as error:
                    connection.send(str(error).encode())
                    continue
                if first == 0:
                    try:
                        listener.close()
                        be_first(connection, own, order, software)
                    finally:
                        os._exit(0)  # a copy must never return to listening
                try:
                    connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _DESCRIPTOR.pack(first))])
                finally:
                    os.close(first)


def load(order: dict[str, Any]) -> Software:
    """Import the target software, and check that a copy of this process is a whole one.

    Raises:
        Exception: Something cannot be imported, or has begun what a fork would cut in two.
    """
    software = Software(_BARE, _WITNESS, order["hook"], order["preload"], order["watch"])
    gc.collect()
    make_immortal()
    gc.freeze()  # what is here stays, and a copy must not touch all of its pages to find that out
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"{threads} threads run once it is imported, and a copy would have only one of them.")
    return software


def be_first(connection: socket.socket, own: tuple[int, int], order: dict[str, Any], software: Software) -> None:
    """Be the first process of the namespaces: make the script's surroundings and watch over it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, given, _, _ = connection.recvmsg(1, socket.CMSG_LEN(_DESCRIPTORS.size))
    connection.close()
    if not given or len(given[0][2]) != _DESCRIPTORS.size:
        return
    task_fd, control, report, out, err, kept, keeping = _DESCRIPTORS.unpack(given[0][2])
    task = supervise.read_task(task_fd)
    try:
        if not order["as_root"]:
            namespaces.keep_identity(own)
        namespaces.furnish(task["rooms"], task["shown"], task["folders"], task["own_files"], as_root=order["as_root"])
        if not order["as_root"]:  # root gives them up with its identity
            capabilities.bound()
            capabilities.give_up()
        refuse(bytes.fromhex(order["refused"]))
    except OSError as error:
        tell(report, {"fault": f"the warm sandbox could not be prepared: {error}."})
        return
    keepsake.bring(kept)
    supervise.oversee(task, control, report, out, err, lambda task, failed: begin(task, failed, software, _PATH))
    keepsake.take(keeping)


if __name__ == "__main__":
    main()
