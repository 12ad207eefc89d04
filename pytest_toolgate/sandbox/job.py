"""What a run is asked for and what it hands back: plain, frozen data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

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
    """

    wall: float = 300.0
    memory: int = 4 * GiB
    disk: int = 1 * GiB
    stdout: int = 8 * MiB
    stderr: int = 256 * KiB
    processes: int = 64

    def __post_init__(self) -> None:
        for name in ("wall", "memory", "disk", "stdout", "stderr", "processes"):
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
    """

    python: Path
    prefixes: tuple[Path, ...]
    version: str
    packages: Mapping[str, str]


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
        watch: Top-level packages whose execution is recorded in `Finished.used`.
        workspace: None for a fresh working directory that vanishes with the run; else a directory of the
            host that is the working directory, read-write, and outlives the run, one run at a time. What it
            holds is hostile afterwards. Run by root, it then belongs to the unused id its scripts run under.
        hidden: Paths of the host that must not be seen even where they lie within the interpreter's own
            directories: the project, its candidates, its results.
    """

    interpreter: Interpreter
    script: bytes
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    watch: tuple[str, ...] = ()
    workspace: Path | None = None
    hidden: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for name in self.files:
            if not name or "/" in name or "\0" in name or name in (".", "..", "solution.py"):
                raise ValueError(f"a file of a job needs a plain name of its own, not {name!r}.")
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
        stderr: Head and tail with a line between them that says how much was cut.
        stderr_cut: Whether it was.
        wall: Seconds from the start of the script to its end.
        cpu: Seconds of processor time of the whole tree; 0.0 when the sandbox had to be killed from outside.
        peak_memory: Bytes; the largest of the samples taken every 100 ms and of the kernel's own figure per
            process.
        disk_used: Bytes; the largest sample of everything written (a workspace counts with all it holds).
        used: The watched packages that really were executed by the script or its children, sorted.
        tier: The kind of isolation, for the record.
    """

    ended: Ending
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stderr_cut: bool
    wall: float
    cpu: float
    peak_memory: int
    disk_used: int
    used: tuple[str, ...]
    tier: Literal["bubblewrap"] = "bubblewrap"
