"""Balance: how the answers of a pool are spread, and when a guesser of middle values knows too much."""

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.pool.balance import (
    Balance,
    Target,
    answer_rank,
    balance,
    middle_value_warning,
    next_target,
)
from pytest_toolgate.screen.cues import PoolCue, pool_scores, scores

from .items import F1

LETTERS = ("A", "B", "C", "D")
COUNTS = st.lists(st.integers(0, 300), min_size=4, max_size=4)


def spread(ranks: tuple[int, ...], letters: tuple[int, ...] = (0, 0, 0, 0)) -> Balance:
    return Balance(dict(zip((1, 2, 3, 4), ranks, strict=True)), dict(zip(LETTERS, letters, strict=True)), 0)


def item(rank: int, letter: str) -> tuple[Mapping[str, str], str]:
    """Options whose answer has this rank and this letter."""
    others = iter(value for value in (1, 2, 3, 4) if value != rank)
    return {each: str(rank if each == letter else next(others)) for each in LETTERS}, letter


# --- ranks --------------------------------------------------------------------------------------------------------


def test_the_ranks_of_the_worked_example() -> None:
    assert [answer_rank(F1, letter) for letter in LETTERS] == [1, 3, 2, 4]


@given(
    values=st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=3), min_size=4, max_size=4, unique=True)
)
def test_the_four_ranks_are_one_to_four(values: list[Decimal]) -> None:
    options = dict(zip(LETTERS, map(str, values), strict=True))
    ranks = {letter: answer_rank(options, letter) for letter in LETTERS}
    assert sorted(LETTERS, key=lambda letter: ranks[letter] or 0) == sorted(LETTERS, key=lambda x: Decimal(options[x]))
    assert sorted(filter(None, ranks.values())) == [1, 2, 3, 4]


def test_values_are_read_as_people_write_them() -> None:
    options = {"A": "−1e3", "B": "$2 \\times 10^{-3}$", "C": "0,1%".replace(",", "."), "D": "1,000"}
    assert [answer_rank(options, letter) for letter in LETTERS] == [1, 3, 2, 4]


@pytest.mark.parametrize("other", ["the mesh", "0.060723", "6.0723e-2", "nan", ""])
def test_words_and_equal_values_have_no_rank(other: str) -> None:
    assert answer_rank(F1 | {"D": other}, "B") is None


def test_counts_by_rank_and_letter() -> None:
    found = balance([item(1, "A"), item(1, "C"), item(4, "C"), (dict.fromkeys(LETTERS, "text"), "D")])
    assert found == Balance({1: 2, 2: 0, 3: 0, 4: 1}, {"A": 1, "B": 0, "C": 2, "D": 1}, 1)
    assert balance([]) == spread((0, 0, 0, 0))


# --- where the next answer is wanted ------------------------------------------------------------------------------


@given(ranks=COUNTS, letters=COUNTS, seed=st.integers())
def test_the_next_answer_goes_where_there_are_fewest(ranks: list[int], letters: list[int], seed: int) -> None:
    known = spread(tuple(ranks), tuple(letters))
    target = next_target(known, seed)
    assert known.ranks[target.rank] == min(ranks)
    assert known.letters[target.letter] == min(letters)
    assert target == next_target(known, seed)


def test_the_seed_decides_between_equally_rare_ones() -> None:
    targets = Counter(next_target(spread((5, 0, 0, 5), (0, 2, 0, 0)), seed) for seed in range(400))
    assert {target.rank for target in targets} == {2, 3}
    assert {target.letter for target in targets} == {"A", "C", "D"}
    assert min(targets.values()) > 30
    assert next_target(spread((0, 0, 0, 0)), 0) == Target(3, "A")


@given(seed=st.integers())
def test_a_pool_that_follows_its_targets_is_uniform(seed: int) -> None:
    pool: list[tuple[Mapping[str, str], str]] = []
    for _ in range(24):
        target = next_target(balance(pool), seed)
        pool.append(item(target.rank, target.letter))
    found = balance(pool)
    assert set(found.ranks.values()) == set(found.letters.values()) == {6}
    assert middle_value_warning(pool_scores(scores(*each) for each in pool)["middle-value"]) is None


# --- the middle-value guesser -------------------------------------------------------------------------------------


def of(middle: int, items: int) -> PoolCue | None:
    """What the guesser scores where so many of so many answers are a middle value."""
    pool = [item(2 if number < middle else 4, "A") for number in range(items)]
    return pool_scores(scores(*each) for each in pool).get("middle-value")


def test_the_pool_of_the_study_warns() -> None:
    """FACTS.md: the answer is a middle value in 80 % of 478, which scores 40.0 %."""
    assert middle_value_warning(of(382, 478)) == (
        "the answer is one of the two middle values in 382 of 478 items: who picks one of them is right in 40 % "
        "(chance 25 %, at most 30 %), and no shuffle hides it"
    )


@pytest.mark.parametrize(
    ("middle", "items", "warns"),
    [
        (12, 20, False), (13, 20, True), (60, 100, False), (61, 100, True), (50, 100, False), (0, 100, False),
        (1, 1, False), (4, 4, False), (5, 5, True), (6, 6, True), (6, 7, False), (7, 7, True),
        (7, 9, False), (8, 9, True), (13, 19, False), (14, 19, True),
    ],
)  # fmt: skip
def test_when_a_pool_warns(middle: int, items: int, warns: bool) -> None:
    """From 20 items on above 30 %; below, only where fair ranks come to it once in twenty pools at most."""
    assert bool(middle_value_warning(of(middle, items))) is warns
    tail = sum(math.comb(items, hits) for hits in range(middle, items + 1)) / 2**items
    if items < 20:
        assert warns == (middle / 2 / items > 0.3 and tail <= 0.05)


def test_a_pool_without_numbers_has_no_middle() -> None:
    assert middle_value_warning(None) is None
