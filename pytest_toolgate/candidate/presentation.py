"""One shuffled rendering of a candidate's options, drawn so that anybody can draw it again."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from .model import LETTERS

Scheme = Literal["independent", "distinct-slots"]
ORDERS: tuple[tuple[str, ...], ...] = tuple(permutations(LETTERS))


@dataclass(frozen=True, slots=True)
class Presentation:
    """An order of the options.

    Attributes:
        order: The original letter shown in place of A, B, C and D.
    """

    order: tuple[str, ...]

    def show(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options under the letters a reader sees."""
        return {shown: options[original] for shown, original in zip(LETTERS, self.order, strict=True)}

    def original(self, shown: str) -> str:
        """The candidate's own letter of the option shown as `shown`."""
        return self.order[LETTERS.index(shown)]

    def __str__(self) -> str:
        return "".join(self.order)


def draw(seed: int, presented: str, purpose: str, index: int, scheme: Scheme = "independent") -> Presentation:
    """The presentation of one call.

    Depends on its arguments alone, never on process, order of calls or Python version, and never on which
    option is the answer.

    Args:
        seed: The run seed.
        presented: `Candidate.presented`, the hash of question and options.
        purpose: What the call is for, e.g. the screen's name.
        index: Number of the call, from 0.
        scheme: `independent` draws every call for itself; `distinct-slots` draws the first and then moves
            every option one place on per call, so that in four calls each option has stood under each letter.
    """
    if scheme == "distinct-slots":
        base = _draw_order(seed, presented, purpose, 0)
        shift = index % len(LETTERS)
        return Presentation(base[shift:] + base[:shift])
    return Presentation(_draw_order(seed, presented, purpose, index))


def draw_moved(seed: int, fingerprint: str, answer: str, count: int) -> list[Presentation]:
    """Orders for the runs of a solution script, in each of which the answer has another letter.

    A script that prints a memorised letter fails in all of them, since the answer's own letter is never used.
    At most three can differ from each other; further runs begin again.
    """
    orders: list[Presentation] = []
    for index in range(count):
        slots = [letter for letter in LETTERS if letter != answer]
        start = _number(seed, fingerprint, "verify", 0) % len(slots)
        slot = LETTERS.index(slots[(start + index) % len(slots)])
        fitting = [order for order in ORDERS if order[slot] == answer]
        orders.append(Presentation(fitting[_number(seed, fingerprint, "verify", index + 1) % len(fitting)]))
    return orders


def _draw_order(seed: int, presented: str, purpose: str, index: int) -> tuple[str, ...]:
    return ORDERS[_number(seed, presented, purpose, index) % len(ORDERS)]


def _number(seed: int, key: str, purpose: str, index: int) -> int:
    text = f"{seed}\n{key}\n{purpose}\n{index}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
