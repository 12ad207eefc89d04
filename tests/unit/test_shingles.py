"""Shingles: two texts that differ in numbers, signs, case, spaces or Unicode form are made of the same."""

import string
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_toolgate.pool.shingles import MASK, MAX_TEXT, of_candidate, pairs, words

from .items import F1, candidate

NUMBERS = [
    *("1", "0.5", "1e-3", "−2", "-2", "+7", "1/3", ".5", "5.", "1E+5", "1e−3", "2nd", "3rd", "17th", "0x1F", "1_000"),
    *("1,000", "1 000", "½", "x²"[1:], "5 %", "٣", "1.5 × 10^{-3}", r"1.5 \times 10^{-3}", r"$2\cdot10^{4}$", "10⁻³"),
    *("1.5 x 10^-3", "2 * 10**-3", r"\frac{1}{3}", r"\dfrac12", "(0.3, 0.5, -0.2)", "1.2.3", "0.11.0"),
]
# Every form that a constant of a question or a script has.
CONSTANT = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=5).map(lambda value: f"{value:f}"),
    st.fractions().map(str),
    st.floats(1e-9, 1e9).map(lambda value: f"{value:.3e}"),
    st.sampled_from(NUMBERS),
)
QUESTION = "Mesh the square by {} and {} cells, k(y) = {} + {} y^{} - {} sin(pi y). What is J, to {} decimals?"
SCRIPT = (
    "import scipy\n\nk = {}\nvalue = scipy.special.jv({}, k * {}) - {} * k**{}\nprint(f'ANSWER: {value:.6f}', {})\n"
)


def filled(template: str, constants: list[str]) -> str:
    """The template with its holes filled; braces that hold something are the script's own."""
    parts = template.split("{}")
    return "".join(part + constant for part, constant in zip(parts, [*constants, ""], strict=True))


@pytest.mark.parametrize("number", NUMBERS)
def test_every_form_of_a_number_is_one_mask(number: str) -> None:
    assert words(number) == [MASK]
    assert words(f"let a be {number} and b zero") == ["let", "a", "be", MASK, "and", "b", "zero"]
    assert words(f"f(x)={number}*g(x)") == ["f", "x", MASK, "g", "x"]


@given(left=st.lists(CONSTANT, min_size=7, max_size=7), right=st.lists(CONSTANT, min_size=7, max_size=7))
def test_any_constants_in_the_same_places_make_the_same_shingles(left: list[str], right: list[str]) -> None:
    for template in (QUESTION, SCRIPT):
        holes = template.count("{}")
        assert pairs(filled(template, left[:holes])) == pairs(filled(template, right[:holes]))


def test_names_and_words_are_kept() -> None:
    assert words("u_h = P1(x2, Λ) + alpha") == ["u_h", "p1", "x2", "λ", "alpha"]
    assert words("17x14 cells, 3D, 2pi") == [MASK, "x14", "cells", MASK, "d", MASK, "pi"]
    assert words("0beta 0xyz") == [MASK, "beta", MASK, "xyz"]


def test_the_decimals_of_an_answer_line_are_a_constant() -> None:
    assert words("f'ANSWER: {value:.4f}'") == words("f'ANSWER: {value:.6f}'") == ["f", "answer", "value", MASK, "f"]


def test_a_language_without_spaces_has_words_too() -> None:
    assert words("网格为17乘14") == ["网", "格", "为", MASK, "乘", MASK]


def test_pairs_of_neighbouring_words() -> None:
    assert pairs("the mesh of 3 x 4 cells") == {"the mesh", "mesh of", "of #", "# x", "x #", "# cells"}
    assert pairs("Compute!") == {"compute"}
    assert pairs(" (;) ") == frozenset()


LATIN = st.text(string.ascii_letters + string.digits + " éÄøßΣλЖ.,+-()", max_size=60)


@given(text=LATIN)
def test_letter_case_does_not_matter(text: str) -> None:
    assert words(text.upper()) == words(text.lower()) == words(text)


@given(text=st.text(max_size=60))
@example(text="Å ﬁ ²")
def test_unicode_form_does_not_matter(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(
    parts=st.lists(st.text(string.ascii_letters, min_size=1), max_size=20), space=st.sampled_from(" \n\t\u00a0\u3000")
)
def test_white_space_and_symbols_do_not_matter(parts: list[str], space: str) -> None:
    assert words(space.join(parts)) == words(" + \u200b(".join(parts)) == words(f"  {'  '.join(parts)} ")


@given(text=st.text(max_size=200))
def test_there_are_no_more_pairs_than_words(text: str) -> None:
    assert len(pairs(text)) <= len(words(text))


@pytest.mark.parametrize(
    "text",
    ["1" * MAX_TEXT, "0b" * MAX_TEXT, "0x1 " * MAX_TEXT, "1e" * MAX_TEXT, "a\u0301" * MAX_TEXT, "\u0301" * 10**6],
)
def test_a_file_of_the_largest_size_is_read_no_further_than_said(text: str) -> None:
    assert words(text + " more") == words(text)
    assert len(words(text)) <= MAX_TEXT


def test_the_question_and_the_script_stand_apart() -> None:
    one = of_candidate(candidate(question="What is it?", solution="print(f(2))"))
    assert one.question == {"what is", "is it"}
    assert one.script == {"print f", "f #"}


def test_options_belong_to_the_question_where_they_hold_a_word() -> None:
    plain = of_candidate(candidate(question="Which?"))
    assert plain.question == {"which"}
    told = of_candidate(candidate(question="Which?", options=F1 | {"A": "the mesh size", "B": "3 kW"}))
    assert told.question == {"which", "the mesh", "mesh size", "# kw"}
