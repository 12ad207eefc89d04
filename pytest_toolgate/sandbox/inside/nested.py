"""What is written where only sandboxes within ours have it mounted, which is memory that no process answers for."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH115, PTH116, PTH123, PTH208

from __future__ import annotations

import ctypes
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_toolgate.sandbox.inside.measure import Process

_MOST_MOUNTS = 1 << 20  # bytes of /proc/PID/mountinfo, some 8,000 lines; more are made to hide something
_PATIENCE = 2.0  # seconds; while a sandbox is made, what was mounted first may be covered for a moment
_TMPFS = 0x01021994
_RAMFS, _OVERLAY = 0x858458F6, 0x794C7630
_PAGE = os.sysconf("SC_PAGE_SIZE")
_HALF = os.sysconf("SC_PHYS_PAGES") // 2  # pages that a file system in memory may have if nothing is said
_USTAT = {"x86_64": 136}.get(os.uname().machine)
# What a user may mount without writing anything into it.
_HARMLESS = ("proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2")
_OUT_OF_REACH = "file systems of its own whose size cannot be told"


class Within:
    """Measures the file systems in memory that processes have mounted, or hold after they were unmounted.

    `size` is in bytes; `excess` says in words what cannot be measured for so long that it must end, or is empty.
    """

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        self.statfs, self.syscall = libc.fstatfs, libc.syscall
        ours = list(mounts("self"))
        self.ours = {device for device, *_ in ours}
        self.nameless = {(device, root) for device, root, *_ in ours}
        self.namespaces = os.stat("/proc/self/ns/mnt").st_dev
        self.unmeasured: dict[object, float] = {}
        self.size = 0
        self.entries = 0
        self.excess = ""

    def look(self, processes: Iterable[Process]) -> list[Process]:
        """Take everything anew; those that keep from us what they have mounted."""
        rooms: dict[int, tuple[int, int]] = {}
        looked_into: set[int] = set()
        missing: set[object] = set()
        hidden = []
        for process in processes:
            try:
                for thread in process.threads:  # each may live elsewhere
                    missing |= self.look_at(thread, looked_into, rooms)
            except PermissionError:
                hidden.append(process)
        missing -= rooms.keys() | looked_into
        now = time.monotonic()
        self.unmeasured = {what: self.unmeasured.get(what, now) for what in missing}
        if any(now - since > _PATIENCE for since in self.unmeasured.values()):
            self.excess = _OUT_OF_REACH
        self.size = sum(size for size, _ in rooms.values())
        self.entries = sum(count for _, count in rooms.values())
        return hidden

    def look_at(self, thread: str, looked_into: set[int], rooms: dict[int, tuple[int, int]]) -> set[object]:
        """Measure what a thread has mounted or holds; what could not be measured."""
        try:
            namespace = os.stat(f"/proc/{thread}/ns/mnt").st_ino
            missing = self.held(thread, rooms)
            if namespace not in looked_into:
                looked_into.add(namespace)
                missing |= self.mounted(thread, rooms)
        except PermissionError:
            raise
        except OSError:
            return set()  # it has ended
        return missing

    def mounted(self, thread: str, rooms: dict[int, tuple[int, int]]) -> set[object]:
        """Measure what is mounted where a thread lives; the devices that could not be."""
        missing: set[object] = set()
        for device, root, place, kind, options in mounts(thread):
            if device in self.ours:
                if root.endswith(b"//deleted") and (device, root) not in self.nameless:
                    missing.add((device, root))  # a file without a name, held by being mounted
            elif kind == "tmpfs":
                self.measure(os.fsencode(f"/proc/{thread}/root") + place, rooms)
                if device not in rooms and not self.measure_covered(device, options, rooms):
                    missing.add(device)
            elif kind not in _HARMLESS:
                missing.add(kind)
        return missing

    def held(self, thread: str, rooms: dict[int, tuple[int, int]]) -> set[object]:
        """Measure what a thread has a file or its directory in; the devices and namespaces that could not be."""
        missing: set[object] = set()
        folder = f"/proc/{thread}/fd"
        known = self.ours | rooms.keys()
        for path in (f"/proc/{thread}/cwd", *(f"{folder}/{number}" for number in os.listdir(folder))):
            try:
                found = os.stat(path)
                if found.st_dev == self.namespaces and os.readlink(path).startswith("mnt:"):
                    missing.add(found.st_ino)
            except OSError:
                continue
            if found.st_dev not in known:
                known.add(found.st_dev)
                if self.measure(os.fsencode(path), rooms) in (_RAMFS, _OVERLAY):
                    missing.add(found.st_dev)
        return missing

    def measure(self, path: bytes, rooms: dict[int, tuple[int, int]]) -> int:
        """Note what a file system in memory holds, if the path still leads into one; its kind."""
        try:
            place = os.open(path, os.O_PATH)
        except OSError:
            return 0
        fields = (ctypes.c_ulong * 64)()
        kind = int(fields[0]) if self.statfs(place, fields) == 0 else 0
        room = os.fstatvfs(place)
        if kind == _TMPFS and room.f_blocks and room.f_files:  # else it has no limit, and the kernel does not tell
            rooms[os.fstat(place).st_dev] = (room.f_blocks - room.f_bfree) * room.f_frsize, room.f_files - room.f_ffree
        os.close(place)
        return kind

    def measure_covered(self, device: int, options: str, rooms: dict[int, tuple[int, int]]) -> bool:
        """The same by its number, where no path leads, as when another is mounted above it; whether it has a limit.

        Codex's own sandbox has such. The kernel tells what is left, and what there was if it is not half the memory.
        """
        if _USTAT is None:
            return True  # cannot be told
        given = dict(option.partition("=")[::2] for option in options.split(","))
        blocks = int(given["size"].rstrip("k")) * 1024 // _PAGE if "size" in given else _HALF
        left = (ctypes.c_int * 8)()
        if not blocks or self.syscall(_USTAT, ctypes.c_uint(device), left) != 0:
            return False
        rooms[device] = max(0, blocks - left[0]) * _PAGE, 0
        return True


def mounts(thread: str) -> Iterator[tuple[int, bytes, bytes, str, str]]:
    """Device, root in it, place, kind and options of all that is mounted where a thread lives."""
    with open(f"/proc/{thread}/mountinfo", "rb") as stream:
        text = stream.read(_MOST_MOUNTS)
    if len(text) == _MOST_MOUNTS:
        raise PermissionError("there are too many to read.")
    for line in text.splitlines():
        before, _, after = line.partition(b" - ")
        _, _, device, root, place, *_ = before.split(b" ")
        major, _, minor = device.partition(b":")
        plain = place.decode("unicode_escape").encode("latin-1")  # blanks are written as \040
        yield (
            os.makedev(int(major), int(minor)),
            root,
            plain,
            after.split(b" ")[0].decode(),
            after.split(b" ")[-1].decode("latin-1"),
        )
