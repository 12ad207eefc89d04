"""Load a compiled system call filter into the calling process, for it and all it will start."""

from __future__ import annotations

import ctypes

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_MODE_FILTER = 2
_INSTRUCTION = 8  # bytes


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def refuse(program: bytes) -> None:
    """Refuse what the filter refuses, without a way back; no privilege can be gained from here on either.

    Args:
        program: From `seccomp.program`.

    Raises:
        OSError: The kernel does not take it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused PR_SET_NO_NEW_PRIVS")
    filters = _Program(len(program) // _INSTRUCTION, program)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filters), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the system call filter")
