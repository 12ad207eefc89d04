"""The FEniCSx study of the paper as data: 500 rounds and audits on them, with every figure that FACTS.md states.

The paper's own records are not published, so which round came to what is drawn here, once and for all, under the
condition that all its counts come out. `tests/unit/test_study.py` counts them.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Outcome = Literal["mismatch", "too-easy", "unsolved", "accepted"]
Audit = Literal["gpt-5.4", "opus-4.8", "gpt-5.5-none", "gpt-5.5-medium", "gpt-5.5-tools", "other-tools"]
Layout = Literal["defect", "clear", "unresolved"]


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the construction run.

    Attributes:
        number: From 1 to 500.
        outcome: What it came to in the loop: rejected by verification, by the screen, not solved, or accepted.
        letter: The letter of the answer.
        rank: The rank of the answer among the four values, 1 for the smallest.
        kind: The kind of item.
        template: Its cluster among the accepted ones. Items of one template differ in constants only.
        chosen: The letters that the screen in the loop chose, in the order in which the options are written.
        asked: The audits that were made of it.
        solved: Those in which it was solved.
        layout: What the later audit of the data layout found, for those that survived all audits.
        repeats: The earlier round that it repeats exactly.
    """

    number: int
    outcome: Outcome
    letter: str = "A"
    rank: int = 1
    kind: Literal["basix", "deformed-mesh", "other"] = "basix"
    template: int = 0
    chosen: tuple[str, ...] = ()
    asked: frozenset[Audit] = frozenset()
    solved: frozenset[Audit] = frozenset()
    layout: Layout | None = None
    repeats: int | None = None

    @property
    def survives(self) -> bool:
        """Whether it passes every audit of the reported pool but the removal of repetitions."""
        screens: set[Audit] = {"gpt-5.4", "opus-4.8", "gpt-5.5-medium"}
        return self.outcome != "mismatch" and not self.solved & screens and "gpt-5.5-tools" in self.solved


def study() -> tuple[Round, ...]:
    """The rounds in order; the same ones at every call."""
    draw = random.Random(260902067)
    counts: dict[Outcome, int] = {"mismatch": 22, "too-easy": 260, "unsolved": 6, "accepted": 212}
    outcomes = [outcome for outcome, count in counts.items() for _ in range(count)]
    draw.shuffle(outcomes)
    rounds = {number: Round(number, outcome) for number, outcome in enumerate(outcomes, start=1)}
    _audit(rounds, draw)
    _answers(rounds, draw)
    _kinds(rounds, draw)
    _repeats(rounds)
    return tuple(rounds.values())


@dataclass(frozen=True, slots=True)
class Stage:
    """One row of the paper's table of the reported pool."""

    name: str
    came: int
    removed: int

    @property
    def left(self) -> int:
        """How many go on."""
        return self.came - self.removed


def reported(rounds: Sequence[Round]) -> tuple[Stage, ...]:
    """The table of the reported pool, by audits on the rounds."""
    stages = []
    left = list(rounds)

    def remove(name: str, is_removed: Callable[[Round], bool]) -> None:
        removed = [each for each in left if is_removed(each)]
        stages.append(Stage(name, len(left), len(removed)))
        left[:] = [each for each in left if each not in removed]

    remove("verify", lambda each: each.outcome == "mismatch")
    remove("gpt-5.4", lambda each: "gpt-5.4" in each.solved)
    remove("opus-4.8", lambda each: "opus-4.8" in each.solved)
    remove("gpt-5.5-medium", lambda each: "gpt-5.5-medium" in each.solved)
    remove("gpt-5.5-tools", lambda each: "gpt-5.5-tools" not in each.solved)
    kept = {each.number for each in left}
    remove("repeated", lambda each: each.repeats in kept)
    return tuple(stages)


_Rounds = dict[int, Round]


def _where(rounds: _Rounds, holds: Callable[[Round], bool]) -> list[int]:
    return [number for number, each in rounds.items() if holds(each)]


def _audit(rounds: _Rounds, draw: random.Random) -> None:
    def audit(name: Audit, asked: Iterable[int], solved: Iterable[int]) -> None:
        for number in asked:
            rounds[number] = replace(rounds[number], asked=rounds[number].asked | {name})
        for number in solved:
            rounds[number] = replace(rounds[number], solved=rounds[number].solved | {name})

    verified = _where(rounds, lambda each: each.outcome != "mismatch")
    easy = _where(rounds, lambda each: each.outcome == "too-easy")
    # Of the 260 that were easy in the fixed order, 191 are not once options are shuffled.
    light = draw.sample(easy, 260 - 191) + draw.sample([n for n in verified if n not in easy], 127 - (260 - 191))
    audit("gpt-5.4", verified, light)
    passed = [number for number in verified if number not in light]
    other = draw.sample(light, 55) + draw.sample(passed, 95)
    audit("opus-4.8", verified, other)
    passed = [number for number in passed if number not in other]
    medium = draw.sample(passed, 121)
    rest = [number for number in passed if number not in medium]
    audit("gpt-5.5-medium", passed, medium)
    audit("gpt-5.5-none", passed, draw.sample(medium, 31) + draw.sample(rest, 49 - 31))
    # What the solver in the loop could not solve comes first among what this one cannot.
    draw.shuffle(rest)
    rest.sort(key=lambda number: rounds[number].outcome != "unsolved")
    audit("gpt-5.5-tools", rest, rest[5:])
    accepted = _where(rounds, lambda each: each.outcome == "accepted")
    audit("other-tools", accepted, draw.sample(accepted, 209))


def _answers(rounds: _Rounds, draw: random.Random) -> None:
    """Letters, ranks, and what the screen in the loop chose in the fixed order."""
    easy = _where(rounds, lambda each: each.outcome == "too-easy")
    hard = _where(rounds, lambda each: each.outcome in ("unsolved", "accepted"))
    draw.shuffle(easy)
    draw.shuffle(hard)
    # 210 answers at C, 542 of their 630 calls right; 268 elsewhere, 236 of their 804 calls right.
    at_c, elsewhere = easy[:180] + hard[:30], easy[180:] + hard[30:]
    right = dict.fromkeys(easy, 2) | dict.fromkeys(hard, 0)
    for more in (easy[:158], hard[:24], easy[180:210], hard[30:76]):
        for number in more:
            right[number] += 1
    wrong_at_c = ["A", "B", "D"] * 30
    wrong_elsewhere = [True] * 404 + [False] * (804 - 236 - 404)  # whether the wrong choice is C
    draw.shuffle(wrong_elsewhere)
    ranks = [2, 3] * 191 + [1, 4] * 48
    draw.shuffle(ranks)
    letters = dict.fromkeys(at_c, "C") | {number: "ABD"[at % 3] for at, number in enumerate(elsewhere)}
    for number, letter in letters.items():
        chosen = [letter] * right[number]
        while len(chosen) < 3:
            if letter == "C":
                chosen.append(wrong_at_c.pop())
            else:
                chosen.append("C" if wrong_elsewhere.pop() else next(one for one in "ABD" if one != letter))
        draw.shuffle(chosen)
        rounds[number] = replace(rounds[number], letter=letter, rank=ranks.pop(), chosen=tuple(chosen))


def _kinds(rounds: _Rounds, draw: random.Random) -> None:
    """Kinds and templates; the layout of values matters to what is evaluated with Basix alone."""
    accepted = _where(rounds, lambda each: each.outcome == "accepted")
    draw.shuffle(accepted)
    templates = [0] * 140 + [1] * 7 + [2] * 40 + [3] * 23 + [4, 5]
    for number, template in zip(accepted, templates, strict=True):
        kind: Literal["basix", "deformed-mesh", "other"] = (
            "basix" if template < 2 else "deformed-mesh" if template < 4 else "other"
        )
        rounds[number] = replace(rounds[number], template=template, kind=kind)
    survivors = sorted(_where(rounds, lambda each: each.survives), key=lambda number: rounds[number].kind)
    counts: dict[Layout, int] = {"defect": 97, "clear": 28, "unresolved": 5}
    layouts = [layout for layout, count in counts.items() for _ in range(count)]
    for number, layout in zip(survivors, layouts, strict=True):
        rounds[number] = replace(rounds[number], layout=layout)


def _repeats(rounds: _Rounds) -> None:
    """Five accepted items repeat earlier ones, two of them among the survivors.

    The same question gets the same replies, so a repetition is in all but its number what it repeats.
    """
    alike: dict[Round, list[int]] = defaultdict(list)
    for number, each in rounds.items():
        if each.outcome == "accepted" and each.template == 0:
            alike[replace(each, number=0, chosen=tuple(sorted(each.chosen)))].append(number)
    pairs = [(numbers[0], numbers[1]) for numbers in alike.values() if len(numbers) > 1]
    surviving = [pair for pair in pairs if rounds[pair[0]].survives][:2]
    others = [pair for pair in pairs if not rounds[pair[0]].survives][:3]
    for first, second in (*surviving, *others):
        rounds[second] = replace(rounds[second], repeats=first, chosen=rounds[first].chosen)
