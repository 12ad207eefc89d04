"""The tools themselves, as `scripts/install-exporters` installs them, and how they are run."""

import os
import subprocess
from pathlib import Path

from exchange import Asked
from scripted_server import Reply, Script

from pytest_toolgate.release import Release

_HOME = Path(__file__).parents[2] / ".venv" / "exporters"
PATIENCE = 200


def run(tool: str, *arguments: str | Path, cwd: Path, **variables: str) -> str:
    """Run a program of a tool's environment, away from all networks, and return what it printed."""
    done = subprocess.run(
        [str(_HOME / tool / "bin" / arguments[0]), *map(str, arguments[1:])],
        cwd=cwd,
        env=_environment(cwd) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the caller's but where programs are; whatever a tool writes goes into its home."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HF_HOME": str(home / "hf-home"),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "200",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def knowing(release: Release) -> Script:
    """A model that knows every answer."""
    values = {one.value for one in release.items}

    def script(asked: Asked) -> Reply:
        return Reply(f"ANSWER: {next(letter for letter, text in asked.options.items() if text in values)}")

    return script


def share_of(letter: str, release: Release) -> float:
    """What a model scores that says one letter to everything."""
    return sum(one.answer == letter for one in release.items) / len(release.items)
