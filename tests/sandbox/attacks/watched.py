"""Run a command with a terminal of its own, watch what its whole tree uses, and say what outlives it.

As `python watched.py REPORT DIRECTORY PATIENCE LIMIT COMMAND...`. Every orphan of the command becomes a child of this
process, so that no other process of the machine can be mistaken for one.
"""

import ctypes
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import tty
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
# Seconds between two looks, and for commands with little time.
_PAUSE = 0.2
_SHORT, _SHORT_PAUSE = 60.0, 0.005
_MOST_TYPED = 65536


def main() -> int:
    """Run the command; the status is its own, 124 if it had to be ended."""
    report, directory, patience, limit, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    screen, keyboard = pty.openpty()
    tty.setraw(keyboard)
    process = subprocess.Popen(
        command,
        stdin=keyboard,
        close_fds=False,  # what the caller lets us inherit goes on to it
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    seen: dict[str, Any] = {"memory": 0, "processes": 0, "directory": 0}
    give_up = time.monotonic() + float(limit)
    try:
        while process.poll() is None and time.monotonic() < give_up:
            _look(Path(directory), seen)
            time.sleep(_PAUSE if float(limit) > _SHORT else _SHORT_PAUSE)
    finally:
        late = process.poll() is None
        seen["survivors"] = _survivors(0.0 if late else float(patience))
    seen["typed"] = _pending(keyboard)
    seen["shown"] = _pending(screen)
    Path(report).write_text(json.dumps(seen))
    return 124 if late else process.returncode


def _look(directory: Path, seen: dict[str, Any]) -> None:
    tree = _tree()
    seen["processes"] = max(seen["processes"], len(tree))
    seen["memory"] = max(seen["memory"], sum(map(_size, tree)))
    seen["directory"] = max(seen["directory"], _written(directory))


def _tree() -> list[int]:
    """Every process below this one."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = path.read_text("latin-1")
        except OSError:
            continue
        parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _size(process: int) -> int:
    """Bytes, each shared page divided among its users."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    except OSError:
        return 0


def _written(directory: Path) -> int:
    """Bytes of everything below a directory."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118
            except OSError:
                continue
    return total


def _survivors(patience: float) -> list[str]:
    """Command lines of what is still there after a moment; then it is ended."""
    give_up = time.monotonic() + patience
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        left = _tree()
        if not left or time.monotonic() >= give_up:
            break
        time.sleep(0.01)
    commands = [_command(process) for process in left]
    while left := _tree():
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        time.sleep(0.002)
    return commands


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("latin-1")
    except OSError:
        return ""


def _pending(terminal: int) -> str:
    os.set_blocking(terminal, False)
    try:
        return os.read(terminal, _MOST_TYPED).decode("latin-1")
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
