"""What a script has in the host's /dev/shm, which it shares with everybody where it has no mounts of its own.

Files there carry no mark of the script that made them. Under an id that nobody else has, they are all that belong to
that id. Otherwise they are those that were not there before and that a process of the script was seen to use.
"""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH108, PTH115, PTH116, PTH123, PTH208, SIM105

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_toolgate.sandbox.inside.measure import Process

PLACE = "/dev/shm"  # noqa: S108
_BLOCK = 512  # bytes in a unit of st_blocks, by definition
_MOST_MAPPINGS = 1 << 20  # bytes of /proc/PID/maps that are looked at, some 10,000 lines
_PREFIX = PLACE.encode() + b"/"


class SharedMemory:
    """The files in /dev/shm that are the script's."""

    def __init__(self, *, own_id: bool) -> None:
        self.own_id = own_id
        self.before = {entry.inode() for entry in _entries()}
        self.names: set[str] = set()

    def look(self, processes: Iterable[Process]) -> None:
        """Take in what the processes use now."""
        if not self.own_id:
            self.names.update(name for process in processes for name in _used(process))

    def size(self) -> tuple[int, int]:
        """Bytes and number of the files."""
        sizes = [found.st_blocks * _BLOCK for _, found in self._ours()]
        return sum(sizes), len(sizes)

    def remove(self) -> None:
        """Remove them, once no process of the script is left."""
        for name, _ in list(self._ours()):
            try:
                os.unlink(f"{PLACE}/{name}")
            except OSError:
                pass

    def _ours(self) -> Iterator[tuple[str, os.stat_result]]:
        names = (entry.name for entry in _entries()) if self.own_id else sorted(self.names)
        for name in names:
            try:
                found = os.stat(f"{PLACE}/{name}", follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and found.st_ino not in self.before:
                yield name, found


def _entries() -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(PLACE) as entries:
            yield from entries
    except OSError:
        return


def _used(process: Process) -> Iterator[str]:
    """Names of the files there that a process has open or mapped."""
    folder = f"/proc/{process.threads[0]}/fd"
    try:
        links = [os.readlink(f"{folder}/{number}") for number in os.listdir(folder)]
    except OSError:
        links = []
    try:
        with open(f"/proc/{process.threads[0]}/maps", "rb") as stream:
            text = stream.read(_MOST_MAPPINGS)
    except OSError:
        text = b""
    mapped = [os.fsdecode(line[line.index(_PREFIX) :]) for line in text.splitlines() if b" " + _PREFIX in line]
    for path in (*links, *mapped):
        name = path[len(PLACE) + 1 :]
        if path.startswith(f"{PLACE}/") and "/" not in name:
            yield name
