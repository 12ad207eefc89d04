"""SHA-256 of a large file, remembered in a small record so that no run hashes a gigabyte again."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from pytest_toolgate.providers.embedded.errors import ModelError

CHUNK = 1 << 20


def hash_file(path: Path) -> str:
    """Hash a whole file (about a second per gigabyte)."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_digest(path: Path, record: Path) -> tuple[str, str]:
    """Return the file's SHA-256 and its noted origin, hashing only if it is another file than the record's.

    Args:
        path: The file to describe.
        record: Where its record is, or will be written.

    Returns:
        Hexadecimal SHA-256, and the origin given to `remember` (empty where none was noted).

    Raises:
        ModelError: The file cannot be read.
    """
    try:
        status = path.stat()
        known = _read(record)
        origin = str(known.get("origin", ""))
        if known.get("file") == _identity(status):
            return str(known["sha256"]), origin
        digest = hash_file(path)
        origin = origin if known.get("sha256") == digest else ""
    except OSError as error:
        raise ModelError(f"The model file {path} cannot be read: {error.strerror or error}.") from error
    # A record that cannot be written (a read-only cache) costs a second per run, not the run.
    with suppress(OSError):
        _write(record, status, digest, origin)
    return digest, origin


def remember(path: Path, record: Path, sha256: str, origin: str) -> None:
    """Write the record of a file that was just hashed; atomic, so that readers see all of it or none."""
    _write(record, path.stat(), sha256, origin)


def _identity(status: os.stat_result) -> list[int]:
    """What differs once a file was replaced or written to, even by one that sets its times back."""
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _write(record: Path, status: os.stat_result, sha256: str, origin: str) -> None:
    text = json.dumps({"file": _identity(status), "sha256": sha256, "origin": origin})
    record.parent.mkdir(parents=True, exist_ok=True)
    temporary = record.with_name(f"{record.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(record)


def _read(record: Path) -> dict[str, object]:
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    digest = known.get("sha256") if isinstance(known, dict) else None
    return known if isinstance(digest, str) and len(digest) == 64 else {}
