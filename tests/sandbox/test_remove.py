"""Removing what a stranger has made."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import remove_tree

from .conftest import Script, text


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory that leaves nothing behind on which pytest's own removal would fail."""
    yield tmp_path
    subprocess.run(["rm", "-rf", tmp_path], check=True)


def deep(folder: Path, depth: int) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.fchown(below, os.fstat(here).st_uid, -1)
        os.close(here)
        here = below
    os.close(here)


def test_a_tree_deeper_than_any_stack(place: Path) -> None:
    tree = place / "tree"
    tree.mkdir()
    deep(tree, 3000)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert remove_tree(tree)
    assert list(place.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before


HOSTILE = """
import os, socket
os.makedirs("a/b/c")
open("a/b/c/file", "w").close()
for name in (b"\\xff\\xfe", b"new\\nline"):
    os.mkdir(name)
    open(name + b"/\\xf0", "w").close()
    os.chmod(name, 0)
os.mkfifo("pipe")
os.symlink("/usr", "out")
os.symlink(".", "round")
for path in ("a/b/c", "a/b", "a", "."):
    os.chmod(path, 0)
"""


def test_what_a_script_has_locked_and_misnamed(script: Script, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    text(script(HOSTILE, workspace=workspace))
    assert remove_tree(workspace)
    assert list(tmp_path.iterdir()) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o500)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(kept)
    (tmp_path / "link").symlink_to(kept)
    assert remove_tree(tmp_path / "tree")
    assert remove_tree(tmp_path / "link")
    assert list(tmp_path.iterdir()) == [kept]
    assert kept.stat().st_mode & 0o777 == 0o500


def test_what_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert remove_tree(tmp_path / "file")
    assert remove_tree(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/proc/self", "/proc/self/task", "nul\0byte"])
def test_what_cannot_be_removed_is_told(path: str) -> None:
    assert not remove_tree(Path(path))


def test_a_deep_directory_in_place_of_a_file_of_the_next_run(script: Script, place: Path) -> None:
    text(script("pass", workspace=place))
    (place / "problem.json").mkdir()
    os.chown(place / "problem.json", place.stat().st_uid, -1)
    deep(place / "problem.json", 1500)
    finished = script("print(open('problem.json').read())", workspace=place, files={"problem.json": b"{}"})
    assert text(finished) == "{}\n"
