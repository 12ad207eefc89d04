"""`toolgate export` from a real database: which candidates become items, and what is said of the others."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from scripted_server import KEY, ScriptedServer, avoiding, by_question, choosing, computing, saying

from .audits import SCREENS, SOLVERS, Audited
from .pool import OPTIONS, PROVIDER, SCREEN, SCRIPT, SOLVE, VALUE, VERIFY, Pool

CANARY = "a-canary-of-candidate-0815"


@pytest.fixture
def audited(pool: Pool, server: ScriptedServer) -> Audited:
    return Audited(pool, server)


def _rows(folder: Path, split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "jsonl" / f"{split}.jsonl").read_text("utf-8").splitlines()]


def _export(audited: Audited, *arguments: str, code: int = 0) -> Mapping[str, Any]:
    done = audited.toolgate("export", *arguments, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    told: Mapping[str, Any] = json.loads(done.stdout) if code == 0 else {"said": done.stderr}
    return told


def _every_outcome(audited: Audited) -> None:
    """One accepted, one too easy, one not solved, one whose script is wrong, one unreadable, one by an error."""
    pool, server = audited.pool, audited.server
    solved = lambda asked: (computing if asked.model == "agent-model" else avoiding)(VALUE)(asked)  # noqa: E731
    lost = lambda asked: (saying("no") if asked.model == "agent-model" else avoiding(VALUE))(asked)  # noqa: E731
    server.script = by_question(
        {"of easy?": choosing(VALUE), "of unsolved?": lost, "of vague?": saying("Who knows.")}, otherwise=solved
    )
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    pool.add("good", tags=["a"], distractors={"A": "Another mesh."}, metadata={"canary": CANARY})
    for name in ("easy", "unsolved", "vague"):
        pool.add(name)
    pool.add("wrong", "import scipy\nprint('ANSWER: 0.5')\n")
    pool.write("candidates/broken.yaml", "question: [\n")
    found = pool.run()
    assert sorted(found.verdicts.values())[:2] == ["accepted solve", "error screen inconclusive"], found.verdicts


def test_accepted_candidates_are_items_and_the_rest_says_why(audited: Audited) -> None:
    _every_outcome(audited)
    told = _export(audited, "out", "--name", "Six Outcomes")
    out = audited.pool.root / "out"
    assert (told["items"], told["rejected"]) == (1, 4)
    [item] = _rows(out, "test")
    assert (item["id"], item["value"], item["outcome"]) == ("good", VALUE, "reproduced")
    assert item["options"][item["answer"]] == VALUE
    shown = dict(zip("ABCD", (OPTIONS[letter] for letter in item["presentation"]), strict=True))
    assert item["options"] == shown
    moved = "ABCD"[item["presentation"].index("A")]
    assert {letter for letter, text in item["distractors"].items() if text} == {moved}
    assert [run["value"] for run in item["reproduced"]] == [VALUE]
    assert item["review"] is None
    record = json.loads((out / item["record"]).read_text("utf-8"))
    [attempt] = record["attempts"]
    assert attempt["item"]["answer"] == "B"
    assert [gate["gate"] for gate in attempt["record"]["gates"]] == ["lint", "verify", "screen", "solve"]
    why = {
        (row["id"] or Path(row["path"]).stem): (row["outcome"], row["gate"], row["reason"])
        for row in _rows(out, "rejected")
    }
    assert why == {
        "easy": ("rejected", "screen", "too-easy"),
        "unsolved": ("review", "solve", "no-answer"),
        "wrong": ("rejected", "verify", "mismatch"),
        "broken": ("rejected", "lint", "bad-yaml"),
    }
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=out, check=True)


def test_nothing_of_the_machine_is_in_it(audited: Audited) -> None:
    _every_outcome(audited)
    _export(audited, "out", "--format", "all")
    root, run = str(audited.pool.root), audited.pool.rows("SELECT seal, machine FROM runs")[0]
    for secret in (root, sys.prefix, KEY, run["seal"], json.loads(run["machine"])["directory"], "/toolgate-run-"):
        held = [
            file
            for file in (audited.pool.root / "out").rglob("*")
            if file.is_file() and secret.encode() in file.read_bytes()
        ]
        assert not held, secret


def test_the_same_database_gives_the_same_folder(audited: Audited) -> None:
    _every_outcome(audited)
    for out in ("one", "two"):
        _export(audited, out, "--name", "same", "--format", "inspect,lm-eval,harbor")
    subprocess.run(["diff", "-r", "one", "two"], cwd=audited.pool.root, check=True)
    assert "is a release already" in _export(audited, "one", code=2)["said"]
    first = json.loads((audited.pool.root / "one" / "release.json").read_text("utf-8"))
    _export(audited, "one", "--force", "--seed", "99", "--name", "same")
    second = json.loads((audited.pool.root / "one" / "release.json").read_text("utf-8"))
    assert (second["seed"], first["canary"] == second["canary"]) == (99, False)


def test_a_seed_that_a_model_has_seen_is_refused(audited: Audited) -> None:
    _every_outcome(audited)
    assert "seed 0 has ordered" in _export(audited, "out", "--seed", "0", code=2)["said"]
    assert not (audited.pool.root / "out").exists()
    assert _export(audited, "out")["seed"] != 0


def test_of_a_changed_file_the_last_version_counts(audited: Audited) -> None:
    _every_outcome(audited)
    audited.pool.add("good", question="What is the value of good, with one word more?")
    audited.pool.run("candidates/good.yaml")
    told = _export(audited, "out")
    assert [row["question"] for row in _rows(audited.pool.root / "out", "test")] == [
        "What is the value of good, with one word more?"
    ]
    assert sum(told["left_out"].values()) == 1
    audited.pool.add("good", "import scipy\nprint('ANSWER: 0.7')\n")
    audited.pool.run("candidates/good.yaml")
    assert "nothing to release" in _export(audited, "more", code=2)["said"]


def test_the_pool_of_audits(audited: Audited) -> None:
    audited.configure(SCREENS, SOLVERS)
    audited.loop("one", "two", "three", "four")
    audited.pool.add("five", f"{SCRIPT}# another way\n", question="What is the value of four?", under="later")
    audited.pool.run("--toolgate-gates=lint,verify", "later/five.yaml")
    audited.models.known = {"strong-model": {"one"}}
    audited.models.unsolved = {"quick-model": {"two"}}
    audited.rescreen("--name", "first", "--screens", "strong")
    audited.rescreen("--name", "tools", "--solvers", "quick", "--pool", "audit:first")
    told = _export(audited, "out", "--audits", "first,tools")
    assert told["left_out"] == {}, "the reported pool has lost its exact duplicates already"
    rows = {row["id"]: row for row in _rows(audited.pool.root / "out", "test")}
    assert sorted(rows) == ["four", "three"], told
    lost = {
        row["id"]: (row["audit"], row["reason"]) for row in _rows(audited.pool.root / "out", "rejected") if row["audit"]
    }
    assert lost == {"one": ("first", "too-easy"), "two": ("tools", "no-answer")}
    record = json.loads((audited.pool.root / "out" / rows["three"]["record"]).read_text("utf-8"))
    assert [attempt["record"]["run"]["audit"] for attempt in record["attempts"]] == [None, "first", "tools"]
    by_pool = _export(audited, "other", "--pool", "audit:first,tools")
    assert (by_pool["items"], by_pool["left_out"]) == (2, {"exact duplicates of another item": 1})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("out", "--pool", "verified"), "`verified` cannot be released"),
        (("out", "--audits", "nobody"), "no audit `nobody`"),
        (("out", "--format", "pdf"), "there is no format `pdf`"),
        (("out", "--licence", "mine; rm"), "SPDX"),
        (("out", "--name", "2026"), "no name for a release"),
        (("out", "--date", "today"), "YYYY-MM-DD"),
        (("candidates",), "not empty and no release"),
    ],
)
def test_what_cannot_be_is_one_sentence(audited: Audited, arguments: tuple[str, ...], said: str) -> None:
    audited.pool.add("only")
    audited.pool.configure(PROVIDER, VERIFY, url=audited.server.base_url)
    audited.pool.run("--toolgate-gates=lint,verify")
    told = _export(audited, *arguments, code=2)["said"]
    assert said in told
    assert told.count("\n") == 1
    assert not (audited.pool.root / "out").exists()


def test_without_pyarrow_the_format_says_what_it_needs(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    _every_outcome(audited)
    audited.pool.write("away/pyarrow.py", "raise ImportError('gone')\n")
    monkeypatch.setenv("PYTHONPATH", f"{audited.pool.root / 'away'}:{os.environ.get('PYTHONPATH', '')}")
    assert "pip install 'pytest-toolgate[export]'" in _export(audited, "out", "--format", "hf", code=2)["said"]
    assert not (audited.pool.root / "out").exists()
    assert _export(audited, "out")["items"] == 1


def test_a_format_of_a_users_own(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by entry point: one file, without touching the package."""
    _every_outcome(audited)
    pool = audited.pool
    pool.write("own/titles.py", """
        def export(release, folder):
            titles = [item.question for item in release.items]
            (folder / "titles.txt").write_text("\\n".join([*titles, release.canary]))
    """)  # fmt: skip
    pool.write("own/own-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    pool.write("own/own-1.dist-info/entry_points.txt", "[pytest_toolgate.exporters]\ntitles = titles:export\n")
    monkeypatch.setenv("PYTHONPATH", f"{pool.root / 'own'}:{os.environ.get('PYTHONPATH', '')}")
    assert _export(audited, "out", "--format", "titles")["formats"] == ["jsonl", "titles"]
    assert (pool.root / "out" / "titles" / "titles.txt").read_text().startswith("What is the value of good?")


_Say = Callable[..., "subprocess.CompletedProcess[str]"]


def test_reviews_have_a_field_of_their_own(audited: Audited) -> None:
    _every_outcome(audited)
    say: _Say = audited.toolgate
    assert say("review", "good", "--verdict", "unsure", "--reviewer", "Ann").returncode == 0
    assert (
        say("review", "good", "--verdict", "sound", "--reviewer", "Ann", "--note", "It is <b>right</b>.").returncode
        == 0
    )
    assert say("review", "good", "--verdict", "defect", "--reviewer", "Bob").returncode == 0
    listed = say("review", "--list").stdout.splitlines()
    assert len(listed) == 3, "rows are only added"
    assert listed[1].endswith("sound, says Ann: It is <b>right</b>.")
    _export(audited, "out")
    [item] = _rows(audited.pool.root / "out", "test")
    assert [(each["reviewer"], each["verdict"]) for each in item["review"]] == [("Ann", "sound"), ("Bob", "defect")]
    assert item["outcome"] == "reproduced"


def test_a_review_names_one_candidate(audited: Audited) -> None:
    _every_outcome(audited)
    audited.pool.add("good", question="What is the value of good, again?")
    audited.pool.run("--toolgate-gates=lint,verify", "candidates/good.yaml")
    prints = [
        row["fingerprint"]
        for row in audited.pool.rows("SELECT DISTINCT fingerprint FROM attempts WHERE candidate_id = 'good'")
    ]
    said = audited.toolgate("review", "good", "--verdict", "sound", "--reviewer", "Ann")
    assert said.returncode == 2
    assert all(each in said.stderr for each in prints)
    assert audited.toolgate("review", prints[0][:12], "--verdict", "sound", "--reviewer", "Ann").returncode == 0
    assert [row["fingerprint"] for row in audited.pool.rows("SELECT fingerprint FROM reviews")] == [prints[0]]
    for wrong in (
        ("nobody", "--verdict", "sound", "--reviewer", "Ann"),
        ("good",),
        ("good", "--verdict", "sound", "--reviewer", " "),
    ):
        done = audited.toolgate("review", *wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), wrong
