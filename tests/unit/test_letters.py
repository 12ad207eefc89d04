"""Where answers are and what is chosen: letters as shown, letters of the file, ranks."""

from pytest_toolgate.analysis.cases import Case
from pytest_toolgate.analysis.cues import guessers
from pytest_toolgate.analysis.funnel import funnel
from pytest_toolgate.analysis.letters import answers, screen_letters
from pytest_toolgate.analysis.screens import Calls, Screen
from pytest_toolgate.audit import Recorded


def test_the_letter_chosen_is_the_one_that_was_shown() -> None:
    calls = (
        # The answer is B in the file and was shown as C; three chose it, one chose what stood at A.
        Calls("B", 2, 3, 3, "answered", True, False, 3),
        Calls("B", 2, 3, 1, "answered", False, False, 1),
        # The answer is A in the file, of no rank, shown as C; two chose D.
        Calls("A", None, 3, 4, "answered", False, False, 2),
        Calls("A", None, 1, 0, "failed", None, False, 5),
    )
    found = screen_letters(Screen("s", "", "m", None, None, calls, {}))
    assert {letter: share.part for letter, share in found.chosen.items()} == {"A": 1, "B": 0, "C": 3, "D": 2}
    assert found.chosen["A"].whole == 6
    assert (found.by_position["C"].part, found.by_position["C"].whole) == (3, 6)
    assert found.by_position["A"].whole == 0
    assert (found.by_letter["B"].part, found.by_letter["B"].whole, found.by_letter["A"].part) == (3, 4, 0)
    assert (found.by_rank["2"].whole, found.by_rank["1"].whole) == (4, 0)
    assert (found.favourite, found.at_favourite.percent, found.elsewhere.whole) == ("C", 50.0, 0)


def case(letter: str, rank: int | None) -> Case:
    return Case(Recorded("a", "a", "f", "t", "c"), letter, None, rank)


def test_where_the_answers_are() -> None:
    found = answers([case("C", 2), case("C", 3), case("A", 1), case("B", None), case("", None)])
    assert (found.letters["C"].part, found.letters["C"].whole) == (2, 4)
    assert (found.middle.part, found.middle.whole) == (2, 3)
    assert found.ranks["4"].percent == 0.0


def test_guessers_on_a_pool() -> None:
    options = {"A": "1", "B": "2", "C": "3", "D": "10"}
    pool = [Case(Recorded("a", "a", "f", "t", "c"), letter, options, 1) for letter in "AB"]
    found = {guesser.name: guesser for guesser in guessers(pool)}
    # One of the two middle values, B or C: half right for B, wrong for A.
    assert (found["middle-value"].percent, found["middle-value"].items) == (25.0, 2)
    assert found["first-letter"].percent == 50.0
    assert guessers([]) == ()


def test_the_funnel_counts_each_candidate_once() -> None:
    def one(standing: str, outcome: str, gate: str, reason: str = "") -> Recorded:
        return Recorded(
            "a", "a", "f", "t", "c", standing=standing, accepted=outcome == "accepted", outcome=outcome, gate=gate,  # type: ignore[arg-type]
            reason=reason,
        )  # fmt: skip

    steps = funnel([
        one("verified", "accepted", "solve"),
        one("verified", "review", "solve", "wrong"),
        one("verified", "error", "solve", "agent"),
        one("verified", "rejected", "screen", "too-easy"),
        one("verified", "error", "screen", "provider"),
        one("verified", "", ""),
        one("refused", "rejected", "check", "basix-layout"),
        one("failed", "rejected", "verify", "mismatch"),
        one("unknown", "error", "verify", "environment"),
    ])  # fmt: skip
    assert [(step.name, step.entered, step.removed, step.without_verdict, step.out) for step in steps] == [
        ("local verification", 9, 1, 1, 7),
        ("extra checks", 7, 1, 0, 6),
        ("no-tool screens", 6, 1, 2, 3),
        ("tool solve", 3, 1, 1, 1),
    ]
    assert steps[2].reasons == {"too-easy": 1}
    assert [step.entered for step in funnel([])] == [0, 0, 0]
