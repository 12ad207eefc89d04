"""Reading the reply of a model that saw the question without its options."""

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.matching import match_answer
from pytest_toolgate.candidate.numbers import read_number
from pytest_toolgate.screen.reading import Reading
from pytest_toolgate.screen.value_reading import ValueReading, read_value

from .items import F1

WORDS = {"A": "the cube", "B": "(0, 1) and *more*.", "C": "$u_h$", "D": "−x + y"}
MIXED = {"A": "0.5", "B": "2π", "C": "diverges", "D": "1.5"}


def read(reply: str, options: dict[str, str] = F1) -> ValueReading:
    reading = read_value(reply, options)
    assert bool(reading.note) is (reading.letter is None)
    assert reading.letter is None or reading.value is not None
    return reading


def test_a_value_reading_is_a_reading() -> None:
    assert isinstance(read("ANSWER: 0.060723"), Reading)


@pytest.mark.parametrize(
    "reply",
    [
        *("ANSWER: 0.060723", "ANSWER:0.060723", "ANSWER : 0.060723\n", "ANSWER：0.060723", "answer: 0.060723"),
        *("**ANSWER: 0.060723**", "**ANSWER:** 0.060723", "**ANSWER**: **0.060723**", "- Answer: *0.060723*"),
        *("ANSWER: $0.060723$", "ANSWER: $$0.060723$$", "ANSWER: \\(0.060723\\)", "ANSWER: \\[0.060723\\]"),
        *("ANSWER: \\boxed{0.060723}", "ANSWER: $\\boxed{0.060723}$.", "\\boxed{ANSWER: 0.060723}"),
        *("ANSWER: \\boxed{\\text{0.060723}}", "\\boxed{\\text{ANSWER: }0.060723}", "$\\text{ANSWER: } 0.060723$"),
        *("ANSWER: 0.060723.", "ANSWER: `0.060723`.", "ANSWER: (0.060723)", 'ANSWER: "0.060723"', "ANSWER: 0.060723。"),
        *("ANSWER: ≈ 0.060723", "ANSWER: ~0.060723", "ANSWER: = 0.060723", "ANSWER: 0.060723\\,", "ANSWER = 0.060723"),
        *("ANSWER:\n0.060723", "**Answer:**\n\n0.060723\n", "ANSWER:\n$$\n0.060723\n$$", "ANSWER:\n\\[\n0.060723\n\\]"),
        *("### Final answer: 0.060723", "The final answer: 0.060723", "My ANSWER: 0.060723", "So ANSWER: 0.060723"),
        *("ANSWER: 0.060723<|im_end|>", "ANSWER: 0.060723</s>", "\ufeffANSWER: \u200b0.060723", "ANSWER: 0.060723\r\n"),
        *("ANSWER: 0.0607234999", "ANSWER: 6.0723e-2", "ANSWER: 6.0723\\%", "ANSWER: 6.0723 × 10⁻²", "**0.060723**"),
        *("ANSWER: 6.0723 \\times 10^{-2}", "ANSWER: $\\boxed{6.0723\\times10^{-2}}$.", "\\boxed{ANSWER: 6.0723e-2}"),
        *("ANSWER: 0.5\nWait, no.\nANSWER: 0.060723", "ANSWER: 0.060723\n\nPerhaps.", "0.060723\n"),
        *("ANSWER: ０.０６０７２３", "\\boxed{ANSWER: 6.0723 * 10^{-2}}"),
        *("<think>ANSWER: 0.5</think>\nANSWER: 0.060723", "ANSWER: 0.060723\n<think>ANSWER: 0.5"),
        "ANSWER: 0.060723" + " " * 100_000,
    ],
    ids=lambda reply: repr(reply[:60]),
)
def test_a_stated_value_that_rounds_to_an_option_chooses_it(reply: str) -> None:
    assert read(reply).letter == "B"


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("ANSWER: 0.07", "0.07"),
        ("ANSWER: $\\boxed{0.07}$.", "0.07"),
        ("ANSWER: 0.060723\nANSWER: 0.07", "0.07"),
        ("ANSWER: 0.0607", "0.0607"),
        ("ANSWER: 0.0607235", "0.0607235"),
        ("ANSWER: −0.060723", "-0.060723"),
        ("ANSWER: 1e300", "1e300"),
        ("0.07", "0.07"),
    ],
)
def test_a_stated_number_that_is_no_option_is_a_wrong_answer_and_never_the_nearest_option(
    reply: str, value: str
) -> None:
    reading = read(reply)
    assert reading.letter is None
    assert reading.value is not None
    assert reading.value.replace("−", "-") == value
    assert reading.note.endswith("which is no option")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("", "states no answer"),
        ("I cannot compute this without software.", "states no answer"),
        ("The energy is about 0.060723.", "states no answer"),
        ("<think>ANSWER: 0.060723", "states no answer"),
        ("ANSWERS: 0.060723", "states no answer"),
        ("NONANSWER: 0.060723", "states no answer"),
        ("To answer: 0.060723", "states no answer"),
        ("B", "states no answer"),
        ("ANSWER:", "neither an option nor a finite decimal"),
        ("ANSWER: unknown", "states `unknown`"),
        ("ANSWER: 0.060723\nANSWER: cannot be determined", "states `cannot be determined`"),
        ("ANSWER: nan", "finite"),
        ("ANSWER: ∞", "finite"),
        ("ANSWER: 0.060723 or 0.060074", "neither"),
        ("ANSWER: 0.060723 m", "neither"),
        ("ANSWER: < 0.060723", "neither"),
        ("ANSWER: 0.060723...", "neither"),
        ("ANSWER: 5!", "neither"),
        ("ANSWER: 0,060723", "neither"),
        ("ANSWER: \\sqrt{0.060723}", "neither"),
        ("ANSWER: \\frac{1}{2}", "neither"),
        ("ANSWER: $LETTER", "neither"),
        ("ANSWER: " + "9" * 300, "neither"),
        ("ANSWER: 0.060723" + " " * 5000 + "or not", "longer than any option"),
    ],
    ids=lambda text: repr(text[:60]),
)
def test_a_reply_without_a_readable_value_is_no_answer(reply: str, word: str) -> None:
    reading = read(reply)
    assert (reading.letter, reading.value) == (None, None)
    assert word in reading.note


@pytest.mark.parametrize("reply", ["ANSWER: B", "ANSWER: **B**", "ANSWER: (B)"])
def test_a_letter_means_nothing_to_a_model_that_was_shown_none(reply: str) -> None:
    reading = read(reply)
    assert (reading.letter, reading.value) == (None, None)
    assert "the letter B" in reading.note


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("ANSWER: the cube", "A"),
        ("**ANSWER: the  cube.**", "A"),
        ("ANSWER: (0, 1) and *more*.", "B"),
        ("**Answer:** (0, 1) and *more*.", "B"),
        ("ANSWER: $u_h$", "C"),
        ("ANSWER: \\(u_h\\)", "C"),
        ("ANSWER: -x + y", "D"),
        ("ANSWER: the ball", None),
        ("ANSWER: the Cube", None),
    ],
)
def test_words_are_an_option_only_as_exactly_its_text(reply: str, letter: str | None) -> None:
    assert read(reply, WORDS).letter == letter


@pytest.mark.parametrize("options", [WORDS, MIXED], ids=["words", "mixed"])
def test_a_number_is_wrong_only_where_every_option_is_one(options: dict[str, str]) -> None:
    """6.2832 may well mean `2π`, and a reply that we cannot read must not count as wrong."""
    reading = read("ANSWER: 6.2832", options)
    assert (reading.letter, reading.value) == (None, None)
    assert "not all options are numbers" in reading.note


def test_a_number_among_words_is_still_found() -> None:
    assert read("ANSWER: 1.50", MIXED).letter == "D"


def test_a_value_that_fits_two_options_chooses_neither() -> None:
    reading = read("ANSWER: 0.06071", {"A": "0.06", "B": "0.0607", "C": "1", "D": "2"})
    assert (reading.letter, reading.value) == (None, None)
    assert "fits several options" in reading.note


_PIECES = st.sampled_from(
    [
        *("ANSWER", "answer", ":", "：", " ", "\n", "B", "is", "<think>", "</think>", "\u0301"),
        *("**", "$", "\\boxed{", "\\(", "\\", "}", "(", ")", "-", ".", "≈"),
        *("0", "0.060723", "1e999", "10^{", "nan", "%", "²"),
    ]
)


@given(
    reply=st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join)),
    texts=st.lists(st.one_of(st.text(max_size=30), st.decimals().map(str)), min_size=4, max_size=4),
)
def test_no_reply_raises(reply: str, texts: list[str]) -> None:
    for options in (F1, dict(zip("ABCD", texts, strict=True))):
        for text in (reply, f"ANSWER: {reply}"):
            assert read(text, options).letter in ("A", "B", "C", "D", None)


@given(
    value=st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("0.0589"), max_value=Decimal("0.0614")),
    form=st.sampled_from(["{}", "**{}**", "${}$", "$\\boxed{{{}}}$.", "\\({}\\)", "`{}`", "{}.", "\n\n{}\n"]),
    before=st.text(max_size=40),
)
def test_a_value_is_matched_as_one_that_a_script_prints(value: Decimal, form: str, before: str) -> None:
    reading = read(f"{before}\nANSWER: {form.format(value)}")
    assert reading.letter == match_answer(str(value), F1).letter or "<" in before
    assert reading.value is not None or "<" in before
    assert read_number(reading.value or str(value)) == read_number(str(value))


LONG = {letter: f"{letter.lower()} " * 900 for letter in "ABCD"}
_HOSTILE = [
    *("ANSWER: 0.5 ", "ANSWER:\n", "answer: 1\n", "ANSWER", "the ", "\n", "- ", "*", "$", "(", "\\", "\\boxed{", "}"),
    *("<think>", "<|im_end|>", "\u0301\u0323", ".", "9", "10^{", " ", "\\text", "=", "_"),
]


@pytest.mark.parametrize("options", [F1, LONG], ids=["F1", "long-options"])
@pytest.mark.parametrize("head", ["", "ANSWER: ", "ANSWER: 0.5", "the "], ids=repr)
@pytest.mark.parametrize("piece", _HOSTILE, ids=repr)
def test_a_megabyte_is_read_in_linear_time(piece: str, head: str, options: dict[str, str]) -> None:
    begun = time.process_time()
    read(head + piece * (1_000_000 // len(piece)), options)
    assert time.process_time() - begun < 2
