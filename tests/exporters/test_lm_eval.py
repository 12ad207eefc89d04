"""lm-evaluation-harness runs the task of a release, and its score is what the model's replies deserve."""

import json
from pathlib import Path

import pytest
from scripted_server import Script, ScriptedServer, saying

from pytest_toolgate.release import Release

from .tools import knowing, run, share_of

pytestmark = pytest.mark.slow
TASK = "toolgate_heat_flow"


def _score(folder: Path, server: ScriptedServer, tmp_path: Path) -> float:
    run(
        "lm-eval", "lm-eval", "run", "--include_path", folder / "lm-eval", "--tasks", TASK,
        "--model", "local-chat-completions", "--apply_chat_template",
        "--model_args", f"model=some-model,base_url={server.base_url}/chat/completions,num_concurrent=2,max_retries=1",
        "--output_path", tmp_path / "out", cwd=tmp_path,
    )  # fmt: skip
    [results] = (tmp_path / "out").rglob("results_*.json")
    score: float = json.loads(results.read_text("utf-8"))["results"][TASK]["exact_match,answer-line"]
    return score


def test_scores(folder: Path, release: Release, server: ScriptedServer, tmp_path: Path) -> None:
    scripts: dict[str, tuple[Script, float]] = {
        "knows": (knowing(release), 1.0),
        "a": (saying("I take option A.\nANSWER: A"), share_of("A", release)),
        "silent": (saying("It depends on the mesh."), 0.0),
    }
    for name, (script, deserved) in scripts.items():
        server.script = script
        (tmp_path / name).mkdir()
        assert _score(folder, server, tmp_path / name) == pytest.approx(deserved), name
    prompts = [asked.prompt for asked in server.requests]
    assert len(prompts) == len(scripts) * len(release.items)
    for one in release.items:
        assert any(one.question.strip() in prompt for prompt in prompts), one.id
    assert not any(release.canary in prompt or "import json" in prompt for prompt in prompts)
