"""Confine the calling process with what needs no namespace: Landlock, a system call filter, no privilege ever again."""

from __future__ import annotations

import ctypes
import os
import stat

from pytest_toolgate.sandbox.inside import capabilities
from pytest_toolgate.sandbox.inside.refuse import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Of <linux/landlock.h>. The numbers of the calls are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = 1, 2, 4, 8, 16, 32
_MAKE_DIR, _MAKE_REG, _MAKE_FIFO, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 10, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_EVERYTHING = (1 << 16) - 1  # device nodes, sockets and ioctl of devices too, which nobody is granted
_BIND_AND_CONNECT = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_READ = _EXECUTE | _READ_FILE | _READ_DIR
_CHANGE = _WRITE_FILE | _REMOVE_FILE | _MAKE_REG | _TRUNCATE
# What a kind of grant in `profile.grants` allows.
_RIGHTS = {
    "read": _READ,
    "device": _READ_FILE | _WRITE_FILE,
    "write": _READ | _CHANGE | _REMOVE_DIR | _MAKE_DIR | _MAKE_FIFO | _MAKE_SYM | _REFER,
    "share": _READ_FILE | _CHANGE,  # not listed: what others have there is found only by those who know its name
    "note": _WRITE_FILE | _MAKE_REG,
}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

_PR_SET_NO_NEW_PRIVS = 38


class _Handled(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def confine(task: Mapping[str, Any]) -> None:
    """Confine the calling process as far as the task says, without a way back.

    Raises:
        OSError: The kernel refuses.
    """
    # In every tier: a program that gains privileges could not be ended any more.
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    if task["grants"] is not None:
        capabilities.give_up()
        restrict(task["grants"])
        refuse(task["refused"])


def landlock_abi() -> int:
    """The version of Landlock that this kernel has.

    Raises:
        OSError: It has none, or does not say.
    """
    abi: int = _libc().syscall(_CREATE_RULESET, None, 0, 1)
    _check(abi, "the version of Landlock")
    return abi


def restrict(grants: Mapping[str, Sequence[str]]) -> None:
    """Leave the process nothing of the file system but the grants, no TCP, and no signal to anybody outside.

    Raises:
        OSError: The kernel refuses, or has not all of it.
    """
    libc = _libc()
    handled = _Handled(_EVERYTHING, _BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(handled), ctypes.sizeof(handled), 0)
    _check(rules, "landlock_create_ruleset")
    try:
        for kind, paths in grants.items():
            for path in paths:
                _grant(libc, rules, path, _RIGHTS[kind])
        _check(libc.syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)


def _grant(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        found = os.open(path, os.O_PATH)
    except FileNotFoundError:
        return  # not every system has everything
    try:
        if not stat.S_ISDIR(os.fstat(found).st_mode):
            rights &= _OF_FILES
        beneath = _Beneath(rights, found)
        _check(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(beneath), 0), f"a Landlock rule for {path}")
    finally:
        os.close(found)


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"the kernel refused {what}: {os.strerror(ctypes.get_errno())}")
