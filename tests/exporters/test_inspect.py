"""Inspect AI runs the task of a release, and its score is what the model's replies deserve."""

import json
import shutil
from pathlib import Path

import pytest
from scripted_server import Script, ScriptedServer, saying

from pytest_toolgate.release import Release

from .tools import knowing, run, share_of

pytestmark = pytest.mark.slow


def _score(folder: Path, server: ScriptedServer, tmp_path: Path) -> float:
    shutil.copytree(folder / "inspect", tmp_path / "task")
    run(
        "inspect", "inspect", "eval", "task/task.py", "--model", "openai-api/played/some-model",
        "--log-dir", tmp_path / "logs", "--log-format", "json", "--display", "none",
        cwd=tmp_path, PLAYED_API_KEY="sk-none", PLAYED_BASE_URL=server.base_url,
    )  # fmt: skip
    [log] = (tmp_path / "logs").glob("*.json")
    found = json.loads(log.read_text("utf-8"))
    assert found["status"] == "success"
    score: float = found["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    return score


def test_scores(folder: Path, release: Release, server: ScriptedServer, tmp_path: Path) -> None:
    scripts: dict[str, tuple[Script, float]] = {
        "knows": (knowing(release), 1.0),
        "a": (saying("ANSWER: A"), share_of("A", release)),
    }
    for name, (script, deserved) in scripts.items():
        server.script = script
        (tmp_path / name).mkdir()
        assert _score(folder, server, tmp_path / name) == pytest.approx(deserved), name
    prompts = [asked.prompt for asked in server.requests]
    assert len(prompts) == 2 * len(release.items)
    for one in release.items:
        told = [prompt for prompt in prompts if one.question.strip() in prompt]
        assert len(told) == 2, "each question reaches the model as it is written"
    assert not any(release.canary in prompt or "import json" in prompt for prompt in prompts)
