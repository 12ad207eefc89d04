"""The prompt of a screen."""

import inspect

from pytest_toolgate.screen.prompt import INSTRUCTION, build_prompt

from .items import F1


def test_the_builder_is_given_question_and_options_and_nothing_else() -> None:
    assert list(inspect.signature(build_prompt).parameters) == ["question", "shown"]


def test_question_and_options_stand_in_the_prompt_as_written() -> None:
    """H15."""
    shown = {"A": "0.10", "B": "x²", "C": "∇·u", "D": "a · b"}
    system, user = build_prompt("What is ∇·u of x² · y?\n", shown)
    assert system == INSTRUCTION
    assert user == "What is ∇·u of x² · y?\n\nA) 0.10\nB) x²\nC) ∇·u\nD) a · b"


def test_the_instruction_holds_nothing_that_a_model_would_copy() -> None:
    """A01: a reply `ANSWER: $LETTER` comes from a prompt that shows it."""
    assert "$" not in INSTRUCTION
    assert "LETTER" not in INSTRUCTION
    assert not any(text in INSTRUCTION for text in F1.values())
