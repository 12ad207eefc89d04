"""What a reply comes to: right or wrong only where a value was chosen (A17)."""

from typing import get_args

import pytest

from pytest_toolgate.config import ProviderSettings, ScreenSettings
from pytest_toolgate.config.model import Mode
from pytest_toolgate.gates.calls import screen_calls
from pytest_toolgate.gates.grading import grade, grade_again
from pytest_toolgate.providers import Response
from pytest_toolgate.providers.protocol import Status

from .items import F1, candidate

ITEM = candidate()
CALLS = screen_calls(ITEM, ScreenSettings("light", "lab", "m", samples=6), ProviderSettings("lab"), 0)
MODES: tuple[Mode | None, ...] = (None, *get_args(Mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("status", [status for status in get_args(Status) if status != "complete"])
def test_what_is_no_whole_reply_is_neither_right_nor_wrong(status: Status, mode: Mode | None) -> None:
    """Whatever words came with it."""
    reply = grade(ITEM, mode, CALLS[0], Response(status, "ANSWER: B", error="why"))
    assert (reply.status, reply.correct, reply.chosen, reply.value, reply.note) == (status, None, None, None, "why")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["ok", "ANSWER: E", "I cannot say."])
def test_words_that_choose_nothing_are_neither_right_nor_wrong(text: str, mode: Mode | None) -> None:
    reply = grade(ITEM, mode, CALLS[0], Response("complete", text))
    assert (reply.status, reply.correct, reply.value) == ("wrong-form", None, None)
    assert reply.note


def test_a_letter_counts_by_the_value_it_stood_for() -> None:
    for call in CALLS:
        for letter, value in call.shown.items():
            reply = grade(ITEM, None, call, Response("complete", f"ANSWER: {letter}"))
            assert (reply.status, reply.correct, reply.value) == ("answered", value == F1["B"], value)
            assert F1[str(reply.chosen)] == value


def test_a_stated_value_counts_by_the_option_it_rounds_to() -> None:
    stated = {"0.0607231": ("B", True), "0.058996": ("A", False), "0.5": (None, False)}
    for value, (chosen, correct) in stated.items():
        reply = grade(ITEM, "question-only", CALLS[0], Response("complete", f"ANSWER: {value}"))
        assert (reply.status, reply.chosen, reply.correct) == ("answered", chosen, correct)


@pytest.mark.parametrize("value", [None, "", "0.5", "B"])
def test_a_record_without_a_value_that_was_shown_says_nothing(value: str | None) -> None:
    """A17: what cannot be read is no wrong answer."""
    row = {"value": value, "chosen": "A", "text": "ANSWER: A", "model_served": "m"}
    assert grade_again(ITEM, None, row) is None


def test_a_record_is_graded_by_the_answer_of_today() -> None:
    row = {"value": F1["A"], "chosen": "A", "text": "ANSWER: C", "model_served": "m"}
    for answer in "ABCD":
        reply = grade_again(candidate(answer=answer), None, row)
        assert reply is not None
        assert reply.correct is (answer == "A")
