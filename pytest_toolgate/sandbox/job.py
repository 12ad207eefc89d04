"""What a run is asked for and what it hands back: plain, frozen data."""

import math
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol

from ..config.model import Tier

KiB: Final = 1024
MiB: Final = 1024 * KiB
GiB: Final = 1024 * MiB

# Seconds; eleven days, within what poll(2) can wait for.
_LONGEST: Final = 1e6

Ending = Literal["exited", "timeout", "memory-limit", "output-limit", "disk-limit", "killed"]


class SandboxError(Exception):
    """The machinery failed, so nothing is known about the script; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use.

    Attributes:
        wall: Seconds from the start of the script's process; set-up of the sandbox is not counted. At most 1e6.
        memory: Bytes of resident memory of the whole process tree, shared pages counted once.
        disk: Bytes of everything it writes (working directory, home, /tmp and /dev/shm together).
        stdout: Bytes; writing more ends the run as `output-limit`.
        stderr: Bytes kept: its head and its tail. Writing more is never fatal.
        processes: Processes and threads alive at once.
        entries: Files and directories it may make; more are a `disk-limit` too, since they fill a disk as well.
    """

    wall: float = 300.0
    memory: int = 4 * GiB
    disk: int = 1 * GiB
    stdout: int = 8 * MiB
    stderr: int = 256 * KiB
    processes: int = 64
    entries: int = 20_000

    def __post_init__(self) -> None:
        for name in ("wall", "memory", "disk", "stdout", "stderr", "processes", "entries"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"the limit `{name}` must be above zero and finite, not {getattr(self, name)!r}.")
        if self.wall > _LONGEST:
            raise ValueError(f"the limit `wall` must be at most {_LONGEST:.0f} seconds, not {self.wall!r}.")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python and what must be visible, read-only, for it to work.

    Attributes:
        python: Path of the executable, the same inside the sandbox; a launcher script (pyenv's shims) is
            replaced by the executable it starts.
        prefixes: Directories that hold the interpreter and its environment, links resolved.
        version: For example `3.12.1`.
        packages: Distribution name as asked -> version, for those of the names that are installed.
        implementation: For example `CPython`.
        installed: The same distributions and all that they depend on, as far as they are installed, by normalised name.
    """

    python: Path
    prefixes: tuple[Path, ...]
    version: str
    packages: Mapping[str, str]
    implementation: str
    installed: Mapping[str, "Distribution"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution.

    Attributes:
        version: For example `0.11.0`.
        record: SHA-256 of its RECORD file, which lists the hash of every file of the wheel; None where it has none, as
            in installations by conda or apt.
    """

    version: str
    record: str | None


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Where a process that has the software loaded is asked for, and what that is.

    Attributes:
        directory: Private directory, shared by all processes of a run, that a `WarmKeeper` looks after.
        hook: Source of the domain's own module there, see `domains.Domain.warm_start`; empty for none.
        preload: Modules to import.
    """

    directory: Path
    hook: str
    preload: tuple[str, ...]


class Door(Protocol):
    """Where the connections that a program makes inside come out."""

    @property
    def waited(self) -> float:
        """Seconds for which the program was held up by us, which do not count against its time."""
        ...

    @property
    def closed(self) -> bool:
        """Whether the program is to be ended now."""
        ...

    def open(self, listener: socket.socket) -> None:
        """Take the socket on which they arrive, which is to be closed once the run is over."""
        ...


@dataclass(frozen=True, slots=True)
class Program:
    """A program of somebody else's that works in the sandbox in place of a script, as agents do.

    It gets a network of its own, in which there is nothing but one address, see `profile.DOOR`, that leads to `door`.

    Attributes:
        command: Its arguments, the first the path of the executable.
        door: Who answers at that address.
        shown: Paths of the host that it needs, read-only.
        files: Path below its home -> content, there before it starts.
        nested: It makes sandboxes of its own for what it runs, by namespaces.
    """

    command: tuple[str, ...]
    door: Door
    shown: tuple[Path, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    nested: bool = False

    def __post_init__(self) -> None:
        if not self.command or not Path(self.command[0]).is_absolute():
            raise ValueError("a program is started by the path of its executable.")
        for name in self.files:
            if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name or not Path(name).name:
                raise ValueError(f"a file of a program lies below its home, not at {name!r}.")


@dataclass(frozen=True, slots=True)
class Job:
    """One script to run.

    Attributes:
        interpreter: From `inspect_interpreter`.
        script: Becomes `solution.py` in the working directory, run as `python solution.py`.
        files: Further files there, by plain name, for example `problem.json`. Existing ones are replaced.
        limits: What the run may use.
        env: Additions to the environment, for example `PYTHONHASHSEED`; they win over the
            sandbox's own values.
        threads: Threads that OpenMP, the BLAS libraries and NumExpr are told to use.
        directory: Name of the working directory, which is `/sandbox/<name>` inside.
        watch: Top-level packages whose execution is recorded in `Finished.used`.
        workspace: None for a fresh working directory that vanishes with the run; else a directory of the
            host that is the working directory, read-write, and outlives the run, one run at a time. What it
            holds is hostile afterwards. Run by root, it then belongs to the unused id its scripts run under.
        hidden: Paths of the host that must not be seen even where they lie within the interpreter's own
            directories: the project, its candidates, its results.
        warm: Start as a copy of a process that has the software loaded; without a workspace only.
        kept: What earlier runs of this very job left (each `Finished.kept`, joined); for warm starts.
        tier: The kind of isolation; always the one the user chose, never one that happens to work.
        program: What is started instead of a script, which is then empty; in the tier `bubblewrap` only.
    """

    interpreter: Interpreter
    script: bytes
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    threads: int = 1
    directory: str = "work"
    watch: tuple[str, ...] = ()
    workspace: Path | None = None
    hidden: tuple[Path, ...] = ()
    warm: WarmStart | None = None
    kept: bytes = b""
    tier: Tier = "bubblewrap"
    program: Program | None = None

    def __post_init__(self) -> None:
        for name in self.files:
            if not name or "/" in name or "\0" in name or name in (".", "..", "solution.py"):
                raise ValueError(f"a file of a job needs a plain name of its own, not {name!r}.")
        if not re.fullmatch("[a-z][a-z0-9-]*", self.directory) or self.directory in ("home", "tmp"):
            raise ValueError(f"a working directory needs a plain name of its own, not {self.directory!r}.")
        if self.warm is not None and (self.workspace is not None or self.tier != "bubblewrap"):
            raise ValueError("a warm start is for the tier `bubblewrap` and without a workspace.")
        if self.program is not None and (self.script or self.warm is not None or self.tier != "bubblewrap"):
            raise ValueError("a program is started in place of a script, cold, in the tier `bubblewrap`.")
        for name in self.watch:
            if not name.isidentifier():
                raise ValueError(f"a watched package is a top-level import name, not {name!r}.")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended; what it says holds for the script, never for the machinery.

    Attributes:
        ended: `memory-limit`, `disk-limit`, `output-limit` and `timeout` (in this order when several hold)
            only when that limit was hit; `killed` for a signal; else `exited`.
        exit_code: Exit status; None when the script was ended by a signal or by us.
        signal: Number of the signal that ended the script; None when it exited or when we ended it.
        stdout: What was written before the script's own exit, at most the limit.
        stdout_bytes: All that was written before the script's exit, or before it was stopped for it.
        stderr: Head and tail with a line between them that says how much was cut.
        stderr_bytes: All that was written.
        stderr_cut: Whether some of it is not in `stderr`.
        wall: Seconds from the start of the script to its end.
        cpu: Seconds of processor time of the whole tree; 0.0 when the sandbox had to be killed from outside.
        peak_memory: Bytes; the largest of the samples taken every 100 ms and of the kernel's own figure per
            process; 0 when the sandbox had to be killed from outside.
        disk_used: Bytes; the largest sample of everything written (a workspace counts with all it holds).
        files_made: The largest sample of the number of files and directories, the sandbox's own few included.
        used: The watched packages that really were executed by the script or its children, sorted.
        called: Those of them that code of the script's own, or of its children's, called, sorted; None where the
            interpreter cannot tell (before Python 3.12).
        excess: Of what a script had too much that ends it as `killed`, in words; empty for nothing.
        kept: What it adds for the next run of the same job; a stranger's, to be handed back and never looked into.
        tier: The kind of isolation, for the record.
        started_at: `time.monotonic()` at which the script was heard to have started.
    """

    ended: Ending
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stdout_bytes: int
    stderr: bytes
    stderr_bytes: int
    stderr_cut: bool
    wall: float
    cpu: float
    peak_memory: int
    disk_used: int
    files_made: int
    used: tuple[str, ...]
    excess: str = ""
    kept: bytes = b""
    tier: Tier = "bubblewrap"
    called: tuple[str, ...] | None = None
    started_at: float = 0.0
