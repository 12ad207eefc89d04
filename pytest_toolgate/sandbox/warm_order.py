"""What a process of a run says to the keeper of warm processes, and where: files and a socket in a directory."""

import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from ..whole_file import write_whole
from .job import Interpreter, Job, WarmStart

_HASH_SEED = "PYTHONHASHSEED"


@dataclass(frozen=True)
class WarmOrder:
    """A warm process as it has to be made: everything that cannot change any more once it is there.

    Attributes:
        python: The interpreter.
        prefixes: Where it lives.
        version: Of Python.
        implementation: Of Python.
        hidden: What must not be seen.
        hash_seed: Of every copy.
        hook: See `WarmStart`.
        preload: See `WarmStart`.
        watch: Packages whose import is noticed.
    """

    python: str
    prefixes: tuple[str, ...]
    version: str
    implementation: str
    hidden: tuple[str, ...]
    hash_seed: str
    hook: str
    preload: tuple[str, ...]
    watch: tuple[str, ...]

    @classmethod
    def of(cls, job: Job, warm: WarmStart) -> Self:
        """The process that a job can be a copy of."""
        return cls(
            python=str(job.interpreter.python),
            prefixes=tuple(map(str, job.interpreter.prefixes)),
            version=job.interpreter.version,
            implementation=job.interpreter.implementation,
            hidden=_outermost(job.hidden),
            hash_seed=job.env.get(_HASH_SEED, "random"),
            hook=warm.hook,
            preload=warm.preload,
            watch=job.watch,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote."""
        given: dict[str, Any] = json.loads(text)
        for name, value in given.items():
            given[name] = tuple(value) if isinstance(value, list) else value
        return cls(**given)

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @cached_property
    def key(self) -> str:
        """The same for equal orders, and different for others."""
        return sha256(self.to_json().encode()).hexdigest()[:24]

    def interpreter(self) -> Interpreter:
        """As the profile takes it."""
        return Interpreter(
            Path(self.python), tuple(map(Path, self.prefixes)), self.version, {}, self.implementation, {}
        )

    def environment(self) -> dict[str, str]:
        """What it adds to a script's environment."""
        return {_HASH_SEED: self.hash_seed}


def _outermost(hidden: Sequence[Path]) -> tuple[str, ...]:
    """What is hidden, less what is hidden with it: candidates in many directories share one process."""
    kept = {path for path in hidden if not any(path != top and path.is_relative_to(top) for top in hidden)}
    return tuple(sorted(map(str, kept)))


@dataclass(frozen=True, slots=True)
class Place:
    """Where one warm process is asked for, and found."""

    directory: Path
    key: str

    @property
    def request(self) -> Path:
        """Exists while somebody waits for the process."""
        return self.directory / f"{self.key}.request"

    @property
    def address(self) -> Path:
        """The process listens there."""
        return self.directory / f"{self.key}.socket"

    @property
    def failure(self) -> Path:
        """Why there is no process, for good."""
        return self.directory / f"{self.key}.failure"

    def ask(self, order: WarmOrder) -> None:
        """Ask for the process, unless somebody has."""
        if not self.request.exists():
            write_whole(self.request, order.to_json())

    def fault(self) -> str | None:
        """Why there will be none."""
        try:
            return self.failure.read_text("utf-8")
        except FileNotFoundError:
            return None

    def connect(self) -> socket.socket | None:
        """A connection, if the process is there."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            with self._short(self.address) as path:
                connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        return connection

    def listen(self) -> socket.socket:
        """What the process shall listen on, under a name that nobody looks for yet."""
        unopened = self.address.with_suffix(".unopened")
        unopened.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        with self._short(unopened) as path:
            listener.bind(path)
        listener.listen(1024)
        return listener

    def open(self) -> None:
        """Give it its name: from now on whoever connects is served."""
        self.address.with_suffix(".unopened").rename(self.address)

    @contextmanager
    def _short(self, name: Path) -> Iterator[str]:
        """A path that fits into the 107 bytes of a socket's address, wherever the directory is."""
        folder = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{folder}/{name.name}"
        finally:
            os.close(folder)
