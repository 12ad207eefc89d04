"""`jsonl`: one JSON text a line for each item and for each rejected attempt."""

from pathlib import Path

from ..release.items import Release
from ..release.rows import json_lines, rows


def export(release: Release, folder: Path) -> None:
    """Write `test.jsonl` and `rejected.jsonl`."""
    for split, found in rows(release).items():
        (folder / f"{split}.jsonl").write_text(json_lines(found), "utf-8")
