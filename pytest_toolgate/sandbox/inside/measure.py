"""Measure what the processes of the sandbox use: memory, files, and what of both is hidden."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH123, PTH208, SIM105

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import time

from pytest_toolgate.sandbox.inside import tree
from pytest_toolgate.sandbox.inside.held import in_flight, mappings, unlinked
from pytest_toolgate.sandbox.inside.shared_memory import SharedMemory
from pytest_toolgate.sandbox.inside.walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence
    from typing import Any

    from pytest_toolgate.sandbox.inside.nested import Within

_PAGE = os.sysconf("SC_PAGE_SIZE")
_LONGEST_PAUSE = 0.5  # seconds between two walks, however long they take, and between two looks at what is shared
_MOST_LOCKS = 256 << 10  # bytes of /proc/locks, some 4,500 lines; the kernel has no limit, and memory for each


def _deleted(walked: list[str]) -> re.Pattern[bytes]:
    """Finds, in what a process has mapped, the files in these directories that have no name any more."""
    import re  # dear, and only of use to those who walk

    places = b"|".join(re.escape(os.fsencode(path)) for path in walked)
    return re.compile(
        rb"^([0-9a-f]+)-([0-9a-f]+) .{4} ([0-9a-f]+) \S+ (\d+) +(?:%b)/.* \(deleted\)$" % places, re.MULTILINE
    )


def _within() -> Within:
    from pytest_toolgate.sandbox.inside.nested import Within  # only few agents need it

    return Within()


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
        self.peak_entries = 0
        self.disk = 0
        self.excess = ""
        self.next_walk = 0.0
        self.next_sharing = 0.0
        self.walked = [os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in task["walked"]]
        self.free_before = self.free = free_space(self.walked)
        self.deleted = _deleted(task["walked"]) if task["walked"] else None
        self.within = _within() if task["nested"] else None
        # Where nothing is mounted for the script, it has the host's.
        self.shared = None if task["own_space"] else SharedMemory(own_id=task["unused_id"] is not None)

    def sample(self) -> str | None:
        """The limit that is exceeded now, or None."""
        processes = running()
        for process in processes:
            first_in_line(process)
        # Where the kernel does not keep count for this script alone, and of what it keeps no count at all.
        if sum(len(process.threads) for process in processes) > self.task["processes"]:
            self.excess = f"more than {self.task['processes']} processes and threads"
        elif too_many_locks():
            self.excess = "some 4,500 locks on files"
        if self.excess:
            tree.kill_all()
        self.measure_memory(processes)
        if self.peak_memory > self.task["memory"]:
            return "memory-limit"
        # A walk through a large workspace must not become the load it watches for, unless much is being written.
        now = time.monotonic()
        if now >= self.next_walk or self.free - free_space(self.walked) > self.task["disk"] - self.disk:
            self.measure_disk(processes)
            ended = time.monotonic()
            self.next_walk = ended + min(20 * (ended - now), _LONGEST_PAUSE)
        return "disk-limit" if self.overfull() else None

    def overfull(self) -> bool:
        """Whether more was written than is allowed; a flood of empty files fills a disk too."""
        return bool(self.peak_disk > self.task["disk"] or self.peak_entries > self.task["entries"])

    def measure_memory(self, processes: Sequence[Process]) -> None:
        """Take the tree's resident memory into the peak, pages shared by several processes counted once."""
        sizes = [process.resident for process in processes]
        largest, total = max(sizes, default=0), sum(sizes)
        now = time.monotonic()
        if len(sizes) == 1 or largest > self.task["memory"]:
            self.peak_memory = max(self.peak_memory, largest)
        # The proportional size is exact for forks that share pages, but dearer; it is never the larger one.
        elif total > self.task["memory"] or (total > self.peak_memory and now >= self.next_sharing):
            self.peak_memory = max(self.peak_memory, sum(map(proportional_size, processes)))
            self.next_sharing = now + _LONGEST_PAUSE

    def measure_disk(self, processes: Iterable[Process] = ()) -> None:
        """Take everything written into the peaks."""
        total = 0
        entries = 0
        for place in self.task["writable"]:
            room = os.statvfs(place)
            total += (room.f_blocks - room.f_bfree) * room.f_frsize
            entries += room.f_files - room.f_ffree
        self.free = free_space(self.walked)
        for place in self.walked:
            size, count = walk(place, self.task["entries"])
            total += size
            entries += count
        if self.walked:
            total += self.measure_unlinked(processes)
        if self.within is not None:
            for process in self.within.look(processes):
                end_hidden(process)
            total += self.within.size
            entries += self.within.entries
            self.excess = self.excess or self.within.excess
        if self.shared is not None:
            self.shared.look(processes)
            size, count = self.shared.size()
            total += size
            entries += count
        self.disk = total
        self.peak_entries = max(self.peak_entries, entries)
        self.peak_disk = max(self.peak_disk, total)

    def measure_unlinked(self, processes: Iterable[Process]) -> int:
        """Bytes of files in the workspace that are in use but have no name any more, which no walk can find."""
        devices = {os.fstat(place).st_dev for place in self.walked}
        opened: dict[int, int] = {}
        mapped: dict[int, int] = {}
        for process in processes:
            try:
                for thread in process.threads:  # each may have descriptors of its own
                    opened.update(unlinked(thread, devices))
                found = self.deleted.findall(mappings(process.threads[0])) if self.deleted else ()
                for start, end, offset, inode in found:
                    last = int(offset, 16) + int(end, 16) - int(start, 16)
                    mapped[int(inode)] = max(mapped.get(int(inode), 0), last)
            except PermissionError:
                end_hidden(process)
        closed = [size for inode, size in mapped.items() if inode not in opened]
        size = sum(opened.values()) + sum(closed)
        # Of a file that is mapped only, no more than the mapping can be seen, and nothing of one on its way through a
        # socket; what they lie on tells of the rest. Others write there too, so it is not asked without cause.
        fallen = self.free_before - self.free
        if fallen <= self.task["disk"]:
            return size
        sockets = self.task["door"] is not None
        hidden = closed or (sockets and in_flight(thread for process in processes for thread in process.threads))
        return max(size, fallen) if hidden else size

    def forget(self) -> None:
        """Remove what the script, of which nothing runs any more, would leave in memory."""
        if self.shared is not None:
            self.shared.remove()


def running() -> list[Process]:
    """Every process but the supervisor."""
    found = []
    for pid in tree.members():
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


def first_in_line(process: Process) -> None:
    """When the machine runs out of memory, the script is to go first, whatever it says itself."""
    try:
        with open(f"/proc/{process.pid}/oom_score_adj", "w") as stream:
            stream.write("1000")
    except OSError:
        pass  # it has ended


def too_many_locks() -> bool:
    """Whether the script holds more locks of files than any program needs; in a space of its own it sees no others."""
    if not tree.own_space():
        return False
    with open("/proc/locks", "rb") as stream:
        return len(stream.read(_MOST_LOCKS)) == _MOST_LOCKS


def resident_size(thread: str) -> int:
    """Bytes, shared pages included; 0 when it has ended."""
    try:
        with open(f"/proc/{thread}/statm") as stream:
            return int(stream.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def free_space(folders: Iterable[int]) -> int:
    """Bytes left to a user on the file systems of open directories."""
    rooms = {os.fstat(folder).st_dev: os.statvfs(folder) for folder in folders}
    return sum(room.f_bavail * room.f_frsize for room in rooms.values())


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


def end_hidden(process: Process) -> None:
    """Kill a process that made itself unreadable, so that it could hold any amount; an ended one is so too."""
    if any(map(resident_size, process.threads)):
        try:
            os.kill(int(process.pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
