"""Measure what the processes of the sandbox use: memory, files, and what of both is hidden."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import os
import signal
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_DEEPEST = 100  # directories within directories; deeper ones are made to hide something
_BLOCK = 512  # bytes in a unit of st_blocks, by definition
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Samples what the processes use and remembers the peaks."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.peak_memory = 0
        self.peak_disk = 0
        self.next_walk = 0.0
        self.work = os.open(task["work"], os.O_RDONLY | os.O_DIRECTORY)

    def sample(self) -> str | None:
        """The limit that is exceeded now, or None."""
        processes = running()
        self.measure_memory(processes)
        if self.peak_memory > self.task["memory"]:
            return "memory-limit"
        # A walk through a large workspace must not become the load it watches for.
        now = time.monotonic()
        if now >= self.next_walk:
            self.measure_disk(processes)
            self.next_walk = time.monotonic() + 20 * (time.monotonic() - now)
        return "disk-limit" if self.peak_disk > self.task["disk"] else None

    def measure_memory(self, processes: Iterable[str]) -> None:
        """Take the tree's resident memory into the peak, pages shared by several processes counted once."""
        resident = {pid: resident_size(pid) for pid in processes}
        largest = max(resident.values(), default=0)
        if largest > self.task["memory"]:
            self.peak_memory = max(self.peak_memory, largest)
        # The proportional size is exact for forks that share pages, but dearer; it is never the larger one.
        elif sum(resident.values()) > self.peak_memory:
            total = sum(proportional_size(pid, size) for pid, size in resident.items())
            self.peak_memory = max(self.peak_memory, total)

    def measure_disk(self, processes: Iterable[str] = ()) -> None:
        """Take everything written into the peak; more entries than allowed count as too many bytes."""
        total = 0
        entries = 0
        for place in self.task["writable"]:
            room = os.statvfs(place)
            total += (room.f_blocks - room.f_bfree) * room.f_frsize
            entries += room.f_files - room.f_ffree
        if self.task["walk"]:
            size, count = walk(self.work, self.task["entries"])
            total += size + unlinked(processes, os.fstat(self.work).st_dev)
            entries += count
        if entries > self.task["entries"]:
            total = max(total, self.task["disk"] + 1)  # a flood of empty files fills a disk too
        self.peak_disk = max(self.peak_disk, total)


def running() -> list[str]:
    """Every process but the supervisor."""
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def resident_size(pid: str) -> int:
    """Bytes, shared pages included; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/statm") as stream:
            return int(stream.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def proportional_size(pid: str, otherwise: int) -> int:
    """Bytes, each shared page divided among its users; `otherwise` where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as stream:
            for line in stream:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return otherwise


def walk(folder: int, most: int, depth: int = 0) -> tuple[int, int]:
    """Bytes and number of the entries below an open directory, links not followed; stops after `most`."""
    size = 0
    count = 0
    for entry in listing(folder):
        count += 1
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # it went meanwhile
        size += found.st_blocks * _BLOCK
        if stat.S_ISDIR(found.st_mode):
            if depth == _DEEPEST:
                return size, most + 1
            more, further = walk_into(entry.name, folder, most - count, depth + 1)
            size += more
            count += further
        if count > most:
            break
    return size, count


def listing(folder: int) -> Iterator[os.DirEntry[str]]:
    """The entries of an open directory, also of one that was locked to hide them: we are its owner."""
    if os.fstat(folder).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        try:
            os.fchmod(folder, 0o700)
        except OSError:
            return
    with os.scandir(folder) as entries:
        yield from entries


def walk_into(name: str, parent: int, most: int, depth: int) -> tuple[int, int]:
    """Walk a directory by its name in an open one: there is no path that a script could block or lengthen."""
    for _ in range(2):
        try:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        except PermissionError:
            try:
                os.chmod(name, 0o700, dir_fd=parent)
            except OSError:
                return 0, 0
            continue
        except OSError:
            return 0, 0
        try:
            return walk(folder, most, depth)
        finally:
            os.close(folder)
    return 0, 0


def unlinked(processes: Iterable[str], device: int) -> int:
    """Bytes of files that are open but have no name any more, which no walk can find."""
    found: dict[int, int] = {}
    for pid in processes:
        folder = f"/proc/{pid}/fd"
        try:
            numbers = os.listdir(folder)
        except PermissionError:
            os.kill(int(pid), signal.SIGKILL)  # it made itself unreadable, so it could hold any amount
            continue
        except OSError:
            continue
        for number in numbers:
            try:
                entry = os.stat(folder + "/" + number)
            except OSError:
                continue
            if entry.st_nlink == 0 and entry.st_dev == device and stat.S_ISREG(entry.st_mode):
                found[entry.st_ino] = entry.st_blocks * _BLOCK
    return sum(found.values())
