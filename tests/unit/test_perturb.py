"""Which constants of a question are changed in its script, and how."""

import time

import pytest

from pytest_toolgate.checks.perturb import Constant, changed, constants_of

from .items import candidate


def names(question: str, solution: str, **changes: object) -> list[str]:
    return [constant.text for constant in constants_of(candidate(question=question, solution=solution, **changes))]


@pytest.mark.parametrize(
    ("question", "solution", "expected"),
    [
        ("a shape of 3.7 and a rate of 0.85", "f(3.7, 0.85)", ["0.85", "3.7"]),
        ("a shape of 3.7", "f(3.70e0)", ["3.7"]),
        ("a shape of 3.7", "f('3.7')", []),
        ("a shape of 3.7", "f(2.7)", []),
        ("x - 0.35", "f(-0.35)", ["0.35"]),
        ("at (0.25,0.5)", "f(0.25, 0.5)", ["0.25", "0.5"]),
        ("a value of 1.25e-3.", "f(0.00125)", ["1.25e-3"]),
        ("17 x 14 cells and a = 0.5", "f(17, 14, 0.5)", ["0.5"]),
        ("17 x 14 cells of degree 2", "f(17, 14, 2)", ["17", "14"]),
        ("of degree 2 from 0 to 1", "f(0, 1, 2)", []),
        ("to a tolerance of 1e-10", "f(1e-10)", []),
        ("the values 0.1, 0.23, 0.345, 0.4567", "f(0.1, 0.23, 0.345, 0.4567)", ["0.4567", "0.345", "0.23"]),
        ("twice 0.5 and 0.5", "f(0.5)", ["0.5"]),
        ("item2.5 of v1.2.3", "f(2.5, 1.2)", []),
        ("a shape of 3.7", "f(3.7", []),
        ("a shape of 3.7", "f(3.7, 0x" + "f" * 6000 + ")", ["3.7"]),
        ("a shape of 3.7 in " + "9" * 4300, "f(3.7, " + "9" * 4300 + ")", ["3.7"]),
        ("a shape of 1e4000 or 1e-4000 or 1e999999999", "f(1e4000)", []),
    ],
)  # fmt: skip
def test_numbers_of_the_question_that_stand_in_the_script(question: str, solution: str, expected: list[str]) -> None:
    assert names(question, solution) == expected


@pytest.mark.parametrize(
    "word", ["1" * 300_000 + "x", "1." * 150_000 + "x", "1" * 100_000 + ".1e" + "1" * 200_000 + "x"]
)
def test_the_longest_question_is_read_at_once(word: str) -> None:
    begun = time.process_time()
    assert names(f"{word} and 0.5", "f(0.5)") == ["0.5"]
    assert time.process_time() - begun < 5


def test_values_of_options_are_no_constants() -> None:
    assert names("which of 0.060723 and 0.5?", "f(0.060723, 0.5)") == ["0.5"]


def test_a_constant_is_changed_wherever_it_stands() -> None:
    script = "# 0.5 of é\na = 'é', 0.5\r\nb = [0.50,\n -0.5] + [15.5]\n"
    [constant] = constants_of(candidate(question="half is 0.5", solution=script))
    text, value = changed(script, constant, 1.1)
    assert value == "0.55"
    assert text == "# 0.5 of é\na = 'é', 0.55\r\nb = [0.55,\n -0.55] + [15.5]\n"


def test_whole_numbers_stay_whole() -> None:
    script = "f(17, n=17)"
    [constant] = constants_of(candidate(question="17 cells", solution=script))
    assert changed(script, constant, 1.1) == ("f(18, n=18)", "18")
    assert changed(script, constant, 0.6) == ("f(19, n=19)", "19")


def test_a_whole_number_that_is_written_as_none_changes_like_the_others() -> None:
    constant = Constant("4", ((1, 2, 5),), whole=False)
    assert changed("f(4.0)", constant, 1.1) == ("f(4.4)", "4.4")
