"""Remove a directory tree that a stranger has made: deep, locked, and named without regard to any encoding."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH106, PTH108, SIM105

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def remove_tree(path: str | os.PathLike[str]) -> bool:
    """Remove whatever is at `path`, links not followed, once no process of its maker is left.

    Args:
        path: A directory, a file, a link or nothing.

    Returns:
        Whether nothing is there any more. It never raises for what it finds.
    """
    try:
        _remove(path)
    except (OSError, ValueError):
        pass
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        pass
    return False


def _remove(path: str | os.PathLike[str]) -> None:
    try:
        top = _unlocked(path)
    except NotADirectoryError:
        os.unlink(path)
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    os.rmdir(path)


def _empty(top: int) -> None:
    """Empty an open directory. Directories below are moved up into it one by one, so no depth needs a stack."""
    ours = os.urandom(16).hex()
    made = 0
    waiting = [""]  # the empty name is the top itself
    while waiting:
        name = waiting.pop()
        folder = _unlocked(name, dir_fd=top) if name else top
        try:
            with os.scandir(folder) as entries:
                children = list(entries)
            for child in children:
                try:
                    if child.is_dir(follow_symlinks=False):
                        os.close(_unlocked(child.name, dir_fd=folder))  # a locked directory cannot be moved
                        moved = f"{ours}-{made}"
                        made += 1
                        os.rename(child.name, moved, src_dir_fd=folder, dst_dir_fd=top)
                        waiting.append(moved)
                    else:
                        os.unlink(child.name, dir_fd=folder)
                except OSError:
                    continue  # the rest can go, and the caller is told that something is left
        finally:
            if name:
                os.close(folder)
        if name:
            try:
                os.rmdir(name, dir_fd=top)
            except OSError:
                continue


def _unlocked(name: str | os.PathLike[str], **where: Any) -> int:  # noqa: ANN401 - passed on as it is
    """Open a directory, no link, and give its owner every permission."""
    found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, **where)
    try:
        # Through the descriptor, so that it is this directory whatever its name leads to by now.
        own = f"/proc/self/fd/{found}"
        os.chmod(own, 0o700)  # noqa: PTH101
        return os.open(own, os.O_RDONLY | os.O_DIRECTORY)
    finally:
        os.close(found)
