"""Make a forked copy of the supervisor a process of the script's own: streams, limits, and then its Python."""
# ruff: noqa: PTH123

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FAILED = 3  # the descriptor on which the copy that becomes the script says why it could not
PR_SET_DUMPABLE = 4


def become_script(task: dict[str, Any], out: int, err: int, failed: int) -> None:
    """Make the forked copy a process of the script's: streams and limits of its own."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    # Our /proc entries are root's while we are not dumpable, and execve makes the script dumpable anyway.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(failed, FAILED, inheritable=False)
    os.closerange(FAILED + 1, 65536)
    for name, limit in task["rlimits"].items():
        set_limit(getattr(resource, name), limit)
    if not task["own_space"]:
        from pytest_toolgate.sandbox.inside.confine import confine

        confine(task)


def execute(task: dict[str, Any], failed: int) -> None:
    """Become the script by starting its Python; that closes `failed`, which tells the supervisor so."""
    os.execve(task["command"][0], task["command"], task["env"])


def set_limit(kind: int, limit: int) -> None:
    """Set a limit for good, or leave the host's where that is lower."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, limit))
