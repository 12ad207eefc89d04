"""The processes a supervisor watches over and ends: all there are in a process space of its own, else its descendants.

Outside a process space the supervisor is a subreaper: whoever loses its parent becomes its child, so the tree under it
is complete, however often a script forks and forgets. Nobody outside that tree is ever signalled.
"""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH123, PTH208, SIM105

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def own_space() -> bool:
    """Whether this is the first process of a space, whose end the kernel makes everybody's end."""
    return os.getpid() == 1


def hold_together() -> None:
    """Make sure that no process of the tree outlives this one's care.

    Raises:
        OSError: The kernel refuses.
    """
    kind, value = (_PR_SET_PDEATHSIG, signal.SIGKILL) if own_space() else (_PR_SET_CHILD_SUBREAPER, 1)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(kind, int(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to hold the processes of the sandbox together")


def end_with_parent(parent: int) -> None:
    """Have the calling process killed when its parent ends; the kernel has nothing like it for a whole tree."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def members() -> list[str]:
    """Ids of the processes watched over, zombies included."""
    if own_space():
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != "1"]
    return list(descendants(os.getpid()))


def kill_all() -> None:
    """Kill every process watched over."""
    if own_space():
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
    else:
        kill_below(os.getpid())


def kill_below(ancestor: int) -> None:
    """Kill the descendants of a process, however fast they fork.

    Their process groups go first, each at once. Who left for a group of its own is stopped before it is killed, for a
    stopped one makes no new ones. A group can only be joined from within its session, so no stranger is in it.
    """
    seen: set[str] = set()
    while True:
        fresh = {pid: group for pid, group in descendants(ancestor).items() if pid not in seen}
        if not fresh:
            break
        for group in set(fresh.values()) - {0, os.getpgid(ancestor)}:
            try:
                os.killpg(group, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        seen.update(fresh)
    for pid in seen:
        _signal(pid, signal.SIGKILL)


def descendants(ancestor: int) -> dict[str, int]:
    """Ids of all processes below one, as far as they can be seen at once, each with that of its group."""
    children: dict[str, dict[str, int]] = {}
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                with open(f"/proc/{pid}/stat", "rb") as stream:
                    _, parent, group = stream.read().rpartition(b")")[2].split()[:3]
            except (OSError, ValueError):
                continue  # it has ended
            children.setdefault(parent.decode("ascii"), {})[pid] = int(group)
    found: dict[str, int] = {}
    waiting = [str(ancestor)]
    while waiting:
        below = children.get(waiting.pop(), {})
        waiting += below
        found.update(below)
    return found


def _signal(pid: str, number: int) -> None:
    try:
        os.kill(int(pid), number)
    except (ProcessLookupError, PermissionError):
        pass
