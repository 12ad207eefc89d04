"""What must not be seen stays unseen, also where it lies inside the interpreter's own directories."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Job, SandboxError, inspect_interpreter, remove_tree, run

from .conftest import text

LOOK = """
import os, sys
secret = {secret!r}
print(os.path.lexists(secret), sys.prefix)
for path in {folders!r}:
    try:
        open(os.path.join(path, "planted"), "w").close()
        print(path)
    except OSError:
        pass
"""


def environment(place: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    return place / "bin" / "python"


def project(root: Path) -> Path:
    """A project's candidate with its answer."""
    (root / "candidates").mkdir(parents=True)
    candidate = root / "candidates" / "x.yaml"
    candidate.write_text("answer: B")
    return candidate


def look(python: Path, secret: Path, *hidden: Path) -> list[str]:
    source = LOOK.format(secret=str(secret), folders=[str(path) for path in hidden])
    return text(run(Job(inspect_interpreter(python), source.encode(), hidden=hidden))).split()


def test_an_environment_inside_the_project(tmp_path: Path) -> None:
    secret = project(tmp_path)
    python = environment(tmp_path / ".venv")
    assert look(python, secret, tmp_path, tmp_path / "candidates") == ["False", str(tmp_path / ".venv")]


def test_a_project_inside_the_environment(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    secret = project(tmp_path / "env" / "project")
    assert look(python, secret) == ["True", str(tmp_path / "env")]
    assert look(python, secret, secret.parent) == ["False", str(tmp_path / "env")]
    assert look(python, secret, tmp_path / "env" / "project", secret.parent) == ["False", str(tmp_path / "env")]


def test_a_project_that_is_reached_by_a_link(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    secret = project(tmp_path / "env" / "project")
    link = tmp_path / "link"
    link.symlink_to(secret.parent.parent)
    assert look(python, secret, link) == ["False", str(tmp_path / "env")]


def test_something_hidden_inside_the_environment_of_a_hidden_project(tmp_path: Path) -> None:
    python = environment(tmp_path / ".venv")
    secret = project(tmp_path / ".venv" / "kept")
    assert look(python, secret, tmp_path, secret.parent) == ["False", str(tmp_path / ".venv")]


@pytest.fixture
def place_in_usr() -> Iterator[Path]:
    place = Path("/usr/src") / f"toolgate-{uuid.uuid4().hex}"
    if not os.access("/usr/src", os.W_OK):
        pytest.skip("only root can work in /usr")
    yield place
    remove_tree(place)


def test_a_project_in_the_systems_own_directory(place_in_usr: Path) -> None:
    secret = project(place_in_usr)
    python = environment(place_in_usr / ".venv")
    link = place_in_usr / "env"
    link.symlink_to(".venv")
    assert look(python, secret) == ["True", str(place_in_usr / ".venv")]
    assert look(python, secret, place_in_usr) == ["False", str(place_in_usr / ".venv")]
    assert look(link / "bin" / "python", secret, place_in_usr) == ["False", str(link)]


def test_an_environment_that_is_the_project(tmp_path: Path) -> None:
    secret = project(tmp_path)
    python = environment(tmp_path)
    with pytest.raises(SandboxError, match="make the environment in a directory of its own"):
        look(python, secret, tmp_path)


@pytest.mark.parametrize("name", ["toolgate.sqlite", "accepted", "later/accepted", "link"])
def test_what_is_no_directory_is_missing_and_the_rest_is_there(tmp_path: Path, name: str) -> None:
    """Also what is made meanwhile."""
    python = environment(tmp_path)
    (tmp_path / "toolgate.sqlite").write_text("answer: B")
    (tmp_path / "link").symlink_to("toolgate.sqlite")
    (tmp_path / "kept").write_text("x")
    source = f"""
import os, sys
names = ("toolgate.sqlite", "link", "kept", "later")
print(*[name for name in names if os.path.exists(os.path.join(sys.prefix, name))])
try:
    os.mkdir(os.path.join(sys.prefix, "accepted"))
except OSError:
    print(os.path.lexists({str(tmp_path / name)!r}))
"""
    expected = {"toolgate.sqlite": "kept", "link": "kept"}.get(name, "toolgate.sqlite link kept")
    there = {"link": "True"}.get(name, "False")  # what it leads to is gone
    finished = run(Job(inspect_interpreter(python), source.encode(), hidden=(tmp_path / name,)))
    assert text(finished) == f"{expected}\n{there}\n"


def test_single_entries_cannot_be_hidden_among_too_many(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    crowd = tmp_path / "env" / "crowd"
    crowd.mkdir()
    for number in range(1002):
        (crowd / f"{number}").touch()
    with pytest.raises(SandboxError, match="holds more than 1000 entries"):
        look(python, crowd / "1", crowd / "1")


def test_what_lies_elsewhere_need_not_exist(tmp_path: Path) -> None:
    assert look(Path(sys.executable), tmp_path, tmp_path / "nowhere" / "x")[0] == "False"
