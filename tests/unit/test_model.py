"""How a candidate is identified."""

import dataclasses
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate import Candidate, presented_hash

from .items import F1, candidate

ITEM = candidate(question="Fläche von  u²?\n", solution="import x\nif x:\n    print('é')\n")


def changed(**fields: object) -> Candidate:
    return dataclasses.replace(ITEM, **fields)  # type: ignore[arg-type]  # any field of the dataclass


@pytest.mark.parametrize(
    "twin",
    [
        changed(question="  Fläche von\n\tu²?"),
        changed(question="Fläche\u00a0von u²?"),
        changed(question=unicodedata.normalize("NFD", ITEM.question)),
        changed(options={letter: f" {text} " for letter, text in F1.items()}),
        changed(solution=ITEM.solution.replace("\n", "\r\n")),
        changed(solution="\n\n" + ITEM.solution.replace("import x", "import x   ") + "\n"),
        changed(solution=unicodedata.normalize("NFD", ITEM.solution)),
        changed(id="other", tags=("a",), distractors={"A": "x"}, metadata={"a": 1}, lines={"id": 3}),
    ],
    ids=["spaces", "no-break", "nfd", "option-spaces", "crlf", "blank-lines", "script-nfd", "not-content"],
)
def test_whitespace_and_unicode_form_do_not_matter(twin: Candidate) -> None:
    assert twin.fingerprint == ITEM.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        changed(question="Fläche von u2?"),
        changed(question="Fläche vonu²?"),
        changed(question="fläche von u²?"),
        changed(question="Fläche von u²"),
        changed(options=F1 | {"A": "0.0589960"}),
        changed(options=F1 | {"A": "0.05 8996"}),
        changed(options=F1 | {"A": "\u22120.058996"}),
        changed(options=F1 | {"A": "０.058996"}),
        changed(options=F1 | {"A": "$0.058996$"}),
        changed(options=F1 | {"A": F1["C"], "C": F1["A"]}),
        changed(answer="C"),
        changed(domain="fenicsx"),
        changed(solution=ITEM.solution.replace("    print", "  print")),
        changed(solution=ITEM.solution.replace("x:\n", "x:\n\n")),
    ],
)
def test_anything_else_does(other: Candidate) -> None:
    assert other.fingerprint != ITEM.fingerprint


def test_what_a_screen_sees_depends_neither_on_answer_nor_script_nor_tags() -> None:
    assert changed(answer="A", solution="y", tags=("t",), domain="fenicsx").presented == ITEM.presented
    assert changed(options=F1 | {"A": "1"}).presented != ITEM.presented
    assert ITEM.presented == presented_hash(ITEM.question, ITEM.options)


def test_twins_have_the_same_question_and_set_of_options() -> None:
    turned = dict(zip("ABCD", (F1[letter] for letter in "DCBA"), strict=True))
    assert changed(options=turned, answer="C").twin_key == ITEM.twin_key
    assert changed(options=turned).presented != ITEM.presented
    assert changed(options=F1 | {"A": "1"}).twin_key != ITEM.twin_key
    assert changed(question="?").twin_key != ITEM.twin_key


def test_parts_do_not_run_into_each_other() -> None:
    assert candidate(question="a", options=dict(zip("ABCD", ("b", "c", "d", "e"), strict=True))).twin_key != (
        candidate(question="a b", options=dict(zip("ABCD", ("c", "d", "e", ""), strict=True))).twin_key
    )


_SPACES = st.text(" \t\n\u00a0\u2009", min_size=1, max_size=3)


@given(
    words=st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), max_size=5),
    data=st.data(),
)
def test_spacing_and_form_of_any_question(words: list[str], data: st.DataObject) -> None:
    other = "".join(word + data.draw(_SPACES) for word in words)
    form: Literal["NFC", "NFD"] = data.draw(st.sampled_from(["NFC", "NFD"]))
    first, second = (
        candidate(question=" ".join(words)),
        candidate(question=unicodedata.normalize(form, other)),
    )
    assert first.fingerprint == second.fingerprint
    assert first.presented == second.presented
    assert first.twin_key == second.twin_key


@given(left=st.text(max_size=8), right=st.text(max_size=8))
def test_questions_that_differ_in_more_differ(left: str, right: str) -> None:
    same = unicodedata.normalize("NFC", left).split() == unicodedata.normalize("NFC", right).split()
    assert (candidate(question=left).fingerprint == candidate(question=right).fingerprint) is same
