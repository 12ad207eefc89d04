"""Shuffled renderings: drawn again by anybody, mapped back by value, and fair."""

import hashlib
import itertools
import json
import operator
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.presentation import ORDERS, Presentation, Scheme, draw, draw_moved

from .items import F1

HASHES = [f"{number:032x}" for number in range(2400)]
SCHEMES: tuple[Scheme, ...] = ("independent", "distinct-slots")


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_every_presentation_maps_back_by_value(order: tuple[str, ...]) -> None:
    presentation = Presentation(order)
    shown = presentation.show(F1)
    assert sorted(shown.values()) == sorted(F1.values())
    for letter, text in shown.items():
        assert F1[presentation.original(letter)] == text


def test_an_item_shuffled_three_times_maps_back_to_its_own_letter() -> None:
    """B01."""
    item = draw(7, "x", "earlier", 0).show(F1)
    key = next(letter for letter, text in item.items() if text == "0.060723")
    for index in range(3):
        presentation = draw(0, "h", "light", index)
        chosen = next(letter for letter, text in presentation.show(item).items() if text == "0.060723")
        assert presentation.original(chosen) == key


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_every_order_and_its_way_back_undo_each_other(order: tuple[str, ...]) -> None:
    presentation = Presentation(order)
    assert [presentation.original(letter) for letter in "ABCD"] == list(order)
    assert presentation.show(dict(zip("ABCD", "ABCD", strict=True))) == dict(zip("ABCD", order, strict=True))


def test_there_are_24_orders() -> None:
    assert len(set(ORDERS)) == 24
    assert all(sorted(order) == list("ABCD") for order in ORDERS)


CALLS = [
    (seed, key, screen, index, scheme)
    for seed in (0, 3)
    for key in HASHES[:5]
    for screen in ("light", "strong")
    for index in range(5)
    for scheme in SCHEMES
]
_WORKER = """
import json, sys
from pytest_toolgate.candidate.presentation import draw
calls = json.load(sys.stdin)
json.dump([str(draw(*call)) for call in calls], sys.stdout)
"""


def drawn_elsewhere(calls: Sequence[tuple[int, str, str, int, Scheme]], hash_seed: str) -> list[str]:
    """The orders of `calls`, drawn by another process with another hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", _WORKER],
        input=json.dumps(calls),
        env={"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
        text=True,
    )
    orders: list[str] = json.loads(done.stdout)
    return orders


def test_the_orders_are_the_same_in_any_process_any_number_of_workers_and_any_order_of_calls() -> None:
    here = {call: str(draw(*call)) for call in CALLS}
    shuffled = random.Random(1).sample(CALLS, len(CALLS))
    for workers in (1, 2, 3):
        there: dict[tuple[int, str, str, int, Scheme], str] = {}
        for worker in range(workers):
            part = shuffled[worker::workers]
            there |= dict(zip(part, drawn_elsewhere(part, str(worker + 1)), strict=True))
        assert there == here


def test_an_order_can_be_drawn_without_this_package() -> None:
    """By SHA-256 and the orders of four letters in alphabetical order, as the documentation says."""
    orders = ["".join(order) for order in itertools.permutations("ABCD")]
    for seed, key, screen, index, scheme in CALLS:
        number = 0 if scheme == "distinct-slots" else index
        digest = hashlib.sha256(f"{seed}\n{key}\n{screen}\n{number}".encode()).digest()
        order = orders[int.from_bytes(digest, "big") % 24]
        shift = index % 4 if scheme == "distinct-slots" else 0
        assert str(draw(seed, key, screen, index, scheme)) == order[shift:] + order[:shift]


def test_the_drawn_orders_are_pinned() -> None:
    # Recorded replies are found again by these; changing the drawing would make every one of them stale.
    assert [str(draw(0, "0" * 32, "light", index)) for index in range(3)] == ["DCAB", "BCAD", "CBAD"]


def test_every_argument_matters_and_order_of_calls_does_not() -> None:
    base = [str(draw(0, "h", "s", index)) for index in range(12)]
    assert base == [str(draw(0, "h", "s", index)) for index in reversed(range(12))][::-1]
    for seed, key, purpose in ((1, "h", "s"), (0, "i", "s"), (0, "h", "t")):
        assert base != [str(draw(seed, key, purpose, index)) for index in range(12)]


@pytest.mark.parametrize("index", [0, 1, 7])
def test_orders_are_uniform(index: int) -> None:
    counts = Counter(str(draw(0, key, "light", index)) for key in HASHES)
    expected = len(HASHES) / len(ORDERS)
    # 23 degrees of freedom: 49.7 is passed by chance once in a thousand.
    assert sum((counts["".join(order)] - expected) ** 2 / expected for order in ORDERS) < 49.7


def test_calls_are_drawn_independently_of_each_other() -> None:
    pairs = Counter(tuple(draw(0, key, "s", index).order.index("A") for index in range(2)) for key in HASHES)
    expected = len(HASHES) / 16
    assert (
        sum(
            (pairs[first, second] - expected) ** 2 / expected for first, second in itertools.product(range(4), repeat=2)
        )
        < 37.7
    )


@given(
    seed=st.integers(0, 2**63 - 1),
    key=st.text("0123456789abcdef", min_size=32, max_size=32),
    start=st.integers(0, 50),
)
def test_distinct_slots_put_every_option_under_each_letter(seed: int, key: str, start: int) -> None:
    calls = [draw(seed, key, "s", start + index, "distinct-slots") for index in range(4)]
    for option in "ABCD":
        assert {call.order.index(option) for call in calls} == {0, 1, 2, 3}


# --- what the schemes do to models that do not know the answer --------------------------------------------


def rejected(
    slots: Sequence[tuple[int, ...]], samples: int, reject_at: int, picks: Sequence[tuple[int, ...]]
) -> Fraction:
    """The share of (slots of the answer, picked slots) in which at least `reject_at` picks hit."""
    hits = sum(sum(map(operator.eq, slot, pick)) >= reject_at for slot in slots for pick in picks)
    assert all(len(slot) == samples for slot in slots)
    return Fraction(hits, len(slots) * len(picks))


ANY = list(itertools.product(range(4), repeat=3))
DISTINCT = [tuple((start - index) % 4 for index in range(3)) for start in range(4)]
SAME_LETTER = [(letter,) * 3 for letter in range(4)]


@pytest.mark.parametrize(
    ("slots", "picks", "share"),
    [
        pytest.param(ANY, ANY, Fraction(10, 64), id="guesser-independent"),
        pytest.param(DISTINCT, ANY, Fraction(10, 64), id="guesser-distinct"),
        pytest.param(ANY, SAME_LETTER, Fraction(10, 64), id="one-letter-independent"),
        pytest.param(DISTINCT, SAME_LETTER, Fraction(0), id="one-letter-distinct"),
    ],
)
def test_chance_of_rejecting_without_knowledge(
    slots: list[tuple[int, ...]], picks: list[tuple[int, ...]], share: Fraction
) -> None:
    """With n = 3 and k = 2: 15.6 %, but 0 % for a model that always says one letter under distinct slots."""
    assert rejected(slots, 3, 2, picks) == share


@pytest.mark.parametrize(("scheme", "share"), [("independent", 0.15625), ("distinct-slots", 0.0)])
def test_the_drawn_presentations_have_that_chance(scheme: Scheme, share: float) -> None:
    slots = [tuple(draw(0, key, "s", index, scheme).order.index("B") for index in range(3)) for key in HASHES]
    observed = float(rejected(slots, 3, 2, SAME_LETTER))
    # Four letters of one item exclude each other, so the spread is below that of as many independent trials.
    assert abs(observed - share) < 4 * (share * (1 - share) / len(HASHES)) ** 0.5 + 1e-12


# --- runs of a script ------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**63 - 1),
    key=st.text(max_size=40),
    answer=st.sampled_from("ABCD"),
    count=st.integers(1, 9),
)
def test_a_script_never_sees_the_answer_under_its_own_letter(seed: int, key: str, answer: str, count: int) -> None:
    orders = draw_moved(seed, key, answer, count)
    slots = ["ABCD"[order.order.index(answer)] for order in orders]
    assert len(orders) == count
    assert answer not in slots
    assert all(one != next_one for one, next_one in itertools.pairwise(slots))
    assert len(set(slots)) == min(count, 3)
    assert orders == draw_moved(seed, key, answer, count + 3)[:count]


@pytest.mark.parametrize("answer", "ABCD")
def test_the_answer_moves_to_each_other_letter_alike(answer: str) -> None:
    slots = Counter(draw_moved(0, key, answer, 1)[0].order.index(answer) for key in HASHES)
    assert len(slots) == 3
    assert all(abs(count - 800) < 100 for count in slots.values())
