"""Accepted items: one file each, with the whole record, written by the controlling process only."""

import functools
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


class AcceptedItems:
    """The accepted items of a pool, at most one for each candidate file. One per run, in its controlling process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @functools.cached_property
    def _files(self) -> dict[str, set[Path]]:
        """Path of the candidate file -> its items: more than one where its id was changed."""
        files: dict[str, set[Path]] = {}
        for file in sorted(self._directory.glob("*.json")):
            entry = _entry(file)
            if entry is not None:
                files.setdefault(entry.path, set()).add(file)
        return files

    def write(self, item_id: str, path: str, document: dict[str, Any]) -> None:
        """Write the item of a candidate file, in place of any that it had under another id.

        Raises:
            OSError: It cannot be written.
        """
        before = self._files.get(path, set())
        now = write_item(self._directory, item_id, document)
        for file in before - {now}:
            file.unlink(missing_ok=True)
        self._files[path] = {now}

    def remove(self, path: str) -> list[Path]:
        """Remove the items of a candidate file that is no longer accepted; returns what was removed."""
        removed = sorted(self._files.pop(path, set()))
        for file in removed:
            file.unlink(missing_ok=True)
        return removed


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
