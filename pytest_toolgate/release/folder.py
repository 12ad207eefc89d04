"""A release as a folder: written beside its place, and put there when it is whole."""

import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ..exporters.protocol import Exporter
from .card import card
from .croissant import croissant
from .items import FORM, Release
from .selection import ReleaseError

CHECKSUMS: Final = "SHA256SUMS"
MANIFEST: Final = "release.json"
_MAKER: Final = "pytest-toolgate"


def check_place(place: Path, *, force: bool) -> None:
    """Whether a release may be put there: where nothing is, or, if forced, in the place of another release.

    Raises:
        ReleaseError: It may not.
    """
    if not place.parent.is_dir():
        raise ReleaseError(f"there is no folder {place.parent} to put {place.name} into")
    if not place.exists() and not place.is_symlink():
        return
    if place.is_dir() and not place.is_symlink():
        if not any(place.iterdir()):
            return
        if not _is_release(place):
            raise ReleaseError(f"{place} is not empty and no release: give a folder that is not there yet")
        if force:
            return
        raise ReleaseError(f"{place} is a release already: --force puts the new one in its place")
    raise ReleaseError(f"{place} is no folder")


def write_release(release: Release, place: Path, exporters: Mapping[str, Exporter]) -> None:
    """Write all of it, or nothing.

    Args:
        release: What is released.
        place: The folder; see `check_place`.
        exporters: Format -> what writes it.

    Raises:
        MissingExtra: A format needs a package that is not installed.
        OSError: It cannot be written.
    """
    mark = secrets.token_hex(8)
    new, old = (place.with_name(f".{place.name}.{mark}.{kind}") for kind in ("new", "old"))
    try:
        new.mkdir()
        _write(release, new, exporters)
        if place.exists():
            place.rename(old)
        new.rename(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.rename(place)
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _write(release: Release, folder: Path, exporters: Mapping[str, Exporter]) -> None:
    for name, export in exporters.items():
        (folder / name).mkdir()
        export(release, folder / name)
    (folder / "records").mkdir()
    for item in release.items:
        content = {"id": item.id, "canary": release.canary, "attempts": list(release.records.get(item.id, ()))}
        _write_json(folder / item.record, content)
    splits = {"test": release.items, "rejected": release.rejected}
    data = {split: f"jsonl/{split}.jsonl" for split, found in splits.items() if found and "jsonl" in exporters}
    data = data or {split: f"hf/data/{split}.parquet" for split, found in splits.items() if found and "hf" in exporters}
    (folder / "README.md").write_text(card(release, data), "utf-8")
    (folder / "LICENSE").write_text(_licence(release), "utf-8")
    _write_json(folder / MANIFEST, manifest(release, list(exporters)))
    (folder / "croissant.json").write_text(croissant(release, folder), "utf-8")
    (folder / CHECKSUMS).write_text(_checksums(folder), "utf-8")


def manifest(release: Release, formats: list[str]) -> dict[str, Any]:
    """`release.json`: what the release is, for programs."""
    made = release.made
    return {
        "made_by": _MAKER,
        "form": FORM,
        "name": release.name,
        "date": release.date,
        "licence": release.licence,
        "canary": release.canary,
        "seed": release.seed,
        "screening_seeds": list(made.seeds),
        "pool": release.pool,
        "formats": formats,
        "items": len(release.items),
        "rejected": len(release.rejected),
        "reviewed": sum(bool(item.reviews) for item in release.items),
        "left_out": dict(release.left_out),
        "versions": {
            "pytest-toolgate": list(made.toolgate),
            "python": list(made.pythons),
            "packages": {name: list(found) for name, found in made.packages.items()},
        },
        "screens": list(made.screens),
        "solvers": list(made.solvers),
    }


def _is_release(place: Path) -> bool:
    with suppress(OSError, ValueError):
        found = json.loads((place / MANIFEST).read_text("utf-8"))
        return isinstance(found, dict) and found.get("made_by") == _MAKER
    return False


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(f"{json.dumps(content, indent=1, ensure_ascii=True)}\n", "utf-8")


def _licence(release: Release) -> str:
    return (
        f"SPDX-License-Identifier: {release.licence}\n\n"
        f"The release {release.name} of {release.date} is published under the terms of {release.licence}:\n"
        f"https://spdx.org/licenses/{release.licence}.html\n"
    )


def _checksums(folder: Path) -> str:
    """As `sha256sum -c` reads them; names are this program's own or ids, so none needs to be escaped."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files)
