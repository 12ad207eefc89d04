"""From what was observed to how a run ended: one pure function that holds the order of reasons."""

import re
import signal
from dataclasses import dataclass
from typing import Final

from .job import Ending, KiB

# The exception that ended a Python program, by its traceback's last line; PETSc's code 55 is "out of memory".
_OUT_OF_MEMORY: Final = re.compile(
    rb"([\w.]+\.)?(MemoryError|_ArrayMemoryError)\b|(petsc4py\.)?PETSc\.Error: error code 55\b"
)
_OUT_OF_DISK: Final = re.compile(rb"([\w.]+\.)?OSError: \[Errno (28|27)\]")
# How a C++ program says it.
_BAD_ALLOC: Final = re.compile(rb"^[ \t]*what\(\):[ \t]+std::bad_alloc", re.MULTILINE)
# Bytes at the end of stderr in which it is looked for: libraries may print more after it, within reason.
_LAST_WORDS: Final = 64 * KiB


@dataclass(frozen=True, slots=True)
class Observed:
    """What the machinery saw.

    Attributes:
        limit: The limit the supervisor hit, if any.
        status: Wait status of the script, None when it did not end by itself.
        too_much_output: Whether stdout exceeded its limit.
        stderr: What was kept of it.
    """

    limit: Ending | None
    status: int | None
    too_much_output: bool
    stderr: bytes


def decide(seen: Observed) -> tuple[Ending, int | None, int | None]:
    """How the run ended, exit code, signal. Order: memory, disk, output, time, signal, exit status."""
    code, number = _split(seen.status)
    failed = bool(code or number)
    if seen.limit in ("memory-limit", "disk-limit"):
        return seen.limit, code, number
    aborted = number == signal.SIGABRT and _BAD_ALLOC.search(seen.stderr[-_LAST_WORDS:])
    if aborted or (failed and _says(_OUT_OF_MEMORY, seen.stderr)):
        return "memory-limit", code, number
    if number == signal.SIGXFSZ or (failed and _says(_OUT_OF_DISK, seen.stderr)):
        return "disk-limit", code, number
    if seen.too_much_output:
        return "output-limit", code, number
    if seen.limit is not None:
        return seen.limit, code, number
    return ("killed" if number is not None else "exited"), code, number


def _split(status: int | None) -> tuple[int | None, int | None]:
    if status is None:
        return None, None
    low = status & 0x7F
    return (status >> 8 & 0xFF, None) if low == 0 else (None, low)


def _says(pattern: re.Pattern[bytes], stderr: bytes) -> bool:
    """Whether the last traceback ended with such an exception; libraries may print more after it."""
    _, found, last = stderr.rpartition(b"Traceback (most recent call last):\n")
    if not found:
        return False
    return next((bool(pattern.match(line)) for line in last.splitlines() if line and line[:1] != b" "), False)
