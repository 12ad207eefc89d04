"""The `toolgate` command: what each writes or prints, and its exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_toolgate.candidate import read_candidate
from pytest_toolgate.candidate.matching import match_answer
from pytest_toolgate.cli.main import main
from pytest_toolgate.store import Store


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_writes_a_candidate_that_reproduces_its_answer(tmp_path: Path) -> None:
    assert main(["init"]) == 0
    assert main(["lint", "candidates"]) == 0
    [path] = tmp_path.glob("candidates/*.yaml")
    candidate = read_candidate(path, domains={"scipy"})
    done = subprocess.run([sys.executable, "-c", candidate.solution], capture_output=True, text=True, check=True)
    assert match_answer(done.stdout.removeprefix("ANSWER:"), candidate.options).letter == candidate.answer


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "toolgate.yaml").write_text("domain: scipy\n")
    assert main(["init"]) == 2
    assert "toolgate.yaml exists; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["toolgate.yaml"]


def test_a_domain_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What becomes of the package is in tests/plugin/test_new_domain.py."""
    assert main(["init", "--domain", "lab", "there"]) == 0
    files = [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert files == [
        "there/toolgate-domain-lab/pyproject.toml",
        "there/toolgate-domain-lab/toolgate_domain_lab/__init__.py",
        "there/toolgate-domain-lab/toolgate_domain_lab/checks.py",
        "there/toolgate-domain-lab/toolgate_domain_lab/guide.md",
        "there/toolgate-domain-lab/toolgate_domain_lab/seeds/first.yaml",
    ]
    assert sorted(capsys.readouterr().out.splitlines()) == files
    assert main(["init", "--domain", "lab", "there"]) == 2
    assert "there/toolgate-domain-lab exists; nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--domain", "scipy"], "the domain `scipy` is installed already"),
        (["--domain", "My Lab"], "the name `My Lab` is not of the form [a-z0-9_-]+"),
        (["--domain", "lab-"], "with a letter or digit at both ends"),
        (["--domain", ""], "the name `` is not of the form"),
        (["--domain", "../lab"], "the name `../lab` is not of the form"),
        (["--domain", "3d"], "`3d` is no name that a script can import"),
        (["--domain", "lab", "--package", "a.b"], "name the software's top-level package with --package"),
        (["--domain", "lab", "--package", "class"], "`class` is no name that a script can import"),
        (["--domain", "statistics"], "`statistics` is part of Python"),
        (["--package", "lab"], "name the domain with --domain"),
    ],
)
def test_a_domain_that_would_not_work_is_not_written(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_skeleton_has_faults_until_it_is_filled_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "item-1", "--domain", "scipy"]) == 0
    assert main(["lint", "candidates", "--json"]) == 1
    [found] = json.loads(capsys.readouterr().out.removeprefix("candidates/item-1.yaml\n"))
    assert {fault["field"] for fault in found["faults"]} >= {"question", "options.A", "answer", "solution"}
    assert main(["new", "item-1", "--domain", "scipy"]) == 2
    assert main(["lint", "nowhere"]) == 2


def test_a_record_is_found_by_key_id_and_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / ".toolgate/toolgate.db")
    for number in (1, 2):
        row = {"id": f"a{number}", "run_id": "r", "path": "candidates/x.yaml", "candidate_id": "x", "time": str(number)}
        store.append("attempts", row)
    for name, attempt in (("a1", "a1"), ("x", "a2"), ("candidates/x.yaml", "a2")):
        assert main(["db", "show", name]) == 0
        assert json.loads(capsys.readouterr().out)["record"]["attempt"] == attempt
    assert main(["db", "show", "y"]) == 2
    assert main(["db", "show", "a"]) == 2
    assert "several attempts begin with `a`" in capsys.readouterr().err
