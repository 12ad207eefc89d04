"""Accepted items: one file each, with the whole record, written by the controlling process only."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..candidate.duplicates import Entry


def write_item(directory: Path, item_id: str, document: dict[str, Any]) -> Path:
    """Write `<id>.json` so that a reader sees the old file or the new one, never a part.

    Raises:
        OSError: It cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{item_id}.json"
    temporary = directory / f".{item_id}.{os.getpid()}.tmp"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def remove_item(directory: Path, item_id: str, path: str) -> Path | None:
    """Remove the item of a candidate file that is no longer accepted; returns the removed file, if any."""
    item = directory / f"{item_id}.json"
    entry = _entry(item)
    if entry is None or entry.path != path:
        return None
    item.unlink()
    return item


def read_entries(directory: Path) -> Iterator[Entry]:
    """What identifies each accepted item; a file of another making is passed over."""
    for path in sorted(directory.glob("*.json")):
        entry = _entry(path)
        if entry is not None:
            yield entry


def _entry(path: Path) -> Entry | None:
    try:
        document = json.loads(path.read_text("utf-8"))
        fields = (
            document["record"]["path"],
            document["item"]["id"],
            document["twin_key"],
            document["fingerprint"],
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return Entry(*fields) if all(isinstance(field, str) for field in fields) else None
