"""The page: one file that asks for nothing, whatever strangers have written, and however little the database holds."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from pytest_toolgate.analysis import analyse
from pytest_toolgate.candidate import Candidate
from pytest_toolgate.cli.main import main
from pytest_toolgate.report.html import page
from pytest_toolgate.report.records import shortened
from pytest_toolgate.report.terminal import terminal
from pytest_toolgate.store import Store

HOSTILE = (
    "</script><script>document.title='harm'</script><!-- <img src=http://127.0.0.1:9/x> \u202eabc\u2028\x1b[31m\x00"
)


class Database:
    """One with a few rows of candidates."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path)
        self.run = ""

    def begin(self, audit: str | None = None) -> str:
        settings = {"screens": [{"name": "light", "samples": 3, "reject_at": 2}]}
        row = {"version": "1", "seed": 0, "gates": [], "settings": settings, "machine": {}, "audit": audit}
        self.run = self.store.append("runs", row)
        return self.run

    def attempt(self, text: str, outcome: str | None, gate: str = "solve", *, path: str = "a.yaml") -> str:
        one = Candidate("a", text, {"A": "1", "B": "2", "C": text, "D": "4"}, "A", text, "scipy", Path(path))
        content = self.store.append("candidates", {
            "fingerprint": one.fingerprint, "presented": one.presented, "twin_key": one.twin_key,
            "content": one.content(),
        })  # fmt: skip
        attempt = self.store.append("attempts", {
            "run_id": self.run, "path": path, "candidate_id": "a", "content_id": content,
            "fingerprint": one.fingerprint,
        })  # fmt: skip
        more = {"sentence": text, "warnings": [text]}
        self.store.append("gates", {
            "attempt_id": attempt, "gate": "verify", "verdict": "passed", "reason": "", "seconds": 1.0, **more,
        })  # fmt: skip
        if outcome:
            self.store.append("outcomes", {
                "attempt_id": attempt, "outcome": outcome, "gate": gate, "reason": "", "reused": 0, **more,
            })  # fmt: skip
        return attempt

    def reply(self, attempt: str, status: str, correct: bool | None, index: int = 0) -> None:
        chosen = {True: "A", False: "B", None: None}[correct]
        reply = self.store.append("replies", {
            "attempt_id": attempt, "run_id": self.run, "reuse_key": "k", "screen": "light", "call_index": index,
            "settings": {"reasoning": None}, "provider": "p", "base_url": "u", "model_asked": "m", "seed": 0,
            "presentation": "BACD", "status": status, "text": HOSTILE, "note": HOSTILE, "chosen": chosen,
            "value": chosen, "correct": correct, "requests": 1, "latency": 1.0,
        })  # fmt: skip
        self.store.append("uses", {
            "attempt_id": attempt, "kind": "reply", "used_id": reply, "reused": 0, "correct": correct,
        })  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "toolgate.db")


def page_of(database: Database) -> str:
    return page(analyse(database.store), database.store)


def test_an_empty_database(database: Database) -> None:
    assert "0 candidates, 0 accepted" in terminal(analyse(database.store))
    assert "Nothing to warn of." in page_of(database)


def test_a_database_with_lint_and_verify_alone(database: Database) -> None:
    database.begin()
    database.attempt("What?", "provisional", "verify")
    found = analyse(database.store)
    assert [step.out for step in found.funnel] == [1, 0, 0]
    assert found.funnel[1].without_verdict == 1
    assert (found.diversity[0].pool, found.diversity[0].items) == ("verified candidates", 1)
    assert "No screen was asked." in page_of(database)


def test_a_run_that_was_killed(database: Database) -> None:
    database.begin()
    database.reply(database.attempt("What?", None), "answered", True)
    found = analyse(database.store)
    assert (found.unclosed, found.items[0].outcome) == (1, "unfinished")
    assert found.letters[0].all_calls.part == 1
    # One right call of three asked for: nothing is known yet.
    assert (found.screens[0].solved.whole, found.screens[0].unknown) == (0, 1)
    assert "not closed" in terminal(found)


@pytest.mark.parametrize(
    ("replies", "solved"),
    [
        ([True, True], True),
        ([False, False], False),
        ([True, False], None),
        ([False, None], None),
        ([True, None, True], True),
        ([False, None, False], False),
    ],
)
def test_the_label_follows_the_rule_of_screens(
    database: Database, replies: list[bool | None], solved: bool | None
) -> None:
    """With c correct and m missing of n: c >= k is easy, c + m < k is not; a missing reply is no wrong one."""
    database.begin()
    attempt = database.attempt("What?", None)
    for index, correct in enumerate(replies):
        database.reply(attempt, "failed" if correct is None else "answered", correct, index)
    [screen] = analyse(database.store).screens
    assert dict(screen.verdicts) == ({} if solved is None else {0: solved})


def test_a_candidate_that_was_judged_twice_counts_once(database: Database) -> None:
    database.begin()
    database.reply(database.attempt("What?", "rejected", "screen"), "answered", True)
    database.begin()
    database.reply(database.attempt("What?", "accepted"), "answered", False)
    found = analyse(database.store)
    assert [item.outcome for item in found.items] == ["accepted"]
    assert (found.letters[0].all_calls.part, found.letters[0].all_calls.whole) == (0, 1)


def test_strangers_texts_are_inert(database: Database) -> None:
    database.begin()
    for outcome in ("accepted", "rejected"):
        attempt = database.attempt(HOSTILE + outcome, outcome, path=f"{HOSTILE}{outcome}.yaml")
        database.reply(attempt, "failed", None)
    text = page_of(database)
    assert len(re.findall("<script", text)) == 1
    assert not re.search("<(img|iframe|link rel=.stylesheet|object)", text)
    # What changes the direction of text is written out, and so is what a terminal obeys.
    assert not set("\u202e\x1b\x00") & set(text)
    assert r"\u202eabc" in text
    assert not set("\u202e\x1b\x00") & set(terminal(analyse(database.store)))


def test_huge_texts_are_cut_and_it_is_said(database: Database) -> None:
    database.begin()
    database.attempt("accepted " + "x" * 1_000_000, "accepted")
    database.attempt("rejected " + "y" * 1_000_000, "rejected", "verify")
    text = page_of(database)
    assert len(text) < 200_000
    assert "toolgate db show" in text
    assert "1000009 characters in all" in text


def test_a_record_of_usual_size_is_whole() -> None:
    record = {"item": {"question": "What?"}, "record": {"gates": [{"sentence": "s" * 5000}], "outcome": []}}
    parts, is_cut = shortened(record)
    assert not is_cut
    assert "s" * 5000 in parts["gates"]
    parts, is_cut = shortened({"item": None, "record": {"replies": [{"text": "t" * 900}] * 300}}, 20_000)
    assert is_cut
    assert sum(map(len, parts.values())) <= 20_000


def test_nothing_but_its_own_style_and_script_is_allowed(database: Database) -> None:
    text = page_of(database)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        [own] = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        assert f"'sha256-{base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()}'" in policy
    assert not re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?(?:https?:)?//', text)
    assert ' style="' not in text


def test_the_command_writes_a_file(database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database.begin()
    database.attempt("What?", "accepted")
    file, db = tmp_path / "out" / "report.html", str(database.store.path)
    assert main(["report", "--db", db, "--html", str(file)]) == 0
    assert file.read_text("utf-8").startswith("<!doctype html>")
    assert list(file.parent.iterdir()) == [file]
    assert "1 accepted" in capsys.readouterr().out
    (tmp_path / "file").touch()
    assert main(["report", "--db", db, "--html", str(tmp_path / "file" / "report.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main(["report", "--db", db, "--pool", "--html", str(file)]) == 2
    assert main(["report", "--db", db, "--audits", "unknown"]) == 2
