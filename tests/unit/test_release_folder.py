"""A release is put in its place whole, and in no place that is somebody else's."""

import json
import subprocess
from pathlib import Path

import pytest
from exporters.releases import item, release, sample, written

from pytest_toolgate.exporters import MissingExtra
from pytest_toolgate.release import Release, ReleaseError
from pytest_toolgate.release.folder import check_place, write_release
from pytest_toolgate.release.reading import release_name


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_same_release_is_the_same_bytes(tmp_path: Path) -> None:
    one, other = written(sample(), tmp_path / "one"), written(sample(), tmp_path / "other")
    assert _files(one) == _files(other)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=one, check=True)
    listed = {line.split("  ")[1] for line in (one / "SHA256SUMS").read_text("utf-8").splitlines()}
    assert listed == set(_files(one)) - {"SHA256SUMS"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]


def test_a_place_that_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    for name in ("full", "file", "link", "nowhere/below"):
        for force in (False, True):
            with pytest.raises(ReleaseError):
                check_place(tmp_path / name, force=force)
    check_place(tmp_path / "empty", force=False)
    check_place(tmp_path / "new", force=False)


def test_another_release_is_replaced_if_that_is_said(tmp_path: Path) -> None:
    place = written(sample(), tmp_path / "place")
    with pytest.raises(ReleaseError, match="--force"):
        check_place(place, force=False)
    check_place(place, force=True)
    write_release(release([item("other")]), place, {})
    assert json.loads((place / "release.json").read_text("utf-8"))["items"] == 1
    assert not (place / "harbor").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def test_nothing_is_left_of_one_that_fails(tmp_path: Path) -> None:
    def failing(found: Release, folder: Path) -> None:
        (folder / "half").write_text("x")
        raise MissingExtra("a package is missing")

    place = tmp_path / "place"
    for before in ((), ("release",)):
        if before:
            write_release(sample(), place, {})
        known = _files(tmp_path)
        with pytest.raises(MissingExtra):
            write_release(sample(), place, {"failing": failing})
        assert _files(tmp_path) == known


@pytest.mark.parametrize(("given", "name"), [("Heat Flow 2", "heat-flow-2"), ("a", "a"), ("x" * 99, "x" * 60)])
def test_names(given: str, name: str) -> None:
    assert release_name(given) == name


@pytest.mark.parametrize("given", ["", "2026", "---", "日本"])
def test_no_names(given: str) -> None:
    with pytest.raises(ReleaseError):
        release_name(given)
