"""The rounds of the study have every figure that FACTS.md states of them."""

from collections import Counter

import pytest
from study import Audit, Round, Stage, reported, study

ROUNDS = study()
VERIFIED = [each for each in ROUNDS if each.outcome != "mismatch"]
ACCEPTED = [each for each in ROUNDS if each.outcome == "accepted"]
SURVIVORS = [each for each in ROUNDS if each.survives]


def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1)


def solved(audit: Audit, among: list[Round]) -> int:
    return sum(audit in each.solved for each in among)


def test_it_is_the_same_at_every_call() -> None:
    assert study() == ROUNDS
    assert [each.number for each in ROUNDS] == list(range(1, 501))


def test_the_construction_run() -> None:
    outcomes = Counter(each.outcome for each in ROUNDS)
    assert outcomes == {"mismatch": 22, "too-easy": 260, "unsolved": 6, "accepted": 212}
    assert len(VERIFIED) == 478
    assert 478 - outcomes["too-easy"] == 218


def test_the_table_of_the_reported_pool() -> None:
    table = reported(ROUNDS)
    assert table == (
        Stage("verify", 500, 22),
        Stage("gpt-5.4", 478, 127),
        Stage("opus-4.8", 351, 95),
        Stage("gpt-5.5-medium", 256, 121),
        Stage("gpt-5.5-tools", 135, 5),
        Stage("repeated", 130, 2),
    )
    assert table[-1].left == 128
    assert len(SURVIVORS) == 130


def test_two_model_families() -> None:
    light = [each for each in VERIFIED if "gpt-5.4" in each.solved]
    others = [each for each in VERIFIED if "gpt-5.4" not in each.solved]
    assert (len(light), solved("opus-4.8", light), percent(55, 127)) == (127, 55, 43.3)
    assert (len(others), len(others) - solved("opus-4.8", others), percent(256, 351)) == (351, 256, 72.9)
    agree = sum(("gpt-5.4" in each.solved) == ("opus-4.8" in each.solved) for each in VERIFIED)
    assert (agree, percent(agree, 478)) == (311, 65.1)


def test_two_reasoning_settings_on_the_same_items() -> None:
    asked = [each for each in ROUNDS if "gpt-5.5-none" in each.asked]
    assert len(asked) == 256
    assert asked == [each for each in ROUNDS if "gpt-5.5-medium" in each.asked]
    assert (solved("gpt-5.5-none", asked), solved("gpt-5.5-medium", asked)) == (49, 121)
    alone = [each for each in asked if {"gpt-5.5-none", "gpt-5.5-medium"} & each.solved == {"gpt-5.5-none"}]
    assert alone, "the two sets are not nested"


def test_solving_with_tools_transfers() -> None:
    asked = [each for each in ROUNDS if "other-tools" in each.asked]
    assert asked == ACCEPTED
    assert (solved("other-tools", asked), percent(209, 212)) == (209, 98.6)


def test_nothing_is_solved_that_was_not_asked() -> None:
    assert all(each.solved <= each.asked for each in ROUNDS)
    assert not [each for each in ROUNDS if each.outcome == "mismatch" and each.asked]


# --- letters and ranks --------------------------------------------------------------------------------------------


def test_the_screen_in_the_loop_rejects_by_majority() -> None:
    assert all(len(each.chosen) == 3 for each in VERIFIED)
    assert all((each.chosen.count(each.letter) >= 2) == (each.outcome == "too-easy") for each in VERIFIED)


def test_the_bias_to_one_letter() -> None:
    letters = Counter(each.letter for each in VERIFIED)
    assert (letters["C"], percent(letters["C"], 478)) == (210, 43.9)
    chosen = Counter(letter for each in VERIFIED for letter in each.chosen)
    assert round(100 * chosen["C"] / chosen.total()) == 66


@pytest.mark.parametrize(("at_c", "accuracy"), [(True, 86.0), (False, 29.4)])
def test_the_accuracy_of_calls_by_where_the_answer_is(at_c: bool, accuracy: float) -> None:
    some = [each for each in VERIFIED if (each.letter == "C") is at_c]
    assert percent(sum(each.chosen.count(each.letter) for each in some), 3 * len(some)) == accuracy


def test_most_easy_labels_vanish_with_shuffling() -> None:
    easy = [each for each in ROUNDS if each.outcome == "too-easy"]
    assert (len(easy), len(easy) - solved("gpt-5.4", easy)) == (260, 191)


def test_the_middle_value() -> None:
    middle = sum(each.rank in (2, 3) for each in VERIFIED)
    assert round(100 * middle / 478) == 80
    assert percent(middle, 2 * 478) == 40.0


# --- templates and the later audit --------------------------------------------------------------------------------


def test_kinds_and_templates() -> None:
    kinds = Counter(each.kind for each in ACCEPTED)
    assert kinds == {"basix": 147, "deformed-mesh": 63, "other": 2}
    templates = Counter(each.template for each in ACCEPTED)
    assert round(100 * max(templates.values()) / 212) == 66


def test_exact_repetitions() -> None:
    repeated = [each for each in ROUNDS if each.repeats is not None]
    assert len(repeated) == 5
    assert all(each in ACCEPTED for each in repeated)
    for each in repeated:
        assert each.repeats
        first = ROUNDS[each.repeats - 1]
        assert first.number < each.number
        assert (first.letter, first.rank, first.kind, first.template) == (
            *(each.letter, each.rank, each.kind),
            each.template,
        )
        assert (first.chosen, first.asked, first.solved) == (each.chosen, each.asked, each.solved)


def test_the_data_layout() -> None:
    assert Counter(each.layout for each in SURVIVORS) == {"defect": 97, "clear": 28, "unresolved": 5}
    assert all(each.kind == "basix" for each in SURVIVORS if each.layout == "defect")
    assert not [each for each in ROUNDS if each.layout and not each.survives]
