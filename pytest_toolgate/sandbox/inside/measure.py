"""Measure what the processes of the sandbox use: memory, files, and what of both is hidden."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH116, PTH123, PTH208, SIM105

from __future__ import annotations

import os
import re
import signal
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_DEEPEST = 100  # directories within directories; deeper ones are made to hide something
_ATTEMPTS = 4  # at what is locked; what is locked again each time is made to hide something
_BLOCK = 512  # bytes in a unit of st_blocks, by definition
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LONGEST_PAUSE = 0.5  # seconds between two walks, however long they take
_MOST_MAPPINGS = 4 << 20  # bytes of /proc/PID/maps, some 40,000 lines; more are made to hide something


class Process:
    """One that holds memory: not yet a zombie, though its first thread, the one that bears its id, may be."""

    def __init__(self, pid: str, threads: list[str], resident: int) -> None:
        self.pid = pid
        self.threads = threads
        self.resident = resident


class Watch:
    """Samples what the processes use and remembers the peaks."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.peak_memory = 0
        self.peak_disk = 0
        self.disk = 0
        self.next_walk = 0.0
        self.work = os.open(task["work"], os.O_RDONLY | os.O_DIRECTORY)
        self.free_before = self.free = free_space(self.work)
        self.deleted = re.compile(
            rb"^([0-9a-f]+)-([0-9a-f]+) .{4} ([0-9a-f]+) \S+ (\d+) +%b/.* \(deleted\)$"
            % re.escape(os.fsencode(task["work"])),
            re.MULTILINE,
        )

    def sample(self) -> str | None:
        """The limit that is exceeded now, or None."""
        processes = running()
        self.measure_memory(processes)
        if self.peak_memory > self.task["memory"]:
            return "memory-limit"
        # A walk through a large workspace must not become the load it watches for, unless much is being written.
        now = time.monotonic()
        if now >= self.next_walk or self.free - free_space(self.work) > self.task["disk"] - self.disk:
            self.measure_disk(processes)
            ended = time.monotonic()
            self.next_walk = ended + min(20 * (ended - now), _LONGEST_PAUSE)
        return "disk-limit" if self.peak_disk > self.task["disk"] else None

    def measure_memory(self, processes: Iterable[Process]) -> None:
        """Take the tree's resident memory into the peak, pages shared by several processes counted once."""
        largest = max((process.resident for process in processes), default=0)
        if largest > self.task["memory"]:
            self.peak_memory = max(self.peak_memory, largest)
        # The proportional size is exact for forks that share pages, but dearer; it is never the larger one.
        elif sum(process.resident for process in processes) > self.peak_memory:
            total = sum(map(proportional_size, processes))
            self.peak_memory = max(self.peak_memory, total)

    def measure_disk(self, processes: Iterable[Process] = ()) -> None:
        """Take everything written into the peak; more entries than allowed count as too many bytes."""
        total = 0
        entries = 0
        for place in self.task["writable"]:
            room = os.statvfs(place)
            total += (room.f_blocks - room.f_bfree) * room.f_frsize
            entries += room.f_files - room.f_ffree
        if self.task["walk"]:
            self.free = free_space(self.work)
            size, count = walk(self.work, self.task["entries"])
            total += size + self.measure_unlinked(processes)
            entries += count
        if entries > self.task["entries"]:
            total = max(total, self.task["disk"] + 1)  # a flood of empty files fills a disk too
        self.disk = total
        self.peak_disk = max(self.peak_disk, total)

    def measure_unlinked(self, processes: Iterable[Process]) -> int:
        """Bytes of files in the workspace that are in use but have no name any more, which no walk can find."""
        device = os.fstat(self.work).st_dev
        opened: dict[int, int] = {}
        mapped: dict[int, int] = {}
        for process in processes:
            try:
                for thread in process.threads:  # each may have descriptors of its own
                    opened.update(unlinked(thread, device))
                for start, end, offset, inode in self.deleted.findall(mappings(process.threads[0])):
                    last = int(offset, 16) + int(end, 16) - int(start, 16)
                    mapped[int(inode)] = max(mapped.get(int(inode), 0), last)
            except PermissionError:
                end_hidden(process)
        closed = [size for inode, size in mapped.items() if inode not in opened]
        size = sum(opened.values()) + sum(closed)
        # Of a file that is mapped only, no more than the mapping can be seen; what it lies on tells of the rest.
        fallen = self.free_before - self.free
        return max(size, fallen) if closed and fallen > self.task["disk"] else size


def running() -> list[Process]:
    """Every process but the supervisor."""
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit() and pid != "1":
            sizes = {thread: resident_size(thread) for thread in threads(pid)}
            living = [thread for thread, size in sizes.items() if size]
            if living:
                found.append(Process(pid, living, max(sizes.values())))
    return found


def threads(pid: str) -> list[str]:
    """Their ids, under which /proc shows them too."""
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def resident_size(thread: str) -> int:
    """Bytes, shared pages included; 0 when it has ended."""
    try:
        with open(f"/proc/{thread}/statm") as stream:
            return int(stream.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def free_space(folder: int) -> int:
    """Bytes left to a user on the file system of an open directory."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def proportional_size(process: Process) -> int:
    """Bytes, each shared page divided among its users; all of them where the kernel does not say."""
    try:
        with open(f"/proc/{process.threads[0]}/smaps_rollup") as stream:
            for line in stream:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return max(map(resident_size, process.threads))  # now: nothing if it has ended meanwhile


def walk(folder: int, most: int, depth: int = 0) -> tuple[int, int]:
    """Bytes and number of the entries below an open directory, links not followed; stops after `most`."""
    size = 0
    count = 0
    for entry in listing(folder):
        count += 1
        try:
            found = status(entry, folder)
        except PermissionError:
            return size, most + 1
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


def status(entry: os.DirEntry[str], folder: int) -> os.stat_result:
    """Of an entry of an open directory; one that a script keeps locking to hide what is in it is a PermissionError."""
    for _ in range(_ATTEMPTS):
        try:
            return entry.stat(follow_symlinks=False)
        except PermissionError:
            os.fchmod(folder, 0o700)
    return entry.stat(follow_symlinks=False)


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
    for _ in range(_ATTEMPTS):
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
    return 0, most + 1


def unlinked(thread: str, device: int) -> dict[int, int]:
    """Inode and bytes of the nameless files on the device that a thread has open."""
    found: dict[int, int] = {}
    folder = f"/proc/{thread}/fd"
    try:
        numbers = os.listdir(folder)
    except PermissionError:
        raise
    except OSError:
        return found
    for number in numbers:
        try:
            entry = os.stat(folder + "/" + number)
        except OSError:
            continue
        if entry.st_nlink == 0 and entry.st_dev == device and stat.S_ISREG(entry.st_mode):
            found[entry.st_ino] = entry.st_blocks * _BLOCK
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


def end_hidden(process: Process) -> None:
    """Kill a process that made itself unreadable, so that it could hold any amount; an ended one is so too."""
    if any(map(resident_size, process.threads)):
        try:
            os.kill(int(process.pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
