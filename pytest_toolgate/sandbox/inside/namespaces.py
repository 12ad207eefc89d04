"""Namespaces of a script's own within the sandbox that its process was born in, as bubblewrap made for that."""
# pathlib would cost more than all that is done here.
# ruff: noqa: PTH110, PTH123

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
# mount, cgroup, uts, ipc, pid and net namespaces, and that of users; Python has names for them from 3.12 on only.
_SPACES, _NEWUSER = 0x6E020000, 0x10000000
_PIDFD, _SIGCHLD = 0x1000, 17
_CLONE = {"x86_64": 56, "aarch64": 220}
# What is written there by root concerns the whole machine.
_OF_THE_MACHINE = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
# Keeps the interpreter to itself during the call, from which two processes return.
_clone = ctypes.PyDLL(None, use_errno=True).syscall
_clone.restype = ctypes.c_long
_clone.argtypes = (ctypes.c_long, ctypes.c_ulong, *[ctypes.c_void_p] * 4)


def fork_away(*, as_root: bool) -> int:
    """Fork a child that is the first process in namespaces of its own; 0 in the child, its pidfd in the parent.

    One call of the kernel, where leaving and then forking would take a process more, as large as this one. The child
    has to be told nothing that `os.fork` would tell it: there is one thread, and what the child forks is told.

    Raises:
        OSError: The kernel refuses.
    """
    pidfd = ctypes.c_int(-1)
    flags = (_SPACES if as_root else _SPACES | _NEWUSER) | _PIDFD | _SIGCHLD
    child = _clone(_CLONE[os.uname().machine], flags, None, ctypes.addressof(pidfd), None, None)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return pidfd.value if child else 0


def keep_identity(own: tuple[int, int]) -> None:
    """Be the same user and group in a new user namespace as outside.

    An ordinary user gets such a namespace as it gives the right to the others, and has a count of processes of its own.
    """
    for file, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{own[0]} {own[0]} 1"),
        ("gid_map", f"{own[1]} {own[1]} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as stream:
            stream.write(line)


def furnish(
    rooms: Sequence[tuple[str, str, int]],
    shown: Sequence[str],
    folders: Mapping[str, str],
    files: Mapping[str, str],
    *,
    as_root: bool,
) -> None:
    """Cover what belongs to the sandbox as a whole with what belongs to one script.

    Args:
        rooms: Writable places: path, mode (octal), largest size in bytes.
        shown: Directories and links in them that stay visible: an interpreter may live in one, or be named by one.
        folders: Directories made in them: path -> mode.
        files: Read-only files: path -> content; each replaces a file of the sandbox.
        as_root: Whether the machine's own settings have to be kept from being written.
    """
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    held = rooms[0][0]
    _room(held, "0700", 1 << 20)
    sources = {}
    for number, (path, content) in enumerate(files.items()):
        sources[path] = f"{held}/{number}"
        with open(sources[path], "w") as stream:
            stream.write(content)
        os.chmod(sources[path], 0o444)  # noqa: PTH101
    for path, source in sources.items():
        _mount(source, path, None, _MS_BIND)
        _lock(path)
    links = {path: os.readlink(path) for path in shown if os.path.islink(path)}  # noqa: PTH114, PTH115
    still = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in shown if path not in links}
    for place, mode, size in rooms:
        _room(place, mode, size)
    for path, descriptor in still.items():
        os.mkdir(path)  # noqa: PTH102
        _mount(f"/proc/self/fd/{descriptor}", path, None, _MS_BIND | _MS_REC)
        os.close(descriptor)
    for path, target in links.items():
        os.symlink(target, path)  # noqa: PTH211
    for path, mode in folders.items():
        os.mkdir(path)  # noqa: PTH102
        os.chmod(path, int(mode, 8))  # noqa: PTH101
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    for path in _OF_THE_MACHINE if as_root else ():
        if os.path.exists(path):
            _mount(path, path, None, _MS_BIND | _MS_REC)
            _lock(path)


def _room(place: str, mode: str, size: int) -> None:
    _mount("tmpfs", place, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode={mode},size={size}")


def _lock(path: str) -> None:
    _mount("none", path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    given = [None if text is None else text.encode() for text in (source, target, kind, data)]
    if _libc.mount(given[0], given[1], given[2], flags, given[3]) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)
