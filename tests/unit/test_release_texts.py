"""Whatever strangers write, every file of a release stays what it is, and says their texts as they are."""

import ast
import dataclasses
import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from exporters.releases import HOSTILE, item, rejected, release, sample, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_toolgate.exporters.harbor import task_files, toml_text
from pytest_toolgate.exporters.lm_eval import task_name
from pytest_toolgate.release import Item, Reproduced
from pytest_toolgate.release.card import card, quoted
from pytest_toolgate.release.items import Made
from pytest_toolgate.release.rows import COLUMNS, json_lines, rows

_PIECES = ("`", "${HOME}", "$(id)", '"""', "'''", "\\", "\n", "\r\n", "\u2028", "\x00", "\x7f", "{{ a }}", "{a}", "%s")
TEXTS = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=12)), max_size=12).map("".join)


@given(question=TEXTS, tag=TEXTS, mistake=TEXTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_hostile_texts(question: str, tag: str, mistake: str) -> None:
    one = item("one", question=question, tags=(tag,), domain=tag, distractors={"A": mistake}, solution=question)
    found = release([one], [rejected("other", mistake)])
    of_splits = rows(found)
    for split in of_splits.values():
        lines = json_lines(split)
        assert lines.isascii()
        assert [json.loads(line) for line in lines.splitlines()] == split
    files = task_files(one, found)
    config = tomllib.loads(files["task.toml"])
    assert config["task"]["keywords"] == [tag]
    assert config["metadata"]["domain"] == tag
    assert json.loads(files["environment/problem.json"])["question"] == one.question
    plain = task_files(item("one"), found)
    for name in (
        "environment/Dockerfile",
        "tests/test.sh",
        "solution/solve.sh",
        "tests/verify.py",
        "solution/solve.py",
    ):
        assert files[name] == plain[name], "nothing of a stranger is in what a machine obeys"
    assert one.question in files["instruction.md"]


@given(TEXTS)
def test_a_text_in_toml_and_in_markdown(text: str) -> None:
    assert tomllib.loads(f"key = {toml_text(text)}")["key"] == text
    shown = quoted(text)
    assert "\n" not in shown
    assert (shown[0], shown[-1], shown.count("`")) == ("`", "`", 2)


@given(TEXTS, TEXTS)
def test_the_card_is_a_card(name: str, version: str) -> None:
    made = Made(toolgate=(version,), packages={name: (version,)}, screens=(f"screen {name}",), solvers=(name,))
    text = card(release([item("one", domain=name)], made=made), {"test": "jsonl/test.jsonl"})
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    matter = yaml.safe_load(front)
    assert matter["configs"][0]["data_files"] == [{"split": "test", "path": "jsonl/test.jsonl"}]
    assert [column["name"] for column in matter["dataset_info"]["features"]] == list(COLUMNS)
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == [
        *("# heat-flow", "## Canary", "## Splits", "## What an answer is", "## How it was made", "## Limits")
    ]  # fmt: skip


def test_a_dockerfile_takes_no_name_that_is_none() -> None:
    packages = {"scipy": "1.18.1", "evil; rm -rf /": "1.0", "other": "1 && id", "../up": "2", "-r": "1"}
    run = dataclasses.replace(item("one").reproduced.runs[0], packages=packages, python="3.12\nRUN id")
    one = item("one", reproduced=Reproduced((run,)))
    dockerfile = task_files(one, release([one]))["environment/Dockerfile"]
    assert [line for line in dockerfile.splitlines() if line.startswith(("RUN", "FROM"))] == [
        "FROM python:3.12-slim",
        "RUN pip install --no-cache-dir scipy==1.18.1",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(sample(), tmp_path_factory.mktemp("release") / "heat-flow")


def test_code_is_code(folder: Path) -> None:
    for file in folder.rglob("*.py"):
        if file.name != "solution.py":
            ast.parse(file.read_text("utf-8"))
    for script in folder.rglob("*.sh"):
        subprocess.run(["sh", "-n", script], check=True)
        assert script.stat().st_mode & 0o111


def test_the_yaml_task_is_yaml(folder: Path) -> None:
    text = (folder / "lm-eval" / f"{task_name(sample())}.yaml").read_text("utf-8")
    found = yaml.safe_load(text.replace("!function ", ""))
    assert found["task"] == "toolgate_heat_flow"
    assert found["metadata"]["canary"] == sample().canary


def test_answers_and_scripts_are_where_nobody_looks_who_solves(folder: Path) -> None:
    """What a model or an agent is given holds no script, no answer, no distractors, no canary."""
    for one in sample().items:
        task = folder / "harbor" / one.id
        problem = json.loads((task / "environment" / "problem.json").read_text("utf-8"))
        assert problem == {"id": one.id, "question": one.question, "options": dict(one.options)}
        assert {file.name for file in (task / "environment").iterdir()} == {"Dockerfile", "problem.json"}
        assert "print('ANSWER" not in (task / "instruction.md").read_text("utf-8")
    for name in ("inspect", "lm-eval"):
        assert "import json" not in (folder / name / "items.jsonl").read_text("utf-8")


def test_the_canary_is_in_every_file_of_data(folder: Path) -> None:
    canary = sample().canary.encode()
    code = ("verify.py", "solve.py", "solution.py", "problem.json", "expected.json", "LICENSE", "SHA256SUMS")
    files = [
        file
        for file in folder.rglob("*")
        if file.is_file() and file.name not in code and file.parent.name != "candidate"
    ]
    assert len(files) >= 40
    assert not [file for file in files if canary not in file.read_bytes()]


def test_items_are_reproduced_and_never_correct(folder: Path) -> None:
    for line in (folder / "jsonl" / "test.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        assert row["outcome"] == "reproduced"
        assert "correct" not in row
        assert (row["review"] is None) == (row["id"] != "hostile")


@pytest.mark.parametrize(("printed", "reward"), [("A", 1), (" A\n", 1), ("B", 0), ("", 0), ("A B", 0), ("a", 0)])
def test_the_verifier_of_harbor(folder: Path, tmp_path: Path, printed: str, reward: int) -> None:
    (tmp_path / "answer.txt").write_text(printed)
    assert _verified(folder, tmp_path / "answer.txt") == reward


def test_the_verifier_follows_no_link_and_waits_for_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("A")
    (tmp_path / "link").symlink_to("answer")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text("A" + " " * 5000)
    for name in ("link", "pipe", "large", "absent"):
        assert _verified(folder, tmp_path / name) == 0, name
    value = next(one for one in sample().items if one.id == "ax").value
    (tmp_path / "value").write_text(value)
    assert _verified(folder, tmp_path / "value") == 1


def _verified(folder: Path, answer: Path) -> int:
    tests = folder / "harbor" / "ax" / "tests"
    command = ["python3", "-I", "-S", *map(str, (tests / "verify.py", answer, tests / "expected.json"))]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=20).stdout)


def test_the_hostile_text_is_hostile() -> None:
    """It would be no test else."""
    for text in ("`", "${", '"""', "{{", "---", "\u2028", "<script>"):
        assert text in HOSTILE
    assert isinstance(item("one"), Item)
