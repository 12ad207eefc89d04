"""From a document to a candidate: the keys there are, and what each may hold."""

import json
import time
from pathlib import Path

import pytest

from pytest_toolgate.candidate import Candidate, CandidateError, Fault, read_candidate
from pytest_toolgate.candidate.schema import MAX_FAULTS

from .items import yaml_text

DOMAINS = ("fenicsx", "scipy")


def read(folder: Path, text: str | bytes, name: str = "item.yaml", default: str | None = None) -> Candidate:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_candidate(path, domains=DOMAINS, default_domain=default)


def faults(folder: Path, text: str | bytes, name: str = "item.yaml") -> tuple[Fault, ...]:
    with pytest.raises(CandidateError) as caught:
        read(folder, text, name)
    return caught.value.faults


def test_a_whole_file(tmp_path: Path) -> None:
    text = yaml_text(
        id="0023",
        domain="fenicsx",
        options="{A: 012, B: no, C: null, D: '0.10'}",
        tags="[a, 007]",
        distractors="{A: one mesh too coarse}",
        metadata="{depth: {x: [1, ~]}}",
    )
    item = read(tmp_path, text)
    assert item.id == "0023"
    assert item.options == {"A": "012", "B": "no", "C": "null", "D": "0.10"}
    assert item.value == "no"
    assert item.domain == "fenicsx"
    assert item.solution == "print('ANSWER: 0.2')"
    assert item.tags == ("a", "007")
    assert item.distractors == {"A": "one mesh too coarse"}
    assert item.metadata == {"depth": {"x": ["1", "~"]}}
    assert item.lines["options"] == 2


def test_json_is_read_like_yaml(tmp_path: Path) -> None:
    document = {
        "question": "q",
        "options": dict(zip("ABCD", "1234", strict=True)),
        "answer": "A",
        "solution": "x",
    }
    item = read(tmp_path, json.dumps({**document, "domain": "scipy", "id": 23}), "item.json")
    assert (item.id, item.options["D"]) == ("23", "4")


def test_options_are_in_the_order_of_their_letters(tmp_path: Path) -> None:
    assert list(read(tmp_path, yaml_text(options="{D: '4', B: '2', A: '1', C: '3'}")).options) == list("ABCD")


def test_bom_and_crlf(tmp_path: Path) -> None:
    item = read(tmp_path, b"\xef\xbb\xbf" + yaml_text(question="∇·u = x²?").replace("\n", "\r\n").encode())
    assert item.question == "∇·u = x²?"
    assert item.solution == "print('ANSWER: 0.2')"


def test_the_id_is_the_file_stem_by_default(tmp_path: Path) -> None:
    assert read(tmp_path, yaml_text(), "item-0089.yaml").id == "item-0089"
    assert "file name" in faults(tmp_path, yaml_text(), "My Item.yaml")[0].sentence


def test_the_domain_is_the_configured_one_by_default(tmp_path: Path) -> None:
    assert read(tmp_path, yaml_text(domain=None), default="fenicsx").domain == "fenicsx"
    assert "configuration sets none" in faults(tmp_path, yaml_text(domain=None))[0].sentence


@pytest.mark.parametrize(
    ("changes", "reason", "field", "word"),
    [
        pytest.param({"question": None}, "bad-schema", "question", "missing", id="question-missing"),
        pytest.param({"question": ""}, "bad-schema", "question", "missing", id="question-nothing"),
        pytest.param({"question": "'  '"}, "bad-schema", "question", "empty", id="question-empty"),
        pytest.param({"question": "[x]"}, "bad-schema", "question", "text", id="question-list"),
        pytest.param({"answer": "E"}, "bad-answer", "answer", "`E`", id="C11-letter"),
        pytest.param({"answer": "'0.2'"}, "bad-answer", "answer", "write `answer: B`", id="C11-value"),
        pytest.param({"answer": None}, "bad-schema", "answer", "missing", id="C11-missing"),
        pytest.param({"answer": ""}, "bad-schema", "answer", "missing", id="C11-nothing"),
        pytest.param({"answer": "0.060723"}, "bad-answer", "answer", "letters", id="B11-value"),
        pytest.param({"answer": "b"}, "bad-answer", "answer", "write `answer: B`", id="B11-lower"),
        pytest.param({"answer": '"(B)"'}, "bad-answer", "answer", "write `answer: B`", id="B11-brackets"),
        pytest.param({"answer": '" B"'}, "bad-answer", "answer", "write `answer: B`", id="B11-space"),
        pytest.param({"answer": "[B]"}, "bad-answer", "answer", "letters", id="B11-list"),
        pytest.param({"answer": "AB"}, "bad-answer", "answer", "letters", id="B11-two"),
        pytest.param({"answer": "Ｂ"}, "bad-answer", "answer", "letters", id="B11-wide"),
        pytest.param({"options": None}, "bad-schema", "options", "missing", id="C11-no-options"),
        pytest.param({"options": "[1, 2, 3, 4]"}, "bad-options", "options", "map", id="C11-list"),
        pytest.param({"options": "{A: 1, B: 2, C: 3}"}, "bad-options", "options", "D is missing", id="C11-3"),
        pytest.param({"options": "{A: 1, B: 2, C: 3, D: 4, E: 5}"}, "bad-options", "options.E", "`E`", id="C11-5"),
        pytest.param({"options": "{a: 1, B: 2, C: 3, D: 4}"}, "bad-options", "options.a", "`a`", id="C11-case"),
        pytest.param(
            {"options": "{A: , B: 2, C: 3, D: 4}"}, "bad-options", "options.A", "empty", id="C11-nothing-at-A"
        ),
        pytest.param({"options": "{A: 1, B: ' ', C: 3, D: 4}"}, "bad-options", "options.B", "empty", id="C11-space"),
        pytest.param(
            {"options": "{A: 1, B: '\u00a0', C: 3, D: 4}"}, "bad-options", "options.B", "empty", id="C11-nbsp"
        ),
        pytest.param({"options": "{A: 1, B: [2], C: 3, D: 4}"}, "bad-options", "options.B", "text", id="C11-B-list"),
        pytest.param({"id": "Item"}, "bad-schema", "id", "a-z0-9", id="id-case"),
        pytest.param({"id": "../x"}, "bad-schema", "id", "a-z0-9", id="id-path"),
        pytest.param({"id": "é"}, "bad-schema", "id", "a-z0-9", id="id-letter"),
        pytest.param({"id": "٣"}, "bad-schema", "id", "a-z0-9", id="id-digit"),
        pytest.param({"id": "x" * 101}, "bad-schema", "id", "100", id="id-long"),
        pytest.param({"id": '"x\\n"'}, "bad-schema", "id", "a-z0-9", id="id-newline"),
        pytest.param({"domain": "fenics"}, "bad-schema", "domain", "`fenicsx`", id="domain"),
        pytest.param({"tags": "a, b"}, "bad-schema", "tags", "list", id="tags-text"),
        pytest.param({"tags": "[[a]]"}, "bad-schema", "tags", "list", id="tags-nested"),
        pytest.param({"distractors": "{B: x}"}, "bad-schema", "distractors.B", "answer itself", id="distractor-answer"),
        pytest.param({"distractors": "{E: x}"}, "bad-schema", "distractors.E", "no option", id="distractor-letter"),
        pytest.param({"distractors": "[x]"}, "bad-schema", "distractors", "map", id="distractor-list"),
        pytest.param({"metadata": "[x]"}, "bad-schema", "metadata", "mapping", id="metadata"),
        pytest.param({"solution": None}, "bad-schema", "solution", "missing", id="solution-missing"),
        pytest.param({"solution": "' '"}, "bad-schema", "solution", "empty", id="solution-empty"),
        pytest.param({"solution_file": "x.py"}, "bad-schema", "solution", "either", id="solution-twice"),
        pytest.param({"anwser": "B"}, "bad-schema", "anwser", "`answer`", id="unknown-key"),
        pytest.param({"Question": "x"}, "bad-schema", "Question", "`question`", id="unknown-case"),
    ],
)
def test_faults(tmp_path: Path, changes: dict[str, str | None], reason: str, field: str, word: str) -> None:
    first = faults(tmp_path, yaml_text(**changes))[0]
    assert (first.reason, first.field) == (reason, field)
    assert word in first.sentence


@pytest.mark.parametrize("text", ["[a]", "just text", "- question: x"])
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    assert faults(tmp_path, text)[0].reason == "bad-schema"


def test_all_faults_are_told_with_their_lines(tmp_path: Path) -> None:
    found = faults(tmp_path, yaml_text(answer="E", tags="x", oops="1"))
    assert [(fault.field, fault.line) for fault in found] == [("oops", 8), ("answer", 3), ("tags", 7)]


def test_a_file_of_nonsense_is_told_shortly_and_soon(tmp_path: Path) -> None:
    begun = time.process_time()
    assert len(faults(tmp_path, "".join(f"k{i}: 1\n" for i in range(90_000)))) == MAX_FAULTS
    assert len(faults(tmp_path, "? " + "k" * 900_000 + "\n: 1\n")[0].sentence) < 200
    assert time.process_time() - begun < 5


# --- solution_file ---------------------------------------------------------------------------------------


def with_file(folder: Path, name: str) -> Candidate:
    return read(folder, yaml_text(solution=None, solution_file=json.dumps(name)))


def refused_file(folder: Path, name: str) -> str:
    found = faults(folder, yaml_text(solution=None, solution_file=json.dumps(name)))
    assert (found[0].reason, found[0].field) == ("bad-schema", "solution_file")
    return found[0].sentence


def test_a_script_beside_the_candidate(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "s.py").write_bytes(b"import x\r\nprint(1)\r\n")
    assert with_file(tmp_path, "scripts/s.py").solution == "import x\r\nprint(1)\r\n"


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("x")
    (tmp_path / "link.py").symlink_to("s.py")
    assert with_file(tmp_path, "link.py").solution == "x"


@pytest.mark.parametrize("name", ["../s.py", "a/../../s.py", "..", "/etc/passwd", "a/../s.py"])
def test_a_path_that_leads_away(tmp_path: Path, name: str) -> None:
    assert "beside the candidate" in refused_file(tmp_path, name)


@pytest.mark.parametrize("name", ["missing.py", "x" * 5000])
def test_a_path_to_nothing(tmp_path: Path, name: str) -> None:
    assert "does not exist" in refused_file(tmp_path, name)


def test_links_out_folders_and_files_that_are_no_script(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "folder").mkdir(parents=True)
    (tmp_path / "secret.py").write_text("x")
    (inside / "out.py").symlink_to(tmp_path / "secret.py")
    (inside / "away").symlink_to(tmp_path)
    (inside / "loop.py").symlink_to("loop.py")
    (inside / "empty.py").write_text("\n")
    (inside / "latin.py").write_bytes(b"# \xe9")
    (inside / "big.py").write_bytes(b"x" * (1024 * 1024 + 1))
    assert "link out" in refused_file(inside, "out.py")
    assert "link out" in refused_file(inside, "away/secret.py")
    assert "does not exist" in refused_file(inside, "loop.py")
    assert "regular" in refused_file(inside, "folder")
    assert "regular" in refused_file(inside, ".")
    assert "empty" in refused_file(inside, "empty.py")
    assert "not UTF-8" in refused_file(inside, "latin.py")
    assert "larger" in refused_file(inside, "big.py")
