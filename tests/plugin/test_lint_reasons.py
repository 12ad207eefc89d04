"""Lint, through the plugin: each broken file fails alone, with its reason and its place."""

import json
import re
from collections.abc import Mapping

import pytest

from .pool import OPTIONS, SCRIPT, Pool

EQUAL_PAIRS = (
    ("0.10", "0.1"),
    ("1e-3", "0.001"),
    ("1,000", "1000"),
    ("\N{MINUS SIGN}0.5", "-0.5"),
    ("$0.5$", "0.5"),
    ("50%", "0.5"),
    ("-0.0", "0"),
    ("\u0660.\u0661", "0.1"),
    ("1_000", "1000"),
    ("0.1", "0.1\N{NO-BREAK SPACE}"),
)


def _lint(pool: Pool) -> Mapping[str, str]:
    session = pool.run("--toolgate-gates=lint")
    return {name: verdict.removeprefix("rejected lint ") for name, verdict in session.verdicts.items()}


def test_options_and_answers(pool: Pool, workers: int) -> None:
    expected: dict[str, str] = {}
    for number, (left, right) in enumerate(EQUAL_PAIRS):
        pool.add(f"equal-{number}", options={**OPTIONS, "A": left, "B": right})
        expected[f"equal-{number}"] = "equal-options"
    rows: list[tuple[str, str, dict[str, object]]] = [
        ("close", "close-options", {"options": {**OPTIONS, "A": "0.06", "B": "0.0607"}}),
        ("not-separable", "close-options", {"options": {**OPTIONS, "A": "1e-13", "C": "0.0"}}),
        ("ten-hundred", "provisional lint", {"options": {"A": "10", "B": "100", "C": "150", "D": "15"}}),
        ("above", "bad-options", {"options": {**OPTIONS, "D": "All of the above"}}),
        ("both", "bad-options", {"options": {**OPTIONS, "D": "Both A and B"}}),
        ("none", "bad-options", {"options": {**OPTIONS, "D": "None of these"}}),
        ("label", "bad-options", {"options": {"A": "B", "B": "A", "C": "x", "D": "y"}}),
        ("label-inside", "bad-options", {"options": {**OPTIONS, "D": "(A) 3"}}),
        ("nan", "bad-options", {"options": {**OPTIONS, "D": "NaN"}}),
        ("comma", "bad-options", {"options": {**OPTIONS, "D": "0,06129"}}),
        ("blank", "bad-options", {"options": {**OPTIONS, "D": "  "}}),
        ("three", "bad-options", {"options": {k: v for k, v in OPTIONS.items() if k != "D"}}),
        ("five", "bad-options", {"options": {**OPTIONS, "E": "0.07"}}),
        ("letter-e", "bad-answer", {"answer": "E"}),
        ("value", "bad-answer", {"answer": "0.060723"}),
        ("lower", "bad-answer", {"answer": "b"}),
        ("brackets", "bad-answer", {"answer": "(B)"}),
        ("no-answer", "bad-schema", {"answer": None}),
        ("unknown-key", "bad-schema", {"anwser": "B"}),
        ("unknown-domain", "bad-schema", {"domain": "matlab"}),
        ("two-scripts", "bad-schema", {"solution_file": "x.py"}),
        ("climbs", "bad-schema", {"solution": None, "solution_file": "../x.py"}),
        ("bad-id", "bad-schema", {"id": "Not An Id"}),
    ]
    for name, reason, keys in rows:
        pool.add(name, **keys)  # type: ignore[arg-type]
        expected[name] = reason
    pool.add("script-is-list", None, tags=["x"], distractors={"B": "the answer itself"}, solution_file="there.py")
    expected["script-is-list"] = "bad-schema"

    session = pool.run("--toolgate-gates=lint", workers=workers)
    assert session.verdicts == {
        name: reason if " " in reason else f"rejected lint {reason}" for name, reason in expected.items()
    }
    for number in range(len(EQUAL_PAIRS)):
        assert re.search(r"options A .* and B ", session.cases[f"equal-{number}"].headline)
    assert "candidates/unknown-key.yaml:6: " in session.cases["unknown-key"].headline
    assert "`answer`" in session.cases["unknown-key"].headline


def test_scalars_are_text_as_written(pool: Pool) -> None:
    """H11: nothing is read as an octal number, a boolean or a date."""
    text = """\
        id: {id}
        domain: scipy
        question: How is {id} read?
        options: {{A: 012, B: no, C: null, D: 2026-01-02}}
        answer: A
        solution: 'print("ANSWER: 012")'
        """
    for item_id in ("0023", "0089", "no", "null"):
        pool.write(f"candidates/file-{item_id}.yaml", text.format(id=item_id))
    assert set(_lint(pool).values()) == {"provisional lint"}
    assert {row["candidate_id"] for row in pool.rows("SELECT * FROM attempts")} == {
        "0023",
        "0089",
        "no",
        "null",
    }
    stored = [json.loads(row["content"])["options"] for row in pool.rows("SELECT content FROM candidates")]
    assert stored == [{"A": "012", "B": "no", "C": "null", "D": "2026-01-02"}] * 4


def test_what_is_not_the_permitted_yaml(pool: Pool) -> None:
    """H13 and its kind: duplicate keys, anchors, tags, several documents, depth, syntax."""
    good = pool.add("good").read_text("utf-8")
    pool.write("candidates/twice.yaml", good + "answer: C\n")
    pool.write("candidates/anchor.yaml", good + "metadata: {a: &x 1, b: *x}\n")
    pool.write("candidates/tag.yaml", good + "metadata: !!python/object/apply:os.system ['true']\n")
    pool.write("candidates/merge.yaml", good + "metadata: {<<: {a: 1}}\n")
    pool.write("candidates/documents.yaml", good + "---\n" + good)
    pool.write("candidates/deep.yaml", good + "metadata: " + "[" * 5000 + "]" * 5000 + "\n")
    pool.write("candidates/syntax.yaml", "question: [unclosed\n")
    pool.write("candidates/empty.yaml", "")
    pool.write("candidates/list.yaml", "- question\n")
    pool.write("candidates/huge.yaml", good + "# " + "x" * 1024 * 1024 + "\n")
    pool.write("candidates/broken.json", '{"question": "x", "question": "y"}')

    session = pool.run("--toolgate-gates=lint")
    assert {name: verdict.removeprefix("rejected lint ") for name, verdict in session.verdicts.items()} == {
        "good": "provisional lint",
        **dict.fromkeys(
            ("twice", "anchor", "tag", "merge", "documents", "deep", "syntax", "empty", "broken"), "bad-yaml"
        ),
        "list": "bad-schema",
        "huge": "too-large",
    }
    assert re.search(r"twice\.yaml:6: .*`answer`.*line 4", session.cases["twice"].headline)


def test_encodings(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """H15: a byte order mark and CRLF load under LC_ALL=C, Latin-1 is refused with its offset."""
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("LANG", "C")
    text = pool.add("plain", question="Is ∇²u · n = 0?").read_text("utf-8").replace(r"\u2207\u00b2u \u00b7", "∇²u ·")
    pool.write("candidates/marked.yaml", b"\xef\xbb\xbf" + text.replace("Is ", "Was ").replace("\n", "\r\n").encode())
    pool.write("candidates/latin.yaml", text.replace("∇²u ·", "caf\xe9").encode("latin-1"))

    session = pool.run("--toolgate-gates=lint")
    assert session.verdicts == {
        "plain": "provisional lint",
        "marked": "provisional lint",
        "latin": "rejected lint bad-yaml",
    }
    offset = (pool.root / "candidates/latin.yaml").read_bytes().index(b"\xe9")
    assert f"not UTF-8: byte 0xe9 at offset {offset}" in session.cases["latin"].headline
    questions = {json.loads(row["content"])["question"] for row in pool.rows("SELECT content FROM candidates")}
    assert questions == {"Is ∇²u · n = 0?", "Was ∇²u · n = 0?"}


def test_a_script_file_may_not_lead_out_of_its_folder(pool: Pool) -> None:
    outside = pool.write("secret.py", SCRIPT)
    (pool.root / "candidates").mkdir()
    (pool.root / "candidates" / "link.py").symlink_to(outside)
    pool.write("candidates/beside.py", SCRIPT)
    pool.add("beside", None, solution_file="beside.py")
    pool.add("linked", None, solution_file="link.py")
    pool.add("missing", None, solution_file="nowhere.py")
    pool.add("absolute", None, solution_file=str(outside))
    assert _lint(pool) == {
        "beside": "provisional lint",
        "linked": "bad-schema",
        "missing": "bad-schema",
        "absolute": "bad-schema",
    }
