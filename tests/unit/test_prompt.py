"""The prompt of a screen."""

import inspect
from typing import get_args

import pytest

from pytest_toolgate.config.model import Mode
from pytest_toolgate.screen.prompt import INSTRUCTION, INSTRUCTIONS, build_prompt
from pytest_toolgate.screen.reading import read_reply
from pytest_toolgate.screen.value_reading import read_value

from .items import F1

MODES: tuple[Mode | None, ...] = (None, *get_args(Mode))
QUESTION = "What is ∇·u of x² · y?\n"
SHOWN = {"A": "0.10", "B": "x²", "C": "∇·u", "D": "a · b"}


def test_the_builder_is_given_question_options_and_mode_and_nothing_else() -> None:
    assert list(inspect.signature(build_prompt).parameters) == ["question", "shown", "mode"]


def test_question_and_options_stand_in_the_prompt_as_written() -> None:
    """H15."""
    system, user = build_prompt(QUESTION, SHOWN)
    assert system == INSTRUCTION
    assert user == "What is ∇·u of x² · y?\n\nA) 0.10\nB) x²\nC) ∇·u\nD) a · b"


def test_the_ordinary_instruction_never_changes() -> None:
    """Recorded replies are found again by what was sent: another wording would have every one paid again."""
    assert INSTRUCTION == (
        "Answer the following multiple-choice question. You have no tools. Exactly one of the four options is right. "
        "Reply with one line and nothing else: the word ANSWER, a colon, and the letter of the option you choose "
        "(A, B, C or D)."
    )


def test_choices_only_withholds_the_question_and_says_so() -> None:
    system, user = build_prompt(QUESTION, SHOWN, "choices-only")
    assert user == "A) 0.10\nB) x²\nC) ∇·u\nD) a · b"
    assert "question itself is withheld" in system
    assert "most plausible" in system


def test_question_only_withholds_the_options_and_asks_for_the_value() -> None:
    system, user = build_prompt(QUESTION, SHOWN, "question-only")
    assert user == "What is ∇·u of x² · y?"
    assert "ANSWER, a colon, and the value" in system
    assert "option" not in system
    assert "letter" not in system


def test_every_mode_has_an_instruction_of_its_own() -> None:
    assert set(INSTRUCTIONS) == set(MODES)
    assert INSTRUCTIONS[None] == INSTRUCTION
    assert len(set(INSTRUCTIONS.values())) == len(MODES)
    assert all(build_prompt(QUESTION, SHOWN, mode)[0] == INSTRUCTIONS[mode] for mode in MODES)


@pytest.mark.parametrize("mode", MODES)
def test_no_instruction_holds_anything_that_a_model_would_copy(mode: Mode | None) -> None:
    """A01: a reply `ANSWER: $LETTER` comes from a prompt that shows it."""
    instruction = INSTRUCTIONS[mode]
    assert not any(sign in instruction for sign in "$<>[]{}`\"'")
    assert "LETTER" not in instruction
    assert "VALUE" not in instruction
    assert "ANSWER:" not in instruction
    assert not any(text in instruction for text in F1.values())


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_repeats_its_instruction_has_answered_nothing(mode: Mode | None) -> None:
    assert read_reply(INSTRUCTIONS[mode], F1).letter is None
    assert read_value(INSTRUCTIONS[mode], F1).value is None
