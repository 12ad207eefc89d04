"""How two judges agree, what passes between them, and what shuffling does to the labels of one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.analysis.agreement import Agreement, agreement, all_pairs
from pytest_toolgate.analysis.screens import Calls, Screen
from pytest_toolgate.analysis.shuffling import fixed_against_shuffled

COUNTS = st.integers(0, 10_000)


def test_only_what_both_have_judged_counts() -> None:
    one = {1: True, 2: True, 3: False, 4: False, 5: True}
    other = {1: True, 2: False, 3: True, 4: False, 6: True}
    pair = agreement("a", one, "b", other)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither, pair.judged) == (1, 1, 1, 1, 4)
    assert (pair.agree.percent, pair.kappa) == (50.0, 0.0)


def test_the_two_families_of_the_study() -> None:
    pair = Agreement("light", "other", 55, 72, 95, 256)
    assert (pair.agree.part, pair.agree.percent) == (311, 65.1)
    # By hand: observed 311 / 478, by chance (127 * 150 + 351 * 328) / 478^2 = 0.58725.
    assert pair.kappa == pytest.approx((311 / 478 - 134178 / 228484) / (1 - 134178 / 228484))
    assert pair.kappa_text == "0.15"
    assert (pair.first_to_second.percent, pair.unsolved_first_to_second.percent) == (43.3, 72.9)
    assert pair.sentences()[0] == "of the 127 that light solves, other solves 55 (43.3 %)"
    assert pair.plain()["transfer"]["first_solves_of_second"]["of"] == 150


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [((5, 0, 0, 5), 1.0), ((0, 5, 5, 0), -1.0), ((7, 0, 0, 0), None), ((0, 0, 0, 0), None), ((20, 5, 10, 15), 0.4)],
)
def test_kappa(counts: tuple[int, int, int, int], kappa: float | None) -> None:
    assert Agreement("a", "b", *counts).kappa == (None if kappa is None else pytest.approx(kappa))


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_kappa_is_between_minus_one_and_one(both: int, first: int, second: int, neither: int) -> None:
    kappa = Agreement("a", "b", both, first, second, neither).kappa
    assert kappa is None or -1 <= kappa <= 1
    mirrored = Agreement("b", "a", both, second, first, neither).kappa
    assert kappa == mirrored


def test_pairs_without_a_common_candidate_are_left_out() -> None:
    pairs = all_pairs({"a": {1: True}, "b": {1: False}, "c": {2: True}})
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b")]


def screen(name: str, verdicts: dict[int, bool], *, written: bool, model: str = "m") -> Screen:
    calls = (Calls("A", 1, 1, 1, "answered", True, written, 10),)
    return Screen(name, "", model, None, None, calls, verdicts)


def test_fixed_order_beside_shuffled_order_of_the_same_model() -> None:
    fixed = screen("fixed", {1: True, 2: True, 3: True, 4: False}, written=True)
    shuffled = screen("shuffled", {1: True, 2: False, 3: False, 4: True}, written=False)
    other = screen("other", {1: True}, written=False, model="another")
    [found] = fixed_against_shuffled([fixed, shuffled, other])
    assert (found.vanished.part, found.vanished.whole) == (2, 3)
    assert (found.appeared.part, found.appeared.whole) == (1, 1)
    assert found.sentence() == (
        "of the 3 that fixed finds easy in fixed order, 2 (66.7 %) are not easy for shuffled, shuffled"
    )


def test_three_calls_in_written_order_may_be_an_accident() -> None:
    few = Screen("few", "", "m", None, None, (Calls("A", 1, 1, 1, "answered", True, True, 3),), {1: True})
    assert not few.is_fixed
