"""Which option a script's answer stands for: never the nearest one."""

import itertools
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_toolgate.candidate.matching import exact_option, match_answer
from pytest_toolgate.candidate.numbers import read_number
from pytest_toolgate.candidate.options import option_faults

from .items import F1

C05 = {"A": "0.353577", "B": "0.353999", "C": "0.354123", "D": "0.352000"}
WORDS = {"A": "the cube", "B": "the sphere", "C": "−x + y", "D": "$u_h$"}
ZERO = {"A": "0.000000", "B": "0.000001", "C": "1.000000", "D": "-1.000000"}
SIGNED = {"A": "−0.5", "B": "0.5", "C": "1.5", "D": "−1.5"}


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        pytest.param("B", F1, "B", id="letter"),
        pytest.param(" B ", F1, "B", id="letter-spaces"),
        pytest.param("0.060723", F1, "B", id="text"),
        pytest.param("0.0607234999", F1, "B", id="rounds"),
        pytest.param("0.0607225000001", F1, "B", id="rounds-up"),
        pytest.param("6.0723e-2", F1, "B", id="exponent"),
        pytest.param("6.0723%", F1, "B", id="percent"),
        pytest.param("$0.060723$", F1, "B", id="dollars"),
        pytest.param("1.2e-16", ZERO, "A", id="C07-tiny"),
        pytest.param("-0.000000", ZERO, "A", id="C07-minus-zero"),
        pytest.param("5e-7", ZERO, "A", id="C07-tie-to-even"),
        pytest.param("-0.5", SIGNED, "A", id="C09-ascii"),
        pytest.param("\u20130.5", SIGNED, "A", id="C09-en-dash"),
        pytest.param("\uff0d0.5", SIGNED, "A", id="C09-full-width"),
        pytest.param("\u2212 0.50", SIGNED, "A", id="C09-minus-space"),
        pytest.param("the  sphere", WORDS, "B", id="words"),
        pytest.param("-x + y", WORDS, "C", id="C09-words"),
        pytest.param("u_h", WORDS, "D", id="words-dollars"),
    ],
)
def test_matches(text: str, options: dict[str, str], letter: str) -> None:
    assert match_answer(text, options).letter == letter


@pytest.mark.parametrize(
    ("text", "options", "reason", "word"),
    [
        pytest.param("0.353576", C05, "mismatch", "nearest is A `0.353577`, 0.000001 away", id="C05"),
        pytest.param("0.3535775", C05, "mismatch", "nearest is A", id="C05-tie"),
        pytest.param("0.06", F1, "mismatch", "nearest", id="C05-too-short"),
        pytest.param("2e-13", {"A": "1e-13", "B": "3e-13", "C": "5e-13", "D": "7e-13"}, "mismatch", "", id="C07-exact"),
        pytest.param("nan", F1, "unreadable", "not finite", id="C13-nan"),
        pytest.param("inf", F1, "unreadable", "not finite", id="C13-inf"),
        pytest.param("-Infinity", WORDS, "unreadable", "not finite", id="C13-words"),
        pytest.param("None", F1, "unreadable", "neither", id="C13-none"),
        pytest.param("__import__('os').system('touch /tmp/pwn')", F1, "unreadable", "neither", id="C13-code"),
        pytest.param("(np.float64(0.060723),)", F1, "unreadable", "format the number", id="E05"),
        pytest.param("array([0.060723])", F1, "unreadable", "format the number", id="E05-array"),
        pytest.param("0.060723 0.060074", F1, "unreadable", "neither", id="two-values"),
        pytest.param("0.060723 m", F1, "unreadable", "neither", id="unit"),
        pytest.param("(0.060723+0j)", F1, "unreadable", "neither", id="complex"),
        pytest.param("b", F1, "unreadable", "neither", id="lower-letter"),
        pytest.param("E", F1, "unreadable", "neither", id="no-letter"),
        pytest.param("B.", F1, "unreadable", "neither", id="letter-and-more"),
        pytest.param("", F1, "unreadable", "empty", id="empty"),
        pytest.param("\u00a0", F1, "unreadable", "empty", id="space"),
        pytest.param("the ball", WORDS, "mismatch", "no option has the text", id="wrong-word"),
        pytest.param("3", WORDS, "mismatch", "no option matches", id="number-among-words"),
        pytest.param("0.0607", {"A": "0.06", "B": "0.0607", "C": "1", "D": "2"}, "", "", id="own-text-first"),
        pytest.param("0.06071", {"A": "0.06", "B": "0.0607", "C": "1", "D": "2"}, "ambiguous", "A and B", id="two-fit"),
        pytest.param("9" * 5000, F1, "unreadable", "neither", id="endless"),
    ],
)
def test_does_not_match(text: str, options: dict[str, str], reason: str, word: str) -> None:
    match = match_answer(text, options)
    assert match.reason == reason
    assert word in match.sentence
    assert (match.letter is None) is bool(reason)
    assert len(match.sentence) < 300


def test_a_text_that_two_options_have_stands_for_neither() -> None:
    assert exact_option("x", {"A": "x", "B": " x ", "C": "y", "D": "z"}) is None


_WRITTEN = st.one_of(
    st.decimals(-10, 10, allow_nan=False, allow_infinity=False, places=3).map(str),
    st.decimals(-1, 1, allow_nan=False, allow_infinity=False, places=1).map(str),
    st.decimals(-1, 1, allow_nan=False, allow_infinity=False, places=2).map("{}%".format),
    st.integers(-20, 20).map(str),
    st.integers(-20, 20).map("{}e-1".format),
    st.integers(-20, 20).map("{}.".format),
)


@given(texts=st.lists(_WRITTEN, min_size=4, max_size=4), printed=_WRITTEN)
def test_only_an_option_that_the_value_rounds_to(texts: list[str], printed: str) -> None:
    options = dict(zip("ABCD", texts, strict=True))
    match = match_answer(printed, options)
    if match.letter is None:
        return
    option, value = read_number(options[match.letter]), read_number(printed)
    assert option is not None
    assert value is not None
    if option.decimals is None:
        assert value.value == option.value
    else:
        # Half a unit of the last digit, by arithmetic that shares nothing with the code.
        gap = abs(value.value - option.value) * 2 * Decimal(10) ** option.decimals
        last_digit = int(option.value * Decimal(10) ** option.decimals)
        assert gap < 1 or (gap == 1 and last_digit % 2 == 0)


@given(left=_WRITTEN, right=_WRITTEN, printed=_WRITTEN)
def test_no_printed_decimal_fits_two_options_that_lint_passes(left: str, right: str, printed: str) -> None:
    options = {"A": left, "B": right, "C": "1000", "D": "2000"}
    assume(not list(option_faults(options, None)))
    first, second = read_number(left), read_number(right)
    assert first is not None
    assert second is not None
    # Besides any value at all: each option, the ends of what rounds to it, and a hair to their sides.
    ends = [end for number in (first, second) for end in (number.value, *number.reach()[:2])]
    hairs = [end + hair for end in ends for hair in (Decimal("-1e-30"), Decimal(0), Decimal("1e-30"))]
    value = read_number(printed)
    assert value is not None
    for exact in itertools.chain(hairs, (value.value,)):
        assert not (first.rounds_from(exact) and second.rounds_from(exact))
        assert match_answer(f"{exact:f}", options).reason != "ambiguous"


@given(text=st.text(max_size=60))
def test_no_answer_text_raises(text: str) -> None:
    for options in (F1, WORDS):
        match = match_answer(text, options)
        assert bool(match.letter) is not bool(match.reason)
