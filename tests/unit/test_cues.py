"""Guessers without question and model: what the options alone give away."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.screen.cues import CUES, PoolCue, picks, pool_line, pool_scores, scores

from .items import F1

WORDS = {"A": "the mesh", "B": "the function space", "C": "the form", "D": "the solver"}
NUMERIC = ("middle-value", "closest-to-mean", "most-shared-digits")
FIELDS = ("A", "B", "C", "D")


def numbers(*texts: str) -> dict[str, str]:
    return dict(zip(FIELDS, texts, strict=True))


def test_there_are_five_guessers() -> None:
    assert list(CUES) == ["longest-option", "middle-value", "first-letter", "closest-to-mean", "most-shared-digits"]


def test_what_each_guesser_picks_from_the_worked_example() -> None:
    """Shared positions: A 2+2+3, and B, C and D 9 each; the mean is 0.060271."""
    assert picks(F1) == {
        "longest-option": ("A", "B", "C", "D"),
        "middle-value": ("B", "C"),
        "first-letter": ("A",),
        "closest-to-mean": ("C",),
        "most-shared-digits": ("B", "C", "D"),
    }


def test_a_guesser_that_picks_from_several_is_right_as_often_as_a_fair_draw() -> None:
    assert scores(F1, "B") == {
        "longest-option": 1 / 4,
        "middle-value": 1 / 2,
        "first-letter": 0.0,
        "closest-to-mean": 0.0,
        "most-shared-digits": 1 / 3,
    }


def test_words_have_a_length_and_a_letter_but_no_value() -> None:
    assert picks(WORDS) == {"longest-option": ("B",), "first-letter": ("A",)} | dict.fromkeys(NUMERIC, ())
    assert scores(WORDS, "B") == {"longest-option": 1.0, "first-letter": 0.0} | dict.fromkeys(NUMERIC)


@pytest.mark.parametrize("text", ["the mesh", "nan", "inf", "0,5", "3 m", "", "9" * 300])
def test_one_option_that_is_no_number_leaves_nothing_to_compare(text: str) -> None:
    picked = picks(numbers("1", "2", text, "4"))
    assert {name: picked[name] for name in NUMERIC} == dict.fromkeys(NUMERIC, ())


def test_dressing_does_not_make_an_option_longer() -> None:
    assert picks(numbers("$x$", "  x ", "x\u200b\u200b", "xy"))["longest-option"] == ("D",)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(numbers("7.5", "−1", "3e-1", "2"), id="minus-and-exponent"),
        pytest.param(numbers("1,000", "5%", "0.06", "$70$"), id="percent-and-dollars"),
        pytest.param(numbers("٣", "0", "1", "2"), id="other-digits"),
        pytest.param(numbers(r"$4 \times 10^{3}$", "1", "2.0", "3 000"), id="tex"),
    ],
)
def test_values_are_read_the_way_people_write_them(options: dict[str, str]) -> None:
    assert picks(options)["middle-value"] == ("C", "D")


def test_equal_values_are_picked_together() -> None:
    assert picks(numbers("1", "1.0", "2", "0"))["middle-value"] == ("A", "B")
    assert picks(numbers("1", "1", "1.0", "9"))["middle-value"] == ("A", "B", "C")


def test_three_values_have_one_middle() -> None:
    assert picks({"A": "3", "B": "1", "C": "2"})["middle-value"] == ("C",)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(numbers("1", "2", "3", "4"), ("B", "C"), id="tie"),
        pytest.param(numbers("0.1", "0.2", "0.3", "0.4"), ("B", "C"), id="decimal-tie"),
        pytest.param(numbers("1", "2", "3", "10"), ("C",), id="outlier"),
        pytest.param(numbers("1e-400", "2e-400", "3e-400", "6e-400"), ("C",), id="beyond-floats"),
        pytest.param(numbers("1e1000", "-1e1000", "1e-900", "1"), ("C",), id="both-ends"),
    ],
)
def test_the_distance_to_the_mean_is_exact(options: dict[str, str], expected: tuple[str, ...]) -> None:
    assert picks(options)["closest-to-mean"] == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(numbers("12.34", "12.39", "12.84", "52.34"), ("A",), id="one-change-each"),
        pytest.param(numbers("1.2", "2.1", "3.4", "4.3"), ("A", "B", "C", "D"), id="same-digits-elsewhere"),
        pytest.param(numbers("123", "23", "923", "1.23"), ("A", "B", "C"), id="aligned-at-the-point"),
        pytest.param(numbers("0.50", "0.5", "1.00", "7.00"), ("A",), id="a-missing-digit-is-no-zero"),
        pytest.param(numbers("-0.71", "0.71", "5.31", "6.22"), ("A", "B"), id="signs-do-not-differ"),
        pytest.param(numbers("-5.1", "−6.2", "7.1", "8.3"), ("A", "C"), id="signs-are-not-shared"),
        pytest.param(numbers("0.0015", "1.5e-3", "0.0016", "1"), ("A", "B"), id="exponent-written-out"),
    ],
)
def test_the_most_shared_digits(options: dict[str, str], expected: tuple[str, ...]) -> None:
    assert picks(options)["most-shared-digits"] == expected


def ranked_item(rank: int, turn: int) -> tuple[dict[str, str], str]:
    """Four values in turned letters, and the letter of the one with this rank, 0 to 3."""
    letters = FIELDS[turn % 4 :] + FIELDS[: turn % 4]
    values = ("0.25", "0.5", "0.75", "2.5")
    return dict(sorted(zip(letters, values, strict=True))), letters[rank]


def test_where_four_answers_of_five_are_a_middle_value_a_middle_value_guesser_scores_40_percent() -> None:
    """The study's figure: the answer is a middle value in 80 % of the candidates."""
    ranks = [1, 2, 1, 2, 0, 2, 1, 2, 1, 3] * 5
    items = [ranked_item(rank, turn) for turn, rank in enumerate(ranks)]
    assert sum(rank in (1, 2) for rank in ranks) / len(ranks) == 0.8
    known = [scores(options, answer) for options, answer in items]
    assert pool_scores(known)["middle-value"] == PoolCue(0.4, 50)
    assert "a middle-value guesser scores 40 %" in pool_line(known)


def test_a_pool_counts_a_cue_only_where_it_applies() -> None:
    pool = pool_scores([scores(F1, "B"), scores(F1, "A"), scores(WORDS, "B")])
    assert pool["middle-value"] == PoolCue(0.25, 2)
    assert pool["longest-option"] == PoolCue(0.5, 3)
    assert "middle-value" not in pool_scores([scores(WORDS, "B")])


def test_the_line_names_the_best_guesser_first_and_how_many_items_a_cue_applies_to() -> None:
    known = [scores(F1, "B"), scores(F1, "A"), scores(F1, "A"), scores(WORDS, "B")]
    assert pool_line(known) == (
        "cues (chance 25 %): a first-letter guesser scores 50 %, longest-option 44 %, "
        "middle-value 17 % (3 of 4 items), most-shared-digits 11 % (3 of 4 items), closest-to-mean 0 % (3 of 4 items)"
    )
    assert pool_line([scores(F1, "C")]).startswith("cues (chance 25 %): a closest-to-mean guesser scores 100 %, ")


def test_a_pool_without_items_has_nothing_to_say() -> None:
    assert pool_scores([]) == {}
    assert pool_line([]) == ""


_DECIMAL = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=3)


@given(values=st.lists(_DECIMAL, min_size=4, max_size=4, unique=True), order=st.permutations(range(4)))
def test_no_shuffle_changes_which_value_a_numeric_guesser_picks(values: list[Decimal], order: list[int]) -> None:
    def picked(texts: list[str]) -> dict[str, set[str]]:
        options = numbers(*texts)
        return {name: {options[letter] for letter in picks(options)[name]} for name in (*NUMERIC, "longest-option")}

    texts = [str(value) for value in values]
    assert picked(texts) == picked([texts[index] for index in order])
    assert all(picked(texts).values())
    assert picked(texts)["middle-value"] == {str(value) for value in sorted(values)[1:3]}


@given(texts=st.lists(st.text(max_size=20), min_size=4, max_size=4), answer=st.sampled_from(FIELDS))
def test_every_answer_of_an_item_is_equally_paid(texts: list[str], answer: str) -> None:
    """Over the four possible answers, a guesser that applies is right once."""
    options = numbers(*texts)
    for name in CUES:
        paid = [scores(options, letter)[name] for letter in FIELDS]
        assert set(paid) == {None} or sum(filter(None, paid)) == pytest.approx(1)
    assert pool_line([scores(options, answer)])
