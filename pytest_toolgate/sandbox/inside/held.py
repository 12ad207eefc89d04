"""What processes hold of files that no directory names: opened, executed, mapped, or on the way through a socket."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import os
import stat

from pytest_toolgate.sandbox.inside.walk import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_MAPPINGS = 4 << 20  # bytes of /proc/PID/maps, some 40,000 lines; more are made to hide something
_IN_FLIGHT = b"scm_fds:"


def unlinked(thread: str, devices: set[int]) -> dict[int, int]:
    """Inode and bytes of the nameless files on the devices that a thread has open or executes."""
    found: dict[int, int] = {}
    folder = f"/proc/{thread}/fd"
    try:
        numbers = os.listdir(folder)
    except PermissionError:
        raise
    except OSError:
        return found
    for path in (f"/proc/{thread}/exe", *(f"{folder}/{number}" for number in numbers)):
        try:
            entry = os.stat(path)
        except OSError:
            continue
        if entry.st_nlink == 0 and entry.st_dev in devices and stat.S_ISREG(entry.st_mode):
            found[entry.st_ino] = entry.st_blocks * BLOCK
    return found


def mappings(thread: str) -> bytes:
    """What its process has mapped, in the kernel's words."""
    try:
        with open(f"/proc/{thread}/maps", "rb") as stream:
            text = stream.read(_MOST_MAPPINGS)
    except PermissionError:
        raise
    except OSError:
        return b""
    if len(text) == _MOST_MAPPINGS:
        raise PermissionError("there are too many to read.")
    return text


def in_flight(threads: Iterable[str]) -> bool:
    """Whether a socket of theirs holds descriptors that nobody has received; true where the kernel does not tell."""
    return not _told() or any(_carries(thread) for thread in threads)


def _told() -> bool:
    """Linux tells since 5.6."""
    import _socket  # only agents need it

    one, other = _socket.socketpair()
    told = _IN_FLIGHT in _description("self", str(one.fileno()))
    one.close()
    other.close()
    return told


def _carries(thread: str) -> bool:
    try:
        numbers = os.listdir(f"/proc/{thread}/fdinfo")
    except OSError:
        return False  # it has ended
    counts = (_description(thread, number).partition(_IN_FLIGHT)[2].split(maxsplit=1)[:1] for number in numbers)
    return any(count not in ([], [b"0"]) for count in counts)


def _description(thread: str, number: str) -> bytes:
    try:
        with open(f"/proc/{thread}/fdinfo/{number}", "rb") as stream:
            return stream.read()
    except OSError:
        return b""
