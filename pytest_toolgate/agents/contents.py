"""What files and directories hold, as one short hash: an agent whose files were edited is another agent."""

import functools
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .protocol import AgentError

# Bytes; a larger file is data rather than code, and is known by its size and time.
_LARGEST: Final = 64 * 1024 * 1024
# Files and directories; who shows more has named the wrong directory, and nobody should wait for all of it.
_MOST: Final = 500_000
# Python writes them whenever it likes.
_PASSED_OVER: Final = "__pycache__"


@functools.cache
def contents(paths: tuple[Path, ...]) -> str:
    """A hash of files and of all that lies in directories; found out once per process.

    Args:
        paths: Where they lie, links followed. Links in directories are not.

    Raises:
        AgentError: Something of it cannot be read, or is too much.
    """
    digest = hashlib.sha256()
    try:
        for path in paths:
            place = path.resolve()
            for part in _tree(place) if place.is_dir() else (_content(place),):
                digest.update(part)
    except OSError as error:
        raise AgentError(
            f"{error.filename}, by which an agent is known again, cannot be read: {error.strerror}"
        ) from error
    return f"sha256:{digest.hexdigest()[:16]}"


def _tree(root: Path) -> Iterator[bytes]:
    count = 0
    for folder, names, files in os.walk(root, onerror=_refuse):
        names[:] = sorted(name for name in names if name != _PASSED_OVER)
        count += len(names) + len(files)
        if count > _MOST:
            raise AgentError(f"{root}, by which an agent is known again, holds more than {_MOST:,} files; show it less")
        for name in sorted((*names, *files)):
            path = Path(folder, name)
            yield hashlib.sha256(os.fsencode(path.relative_to(root))).digest()
            yield _content(path)


def _content(path: Path) -> bytes:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return hashlib.sha256(os.fsencode(path.readlink())).digest()
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return b""
    if found.st_size > _LARGEST:
        return f"{found.st_size} {found.st_mtime_ns} ".encode()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _refuse(error: OSError) -> None:
    raise error
