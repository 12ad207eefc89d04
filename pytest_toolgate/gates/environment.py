"""Under which conditions a script runs, and what the record says about them."""

import dataclasses
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..sandbox import Interpreter
from ..sandbox.profile import work


@dataclass(frozen=True, slots=True)
class Conditions:
    """What differs between two runs of one script, and must not change its answer.

    Attributes:
        hash_seed: `PYTHONHASHSEED`; None where it is left to chance.
        threads: Threads that numerical libraries may use.
        directory: Name of the working directory.
    """

    hash_seed: str | None = None
    threads: int = 1
    directory: str = "work"

    def env(self) -> dict[str, str]:
        """The variables that they come to."""
        return {} if self.hash_seed is None else {"PYTHONHASHSEED": self.hash_seed}

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        return f"hash seed {self.hash_seed}, {threads}, in {work(self.directory)}"


_OF_RUNS = (
    Conditions("0", 1, "work"),
    Conditions("2718281", 2, "run-again"),
    Conditions("31415926", 1, "and-once-more"),
)


def conditions(number: int) -> Conditions:
    """The conditions of a run of a script, counted from 0."""
    return _OF_RUNS[number % len(_OF_RUNS)]


def environment(interpreter: Interpreter, under: Conditions, *, warm: bool = False) -> dict[str, object]:
    """What the record says about interpreter, packages, machine and conditions."""
    return {
        "python": str(interpreter.python),
        "version": interpreter.version,
        "implementation": interpreter.implementation,
        "packages": dict(interpreter.packages),
        "installed": {name: dataclasses.asdict(found) for name, found in sorted(interpreter.installed.items())},
        **_machine(),
        "hash_seed": under.hash_seed,
        "threads": under.threads,
        "directory": work(under.directory),
        "start": "warm" if warm else "cold",
    }


@cache
def _machine() -> dict[str, str | None]:
    return {"cpu": _cpu_model(), "machine": platform.machine(), "kernel": platform.release()}


def _cpu_model() -> str | None:
    """As the kernel names it; None where it does not, as on some ARM machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    names = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == "model name")
    return next(names, None)
