"""From bytes to a tree of text: what is taken as written, and what is refused."""

import contextlib
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate import CandidateError
from pytest_toolgate.candidate.document import MAX_BYTES, MAX_DEPTH, decode, read_bytes, read_document


def plain(text: str, *, is_json: bool = False) -> object:
    return read_document(text, is_json=is_json).plain()


def refusal(text: str, *, is_json: bool = False) -> CandidateError:
    with pytest.raises(CandidateError) as caught:
        read_document(text, is_json=is_json)
    assert caught.value.faults[0].reason == "bad-yaml"
    return caught.value


@pytest.mark.parametrize(
    "written",
    [
        *(
            "0.10",
            "012",
            "0023",
            "0089",
            "no",
            "No",
            "on",
            "yes",
            "null",
            "~",
            "true",
            "1e3",
            "1_000",
            ".inf",
            "0x1F",
        ),
        *("12:30:45", "2024-01-02", "=", "+1", "-0.0", "NaN", "1.", "∇·u", "x²"),
    ],
    ids=lambda written: f"H11-{written}",
)
def test_scalars_are_text_as_written(written: str) -> None:
    assert plain(f"k: {written}\nl: '{written}'\nm: [{written}]") == {
        "k": written,
        "l": written,
        "m": [written],
    }


@pytest.mark.parametrize("written", ["0.10", "1e-3", "-0", "true", "false", "null", "NaN", "1" * 5000])
def test_json_scalars_are_text_as_written(written: str) -> None:
    assert plain(f'{{"k": {written}}}', is_json=True) == {"k": written}


@pytest.mark.parametrize("text", ["k:\nl: x", "k: # nothing\nl: x", "{k: , l: x}"])
def test_nothing_written_at_all_is_missing(text: str) -> None:
    assert plain(text) == {"k": None, "l": "x"}


def test_an_empty_quoted_text_is_text() -> None:
    assert plain("k: ''") == {"k": ""}


@pytest.mark.parametrize("style", ["|", "|+", ">", "|-"])
def test_block_scalars_lose_trailing_newlines(style: str) -> None:
    assert plain(f"k: {style}\n  a\n\n\nl: x") == {"k": "a", "l": "x"}


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        pytest.param("answer: B\nid: x\nanswer: C\n", "`answer` is given twice, first in line 1", 3, id="H13"),
        pytest.param("a: 1\nb:\n  c: 1\n  c: 2\n", "`c` is given twice, first in line 3", 4, id="H13-nested"),
        pytest.param("{a: 1, a: 1}", "twice", 1, id="H13-flow"),
        pytest.param("a: 1\n'a': 2", "twice", 2, id="H13-quoted"),
        pytest.param("a: &x 1\nb: *x", "anchors", 1, id="anchor"),
        pytest.param("a: *x", "anchors", 1, id="alias"),
        pytest.param("&k a: 1", "anchors", 1, id="anchor-on-key"),
        pytest.param("<<: {a: 1}", "merge", 1, id="merge"),
        pytest.param("a: !!python/object/apply:os.system [id]", "tags", 1, id="C13-python-tag"),
        pytest.param("a: !!str 1", "tags", 1, id="tag"),
        pytest.param("a: ! 1", "tags", 1, id="bare-tag"),
        pytest.param("%TAG ! tag:x,2000:\n---\na: 1", "tag directives", 1, id="tag-directive"),
        pytest.param("a: 1\n---\nb: 2", "several documents", 2, id="documents"),
        pytest.param("? [a]\n: 1", "key must be", 1, id="complex-key"),
        pytest.param("", "empty", None, id="empty"),
        pytest.param("# only a comment\n", "empty", None, id="comment"),
        pytest.param("a: [1", "not YAML", 2, id="open-bracket"),
        pytest.param("a: 1\n\tb: 2", "not YAML", 2, id="tab"),
        pytest.param('a: "\\q"', "not YAML", 1, id="escape"),
        pytest.param("é: " + "é" * 50 + "\nb: \x00", "not YAML", 2, id="control-behind-non-ascii"),
        pytest.param('a: "x\\0y"', "U+0000", 1, id="escaped-control"),
        pytest.param('a: "\\x9b"', "U+009B", 1, id="terminal-escape"),
        pytest.param("a: x" + "\u0301\u0323" * 20, "combining marks", 1, id="marks"),
        pytest.param("[" * (MAX_DEPTH + 1), "deeper", 1, id="depth"),
    ],
)
def test_yaml_outside_the_subset_is_refused_with_its_line(text: str, word: str, line: int | None) -> None:
    fault = refusal(text).faults[0]
    assert word in fault.sentence
    assert fault.line == line


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        pytest.param('{"answer": "B",\n"answer": "C"}', "`answer` is given twice", 2, id="H13"),
        pytest.param('{"a": {"c": 1,\n"c": 2}}', "`c` is given twice", 2, id="H13-nested"),
        pytest.param("{'a': 1}", "not JSON", 1, id="quotes"),
        pytest.param('{"a": 1,\n}', "not JSON", 2, id="trailing-comma"),
        pytest.param('{"a": 1} {"b": 2}', "not JSON", 1, id="documents"),
        pytest.param("", "not JSON", 1, id="empty"),
        pytest.param('{"a": "\\ud800"}', "U+D800", 1, id="surrogate"),
        pytest.param('{"a": "\\u0000"}', "U+0000", 1, id="control"),
        pytest.param('{"a": {"\\u001b": 1}}', "U+001B", 1, id="control-in-key"),
        pytest.param("[" * 100_000, "deeper", None, id="depth"),
        pytest.param('{"a":' * 100_000, "deeper", None, id="depth-of-objects"),
    ],
)
def test_json_faults_are_told_with_their_line(text: str, word: str, line: int | None) -> None:
    fault = refusal(text, is_json=True).faults[0]
    assert word in fault.sentence
    assert fault.line == line


def test_brackets_inside_json_text_are_no_depth() -> None:
    assert plain(json.dumps({"a": '[{"\\' * 50}), is_json=True) == {"a": '[{"\\' * 50}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"\xef\xbb\xbfid: x\r\n", "id: x\r\n", id="H15-bom-crlf"),
        pytest.param("q: ∇·u = x²".encode(), "q: ∇·u = x²", id="H15-signs"),
    ],
)
def test_utf_8_is_read_with_or_without_a_mark(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "where", "line"),
    [
        pytest.param(b"id: caf\xe9", "0xe9 at offset 7", 1, id="H15-latin-1"),
        pytest.param(b"\xef\xbb\xbfid: caf\xe9", "0xe9 at offset 10", 1, id="H15-bom-latin-1"),
        pytest.param(b"id: x\nq: \xb2", "0xb2 at offset 9", 2, id="H15-second-line"),
        pytest.param("id: x".encode("utf-16"), "0xff at offset 0", 1, id="H15-utf-16"),
        pytest.param(b"id: \xed\xa0\x80", "0xed at offset 4", 1, id="H15-surrogate"),
        pytest.param(b"id: \xc3", "0xc3 at offset 4", 1, id="H15-cut"),
    ],
)
def test_other_encodings_are_told_with_the_offset(data: bytes, where: str, line: int) -> None:
    with pytest.raises(CandidateError, match=where) as caught:
        decode(data)
    assert caught.value.faults[0].line == line


def test_a_file_over_the_cap_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"x" * MAX_BYTES)
    assert len(read_bytes(path)) == MAX_BYTES
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(CandidateError) as caught:
        read_bytes(path)
    assert caught.value.faults[0].reason == "too-large"


def test_lines_of_nodes() -> None:
    root = read_document("a: 1\n\nb:\n  c: |\n    x\n  d: 2\n", is_json=False)
    assert isinstance(root.value, dict)
    inner = root.value["b"].value
    assert isinstance(inner, dict)
    assert (root.value["a"].line, root.value["b"].line, inner["c"].line, inner["d"].line) == (1, 3, 4, 6)


_YAML_SIGNS = "ab:-[]{}?!&*|>'\"%#,~\n\t \\0\x00\ufeff\u2028é"


@given(
    data=st.one_of(st.binary(max_size=300), st.text(_YAML_SIGNS, max_size=120).map(str.encode)),
    is_json=st.booleans(),
)
def test_arbitrary_bytes_raise_nothing_but_candidate_errors(data: bytes, is_json: bool) -> None:
    with contextlib.suppress(CandidateError):
        read_document(decode(data), is_json=is_json)


_TREES = st.recursive(
    st.text(st.characters(exclude_categories=["C", "M", "Zl", "Zp"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@given(tree=_TREES)
def test_json_comes_back_as_written_by_either_parser(tree: object) -> None:
    # Trees without line breaks: what YAML makes of those inside quotes is another rule.
    text = json.dumps(tree, ensure_ascii=False)
    assert plain(text, is_json=True) == tree
    assert plain("k: " + text) == {"k": tree}


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("piece", ["[", "{", "{a: ", "- ", "? ", "a: b\n", "[a,", '"', "'", "\n ", "---\n", "%", "&a "])
def test_a_hostile_megabyte_takes_linear_time(piece: str, is_json: bool) -> None:
    text = piece * (MAX_BYTES // len(piece))
    begun = time.process_time()
    with contextlib.suppress(CandidateError):
        read_document(text, is_json=is_json)
    assert time.process_time() - begun < 5


def test_a_json_file_of_many_keys_takes_linear_time() -> None:
    text = json.dumps({"z": "x" * 900_000, **{f"m{i}": {f"k{j}": "v" for j in range(64)} for i in range(63)}})
    begun = time.process_time()
    read_document(text, is_json=True)
    assert time.process_time() - begun < 1
