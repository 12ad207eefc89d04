"""The controlling process's side of warm starts: a thread that makes warm processes when asked, and ends them all."""

import json
import os
import select
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Final

from ..whole_file import write_whole
from . import profile, seccomp
from .identity import choose, is_root
from .job import MiB, SandboxError
from .launch import enclose
from .pipes import content, pipe
from .task import SUPERVISION, code
from .warm_order import Place, WarmOrder

# Seconds between two looks for a request.
_PAUSE: Final = 0.03
# Seconds for the imports; less than who waits for it has, so that the reason is heard.
_PATIENCE: Final = 100.0
# So often one is started, in a run, before it is given up.
_TRIES: Final = 10
# Bytes of every writable place of a warm process itself; the places of its copies have limits of their own.
_ROOM: Final = 64 * MiB
# Our own code inside: what starts and watches over a script, and what a copy needs besides.
_MODULES: Final = (
    *("zygote", "namespaces", "software", "witness", "shelf", "threads"),
    *("tool_calls", "keepsake", "immortal", "warm_script"),
    *SUPERVISION,
)
_MACHINERY_OUTPUT: Final = 64 * 1024


class WarmKeeper:
    """Makes the warm processes of one run. It must outlive them: they end with the thread that started them."""

    def __init__(self, directory: Path) -> None:
        """Prepare, without starting anything; `directory` is private and there."""
        self._directory = directory
        self._stopping = threading.Event()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._tries: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, name="toolgate-warm", daemon=True)

    def start(self) -> None:
        """Begin to look for requests."""
        self._thread.start()

    def stop(self) -> None:
        """End every warm process, and with it every copy, and return when they are gone."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.wait(_PAUSE):
                for request in self._directory.glob("*.request"):
                    self._serve(request)
        finally:
            for process in self._processes.values():
                process.kill()
                process.wait()

    def _serve(self, request: Path) -> None:
        place = Place(self._directory, request.stem)
        running = self._processes.get(place.key)
        if running is not None and running.poll() is None:
            request.unlink(missing_ok=True)  # it was there before the request was seen
            return
        self._tries[place.key] = self._tries.get(place.key, 0) + 1
        try:
            order = WarmOrder.from_json(request.read_text("utf-8"))
            self._processes[place.key] = _make(order, place, self._stopping)
        except Exception as error:  # noqa: BLE001 - workers wait for an answer
            # What the software said it will say again; what was the machine's may be over.
            if isinstance(error, _UnloadableError) or self._tries[place.key] >= _TRIES:
                write_whole(place.failure, str(error))
        request.unlink(missing_ok=True)


class _UnloadableError(SandboxError):
    """The process itself says that it cannot load its software."""


def _make(order: WarmOrder, place: Place, stopping: threading.Event) -> subprocess.Popen[bytes]:
    """Start a warm process and wait until it has loaded everything, or until the run is over.

    Raises:
        SandboxError: It could not; says why.
    """
    identity = choose(None)
    interpreter = order.interpreter()
    told = {
        "hook": order.hook,
        "preload": order.preload,
        "watch": order.watch,
        "as_root": is_root(),
        "refused": seccomp.program().hex(),
    }
    environment = profile.environment(interpreter, threads=1, watching=False, additions=order.environment())
    with ExitStack() as ours, ExitStack() as theirs:
        listener = theirs.enter_context(place.listen())
        (ready, tell), (complaints, complain) = pipe(ours, theirs), pipe(ours, theirs)
        own = code(interpreter, _MODULES)
        # Each copy has its own in their place.
        own |= {"/etc/passwd": b"", "/etc/group": b"", f"{profile.SITE}/sitecustomize.py": b""}
        data = {path: content(text, theirs) for path, text in own.items()}
        order_fd = content(json.dumps(told).encode(), theirs)
        args = profile.arguments(
            interpreter,
            identity,
            places=profile.rooms(_ROOM, kept=True),
            work=profile.ROOM,
            made=dict.fromkeys(profile.DIRECTORIES, "0700"),
            workspace=None,
            hidden=tuple(map(Path, order.hidden)),
            data=data,
            seccomp=None,
        )
        args += [arg for name, value in environment.items() for arg in ("--setenv", name, value)]
        descriptors = [order_fd, listener.fileno(), tell]
        process = enclose(
            args,
            [str(interpreter.python), next(iter(own)), *map(str, descriptors)],
            [*descriptors, *data.values()],
            complain,
        )
        theirs.close()
        try:
            _wait(ready, complaints, stopping)
        except _UnloadableError as error:
            process.kill()
            process.wait()
            raise _UnloadableError(
                f"A warm process of {order.python} could not load {', '.join(order.preload)}: {error}; scripts start "
                f"without it where `verify.warm` is false."
            ) from None
        except BaseException:
            process.kill()
            process.wait()
            raise
    place.open()
    return process


def _wait(ready: IO[bytes], complaints: IO[bytes], stopping: threading.Event) -> None:
    """Wait until the process says that it has loaded everything.

    Raises:
        SandboxError: It says otherwise, nothing, or not in time.
    """
    poll = select.poll()
    poll.register(ready, select.POLLIN | select.POLLHUP)
    give_up = time.monotonic() + _PATIENCE
    while not poll.poll(_PAUSE * 1000):
        if stopping.is_set() or time.monotonic() > give_up:
            raise SandboxError(f"A warm process had not loaded its software within {_PATIENCE:.0f} seconds.")
    said = json.loads(os.read(ready.fileno(), _MACHINERY_OUTPUT) or b"{}")
    if "ready" not in said:
        why = said.get("fault") or _last_line(complaints)
        raise _UnloadableError(why)


def _last_line(complaints: IO[bytes]) -> str:
    os.set_blocking(complaints.fileno(), False)
    text = complaints.read(_MACHINERY_OUTPUT) or b""
    return (text.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason."])[-1]
