"""The instruction that a model is sent and the parser of what it replies, against each other."""

import itertools
import re

import pytest

from pytest_toolgate.candidate.presentation import ORDERS, Presentation
from pytest_toolgate.screen.prompt import INSTRUCTION, build_prompt
from pytest_toolgate.screen.reading import read_reply

from .items import F1
from .test_reading import letter

WORDS = {"A": "a car moves", "B": "Only for CFL < 1", "C": "$u_h$", "D": "−0.5"}
# The instruction's own words, turned into the line that they describe.
_ASKED = re.compile(r"one line and nothing else: the word (?P<word>\w+), a colon, and the letter .* \(A, B, C or D\)\.")
_OBEYED = ("{}", "{}\n", "{} ", "**{}**", "`{}`", "{}.", "Sure!\n\n{}", "{}\n\nThe others are too small.", "\n\n{}")


def asked_line(chosen: str) -> str:
    """The line that a model writes which does what the instruction says, letter by letter."""
    asked = _ASKED.search(INSTRUCTION)
    assert asked, "the instruction no longer says what this test understands"
    return f"{asked['word']}: {chosen}"


@pytest.mark.parametrize("options", [F1, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize("form", _OBEYED)
def test_the_line_asked_for_reads_back_as_every_letter_in_every_order(form: str, options: dict[str, str]) -> None:
    for order, chosen in itertools.product(ORDERS, "ABCD"):
        presentation = Presentation(order)
        read = read_reply(form.format(asked_line(chosen)), presentation.show(options)).letter
        assert read == chosen
        assert options[presentation.original(read)] == presentation.show(options)[chosen]


@pytest.mark.parametrize("options", [F1, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize(
    "echo",
    ["{system}", "{user}", "{system}\n\n{user}", "{options}", "Answer:\n{options}", "{inline}", "ANSWER: {inline}"],
)
def test_the_prompt_given_back_states_nothing_and_hides_no_answer(echo: str, options: dict[str, str]) -> None:
    for order in ORDERS:
        shown = Presentation(order).show(options)
        system, user = build_prompt("What is the energy to six decimals?", shown)
        lines = user.partition("\n\n")[2]
        reply = echo.format(system=system, user=user, options=lines, inline=lines.replace("\n", " "))
        assert letter(reply, shown) is None
        for chosen in "ABCD":
            assert letter(f"{reply}\n\n{asked_line(chosen)}", shown) == chosen
            assert letter(f"{asked_line(chosen)}\n\n{reply}", shown) in (chosen, None)


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_an_option_given_back_is_that_option(order: tuple[str, ...]) -> None:
    for options in (F1, WORDS):
        shown = Presentation(order).show(options)
        for chosen, text in shown.items():
            for form in (
                "{1}",
                "ANSWER: {1}",
                "{0}) {1}",
                "ANSWER: {0}) {1}",
                "ANSWER: ({0}) {1}",
                "ANSWER: {0} - {1}",
            ):
                assert letter(form.format(chosen, text), shown) == chosen, form


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_a_letter_with_another_options_text_is_never_an_answer(order: tuple[str, ...]) -> None:
    for options in (F1, WORDS):
        shown = Presentation(order).show(options)
        for chosen, other in itertools.permutations("ABCD", 2):
            for form in (
                "{0}) {1}",
                "ANSWER: {0}) {1}",
                "ANSWER: {0} ({1})",
                "The answer is {0}, {1}.",
                "ANSWER: {1} ({0})",
            ):
                assert letter(form.format(chosen, shown[other]), shown) is None, form
