"""Key balance: answers that gather under one letter (B05)."""

import pytest

from pytest_toolgate.screen.key_balance import imbalance


def test_a_pool_keyed_with_one_letter_is_told() -> None:
    assert imbalance("B" * 100).startswith("the answer is B in 100 of 100 items")


def test_the_share_of_the_study_is_told() -> None:
    """FACTS.md: the generator put the answer at C in 43.9 % of 478 verified candidates."""
    assert "C in 210 of 478" in imbalance("C" * 210 + "A" * 89 + "B" * 90 + "D" * 89)


@pytest.mark.parametrize("answers", ["", "B", "BBB", "ABCD" * 25, "A" * 30 + "B" * 28 + "C" * 22 + "D" * 20])
def test_what_chance_may_do_is_not(answers: str) -> None:
    assert imbalance(answers) == ""


def test_a_large_pool_is_judged_without_overflow() -> None:
    assert imbalance("ABCD" * 2500) == ""
    assert "A in 2600 of" not in imbalance("ABCD" * 2500 + "A" * 100)
    assert imbalance("ABCD" * 2500 + "A" * 1000)
