"""Wrong options that do not say which mistake they come from."""

import pytest

from pytest_toolgate.pool.distractors import unexplained, unexplained_sentence

from .items import candidate

ALL = {"A": "The sign is lost.", "C": "One step too few.", "D": "Degree 1 is taken."}


def test_a_mistake_for_each_wrong_option_is_enough() -> None:
    assert unexplained(candidate(distractors=ALL)) == ()
    assert unexplained_sentence(candidate(distractors=ALL)) is None


@pytest.mark.parametrize("nothing", ["", "  \n", "\u200b", "\u00a0"])
def test_a_mistake_that_says_nothing_is_none(nothing: str) -> None:
    assert unexplained(candidate(distractors=ALL | {"C": nothing})) == ("C",)


def test_the_letters_are_named() -> None:
    one = {letter: ALL[letter] for letter in "AC"}
    assert unexplained_sentence(candidate(distractors=one)) == (
        "`distractors` names no mistake for D: say of each wrong option from which realistic mistake its value comes"
    )
    assert "no mistake for A, B, D:" in (unexplained_sentence(candidate(answer="C")) or "")
