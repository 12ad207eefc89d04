"""Writing files that other processes read meanwhile."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that readers see whole or not at all, readable by its owner only; the last writer wins.

    Raises:
        OSError: It cannot be written; nothing is left of the attempt.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    data = content.encode() if isinstance(content, str) else content
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
