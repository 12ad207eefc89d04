"""Make what is loaded immortal: the interpreter then counts no references to it.

A count lies in the object itself. A copy of the process that did no more than look at an object would write to its
page, and so be given a page of its own: that costs more than most of what is done with the object.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from types import CodeType

# The lower half of a count says so where all of its bits are set, from Python 3.12 on.
_UNCOUNTED = 0xFFFFFFFF
_BYTES = 4
_ADDRESSES = 1 << 47


def make_immortal() -> None:
    """Do so with nearly all that there is, where the interpreter knows such objects and keeps counts as expected."""
    counted = sys.implementation.name == "cpython" and "t" not in sys.abiflags and sys.maxsize > _ADDRESSES
    if not counted or sys.version_info < (3, 12):
        return
    found = gc.get_objects()
    found += gc.get_referents(*found)
    parts = [part for code in found if type(code) is CodeType for part in (code.co_consts, code.co_names)]
    found += parts + gc.get_referents(*parts)  # which the collector does not look into
    memory = (ctypes.c_uint32 * (_ADDRESSES // _BYTES)).from_address(0)
    for address in set(map(id, found)):
        memory[address // _BYTES] = _UNCOUNTED
