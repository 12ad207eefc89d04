"""Give up capabilities, those of a user namespace included, in two steps: between them an identity may be changed."""

from __future__ import annotations

import ctypes
import os

_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_VERSION = 0x20080522  # of the interface: 64 capabilities, in two halves of three sets


def bound() -> None:
    """See to it that no program started from here on can be given any."""
    libc = ctypes.CDLL(None)
    capability = 0
    while libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1


def give_up() -> None:
    """Have none left, and none to hand down.

    Raises:
        OSError: The kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    if libc.capset((ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), f"the kernel refused capset: {os.strerror(ctypes.get_errno())}")
