"""Harbor loads each task of a release and runs it: its oracle solves all, and a model what its replies deserve.

There is no Docker where the tests run, so a room of bubblewrap stands in for the image; see `harbor_side`.
"""

import json
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, saying

from pytest_toolgate.release import Release

from .tools import knowing, run, share_of

pytestmark = pytest.mark.slow
LOAD = """
import json, sys
from pathlib import Path
from harbor.models.task.task import Task
tasks = {}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    task = Task(folder)
    tasks[folder.name] = {"config": task.config.model_dump(mode="json"), "instruction": task.instruction}
print("FOUND", json.dumps(tasks))
"""


def test_every_task_is_one_to_harbor(folder: Path, release: Release, tmp_path: Path) -> None:
    printed = run("harbor", "python", "-c", LOAD, folder / "harbor", cwd=tmp_path)
    found = json.loads(printed.partition("FOUND ")[2])
    assert sorted(found) == [one.id for one in release.items]
    for one in release.items:
        config, instruction = found[one.id]["config"], found[one.id]["instruction"]
        assert config["task"]["keywords"] == list(one.tags)
        assert config["metadata"]["domain"] == one.domain
        assert config["metadata"]["canary"] == release.canary
        assert one.question in instruction
        assert release.canary not in instruction, "Harbor takes the canary out of what an agent is told"
        assert one.solution not in instruction


def _rewards(folder: Path, tmp_path: Path, agent: str, server: ScriptedServer) -> dict[str, float]:
    run(
        "harbor", "harbor", "run", "-p", folder / "harbor", "-a", agent, "-e", "harbor_side:Room",
        "-o", tmp_path / "jobs", "-n", "2", "--quiet", "--yes", cwd=tmp_path,
        HARBOR_ROOMS=str(tmp_path / "rooms"), HARBOR_MODEL=server.base_url, PYTHONPATH=str(Path(__file__).parent),
    )  # fmt: skip
    trials = [json.loads(file.read_text("utf-8")) for file in (tmp_path / "jobs").glob("*/*/result.json")]
    assert not [trial["exception_info"] for trial in trials if trial["exception_info"]]
    return {Path(trial["task_id"]["path"]).name: trial["verifier_result"]["rewards"]["reward"] for trial in trials}


@pytest.mark.parametrize(
    ("agent", "letter"), [("oracle", None), ("harbor_side:Asking", None), ("harbor_side:Asking", "A")]
)
def test_rewards(
    folder: Path, release: Release, server: ScriptedServer, tmp_path: Path, agent: str, letter: str | None
) -> None:
    server.script = saying(f"ANSWER: {letter}") if letter else knowing(release)
    rewards = _rewards(folder, tmp_path, agent, server)
    assert sorted(rewards) == [one.id for one in release.items]
    deserved = share_of(letter, release) if letter else 1.0
    assert sum(rewards.values()) / len(rewards) == pytest.approx(deserved)
