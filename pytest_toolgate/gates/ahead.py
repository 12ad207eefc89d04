"""Judging candidates whose turn has not come, so that calls overlap whatever the number of workers.

pytest runs one item after the other in each process, and a candidate at its screens does nothing but wait. So threads
take candidates from further down the list and judge them. An item whose candidate was judged finds the attempt; one
whose candidate is being judged waits. A candidate belongs to whoever holds the lock of its file in the run's directory,
in whatever process, and the kernel frees that lock when its holder dies.
"""

import fcntl
import hashlib
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO

from ..config import EMBEDDED, Settings
from .pipeline import Attempt, judge
from .workbench import Workbench

_BEGUN = "begun"


def threads_ahead(settings: Settings, gates: Collection[str]) -> int:
    """How many candidates each process of a run judges before their turn.

    Enough for one process to keep every paid provider as busy as it may be, since workers start one after the other. A
    candidate at a screen has a call under way, and as many candidates again have one in line: first calls go before
    last ones, so that a run does not end in a trickle. The embedded model answers one at a time and shares the cores
    with scripts, so it gains nothing.
    """
    providers = [settings.providers[name] for name in settings.providers_of(gates)]
    return 2 * max((provider.concurrency for provider in providers if provider.kind != EMBEDDED), default=0)


class Ahead:
    """The candidates of a run as one process sees them.

    Args:
        bench: What gates work with.
        paths: The candidates that may be judged before their turn, in the order of the run.
        threads: How many at once.
    """

    def __init__(self, bench: Workbench, paths: Sequence[Path], threads: int) -> None:
        self._bench = bench
        self._paths = paths
        self._directory = bench.run.directory / "turns"
        self._directory.mkdir(exist_ok=True)
        self._over = threading.Event()
        # Daemons: an interrupted session does not wait for what is under way.
        self._threads = [
            threading.Thread(target=self._work, name=f"toolgate-ahead-{number}", daemon=True)
            for number in range(min(threads, len(paths)))
        ]
        for thread in self._threads:
            thread.start()

    def attempt(self, path: Path) -> Attempt:
        """The attempt of a candidate whose turn it is: judged before, by now, or here."""
        with self._file(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            attempt = _read(file) or self._judge(path, file)
            _write(file, _BEGUN)  # an item that is run once more is judged once more
            return attempt

    def finish(self, patience: float | None = None) -> None:
        """Begin nothing more, and wait for what is under way: other processes count on it.

        Args:
            patience: Seconds to wait at most, after an interruption, when nobody counts on anything any more.
        """
        self._over.set()
        if patience is not None:
            self._bench.end()
        deadline = None if patience is None else time.monotonic() + patience
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        for path in self._paths:
            if self._over.is_set():
                return
            try:
                with self._file(path) as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    file.seek(0)
                    if not file.read():
                        self._judge(path, file)
            except OSError:
                # Taken by another; or the run is over and its directory gone. Its own turn will tell.
                continue

    def _file(self, path: Path) -> IO[str]:
        name = hashlib.sha256(str(path).encode("utf-8", "backslashreplace")).hexdigest()[:32]
        return (self._directory / name).open("a+", encoding="utf-8")

    def _judge(self, path: Path, file: IO[str]) -> Attempt:
        # A process that dies over a candidate takes no second one with it: once begun, only its own turn begins again.
        _write(file, _BEGUN)
        attempt = judge(path, self._bench)
        _write(file, attempt.to_json())
        return attempt


def _write(file: IO[str], text: str) -> None:
    file.truncate(0)
    file.write(text)
    file.flush()


def _read(file: IO[str]) -> Attempt | None:
    file.seek(0)
    try:
        return Attempt.from_json(file.read())
    except ValueError:
        return None  # nobody has judged it, or has died over it
