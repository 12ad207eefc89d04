"""Run a command where no namespace can be had: `deprived.py root|UID COMMAND...`.

Root loses CAP_SYS_ADMIN, and everybody gets a system call filter as containers have it: it refuses what makes
namespaces. Before that, in a mount namespace of its own, directories closed to others on the way to the interpreter and
to these tests are rebuilt, so that another user can come to them. Nothing of the machine is changed.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_NAMESPACES = 0x7E020000
_CAP_SYS_ADMIN = 21
_X86 = {"unshare": 272, "setns": 308, "clone3": 435, "clone": 56, "mount": 165}
_ARM = {"unshare": 97, "setns": 268, "clone3": 435, "clone": 220, "mount": 40}

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    who, command = sys.argv[1], sys.argv[2:]
    if os.geteuid() == 0:
        open_up()
        if who == "root":
            drop_sys_admin()
        else:
            os.setgroups([])
            os.setresgid(int(who), int(who), int(who))
            os.setresuid(int(who), int(who), int(who))
    refuse_namespaces()
    os.execvp(command[0], command)


def open_up() -> None:
    """Go where others can come to what the tests need."""
    os.unshare(os.CLONE_NEWNS)
    mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    open_ways([Path(sys.prefix), Path(sys.base_prefix).resolve(), ROOT])


def open_ways(needed: Iterable[Path]) -> None:
    """Put an open directory with nothing but the needed trees over each closed one on the way to them."""
    closed: dict[Path, list[Path]] = {}
    for path in needed:
        if (top := next((above for above in reversed(path.parents) if not others_may_pass(above)), None)) is not None:
            closed.setdefault(top, []).append(path)
    for top, paths in closed.items():
        trees = {path: os.open(path, os.O_PATH) for path in paths}
        mount("tmpfs", str(top), "tmpfs", 0, "mode=755")
        for path, tree in trees.items():
            path.mkdir(parents=True, mode=0o755, exist_ok=True)
            mount(f"/proc/self/fd/{tree}", str(path), None, _MS_BIND | _MS_REC)
            os.close(tree)


def others_may_pass(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def drop_sys_admin() -> None:
    assert libc.prctl(24, _CAP_SYS_ADMIN, 0, 0, 0) == 0, "PR_CAPBSET_DROP"
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for low in (0, 1, 2):
        sets[low] &= ~(1 << _CAP_SYS_ADMIN)
    assert libc.capset(header, sets) == 0


def refuse_namespaces() -> None:
    number = _X86 if os.uname().machine == "x86_64" else _ARM
    load, equal, any_bit, end = 0x20, 0x15, 0x45, 0x06
    refused, absent, allowed = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x7FFF0000
    code = [(load, 0, 0, 0)]
    for name in ("unshare", "setns", "mount"):
        code += [(equal, 0, 1, number[name]), (end, 0, 0, refused)]
    code += [(equal, 0, 1, number["clone3"]), (end, 0, 0, absent), (equal, 0, 3, number["clone"]), (load, 0, 0, 16)]
    code += [(any_bit, 0, 1, _NAMESPACES), (end, 0, 0, refused), (end, 0, 0, allowed)]
    program = b"".join(struct.pack("<HBBI", *step) for step in code)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    assert libc.prctl(38, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS"
    assert libc.prctl(22, 2, ctypes.byref(Program(len(code), program)), 0, 0) == 0, "PR_SET_SECCOMP"


if __name__ == "__main__":
    main()
