"""Taking turns among all processes of the machine; the kernel ends the turn of one that dies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone among all that name this file, which is made where it is missing and holds nothing."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
