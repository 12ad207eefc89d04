"""An agent is known again by what its files hold: once they are edited, it is another one."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_toolgate.agents import AgentError, agent_version
from pytest_toolgate.agents.contents import contents
from pytest_toolgate.config import SolveSettings


def version(*command: str, show: tuple[Path, ...] = ()) -> str | None:
    """As a process says it that has not looked before."""
    contents.cache_clear()
    return agent_version(SolveSettings(agent="command", model="m", command=command, show=show))


def program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_what_pip_has_installed_is_known_by_the_packages_beside_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    [site] = tmp_path.glob("env/lib/python*/site-packages")
    answerer = program(tmp_path / "env" / "bin" / "answerer")
    (site / "answerer.py").write_text("RIGHT = 1")
    before = version(str(answerer))
    assert before == version(str(answerer))
    (site / "answerer.py").write_text("RIGHT = 2")
    assert version(str(answerer)) != before


Change = Callable[[Path], object]
CHANGES: dict[str, Change] = {
    "a file edited": lambda tree: (tree / "deep" / "part.js").write_text("2"),
    "a file more": lambda tree: (tree / "deep" / "more.js").write_text(""),
    "a file renamed": lambda tree: (tree / "deep" / "part.js").rename(tree / "deep" / "other.js"),
    "a link moved": lambda tree: (tree / "link").rename(tree / "deep" / "link"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_shown_is_known_by_all_that_it_holds(tmp_path: Path, change: Change) -> None:
    tree = tmp_path / "tree"
    (tree / "deep" / "__pycache__").mkdir(parents=True)
    (tree / "deep" / "part.js").write_text("1")
    (tree / "link").symlink_to("deep")
    before = version("/bin/sh", show=(tree,))
    (tree / "deep" / "__pycache__" / "part.pyc").write_text("x")
    assert version("/bin/sh", show=(tree,)) == before
    change(tree)
    assert version("/bin/sh", show=(tree,)) != before


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="missing, by which an agent is known again, cannot be read: No such file"):
        version("/bin/sh", show=(tmp_path / "missing",))
