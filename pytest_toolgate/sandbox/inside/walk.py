"""Measure a directory that a stranger fills meanwhile: deep, locked, and changed while it is walked through."""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 512  # bytes in a unit of st_blocks, by definition
_DEEPEST = 100  # directories within directories; deeper ones are made to hide something
_ATTEMPTS = 4  # at what is locked; what is locked again each time is made to hide something


def walk(folder: int, most: int, depth: int = 0) -> tuple[int, int]:
    """Bytes and number of the entries below an open directory, links not followed; stops after `most`."""
    size = 0
    count = 0
    for entry in listing(folder):
        count += 1
        try:
            found = status(entry, folder)
        except PermissionError:
            return size, most + 1
        except OSError:
            continue  # it went meanwhile
        size += found.st_blocks * BLOCK
        if stat.S_ISDIR(found.st_mode):
            if depth == _DEEPEST:
                return size, most + 1
            more, further = walk_into(entry.name, folder, most - count, depth + 1)
            size += more
            count += further
        if count > most:
            break
    return size, count


def status(entry: os.DirEntry[str], folder: int) -> os.stat_result:
    """Of an entry of an open directory; one that a script keeps locking to hide what is in it is a PermissionError."""
    for _ in range(_ATTEMPTS):
        try:
            return entry.stat(follow_symlinks=False)
        except PermissionError:
            os.fchmod(folder, 0o700)
    return entry.stat(follow_symlinks=False)


def listing(folder: int) -> Iterator[os.DirEntry[str]]:
    """The entries of an open directory, also of one that was locked to hide them: we are its owner."""
    if os.fstat(folder).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        try:
            os.fchmod(folder, 0o700)
        except OSError:
            return
    with os.scandir(folder) as entries:
        yield from entries


def walk_into(name: str, parent: int, most: int, depth: int) -> tuple[int, int]:
    """Walk a directory by its name in an open one: there is no path that a script could block or lengthen."""
    for _ in range(_ATTEMPTS):
        try:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        except PermissionError:
            try:
                os.chmod(name, 0o700, dir_fd=parent)
            except OSError:
                return 0, 0
            continue
        except OSError:
            return 0, 0
        try:
            return walk(folder, most, depth)
        finally:
            os.close(folder)
    return 0, most + 1
