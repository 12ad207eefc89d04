"""Shares and Wilson's interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.analysis.intervals import Share, wilson


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        # By hand, z = 1.96: centre (5 + 1.92) / (10 + 3.84), spread 1.96 * sqrt(2.5 + 0.96) / 13.84.
        (5, 10, 0.2366, 0.7634),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        # Newcombe 1998, table I: 81 of 263 and 15 of 148 by the score method without continuity correction.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_the_interval(part: int, whole: int, low: float, high: float) -> None:
    assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert Share(0, 0).plain() == {"count": 0, "of": 0, "percent": None, "low": None, "high": None}
    assert str(Share(0, 0)) == "none counted"


@given(st.integers(0, 10**7), st.integers(1, 10**7))
def test_the_share_lies_in_its_interval(part: int, more: int) -> None:
    low, high = wilson(part, part + more)
    assert 0 <= low <= part / (part + more) <= high <= 1
    mirrored = wilson(more, part + more)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)


def test_a_share_in_words_and_as_json() -> None:
    assert str(Share(210, 478)) == "43.9 % (210 of 478)"
    assert Share(1, 8).plain() == {"count": 1, "of": 8, "percent": 12.5, "low": 2.2, "high": 47.1}
