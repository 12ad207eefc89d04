"""The figures and the wording of docs/screens.md are the code's own."""

import itertools
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest

from pytest_toolgate.candidate.presentation import Scheme, draw
from pytest_toolgate.gates.grading import Count
from pytest_toolgate.screen.prompt import INSTRUCTION

from .pages import ROOT

PAGE = (ROOT / "docs" / "screens.md").read_text("utf-8")
_GUESSING = r"^\| (\d+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$"
# Enough items that each base order of `distinct-slots` is among them.
ITEMS = [f"{number:032x}" for number in range(400)]


def _rows(pattern: str) -> list[tuple[str, ...]]:
    return re.findall(pattern, PAGE, flags=re.MULTILINE)


def test_the_instruction_stands_in_the_page_as_it_is_sent() -> None:
    fenced = re.search(r"always the same:\n\n```\n(.*?)\n```", PAGE, flags=re.DOTALL)
    assert fenced
    assert fenced[1].replace("\n", " ") == INSTRUCTION


def test_the_table_of_counts_holds_every_case_and_its_verdict() -> None:
    stated = _rows(r"^\| (\d) \| (\d) \| (\d) \| (passed|rejected|no verdict) \|$")
    cases = [(c, m, 3 - c - m) for c, m in itertools.product(range(4), repeat=2) if c + m <= 3]
    assert stated == [(*map(str, case), Count(case[0], case[1], 3, 2).decided or "no verdict") for case in cases]
    for (c, m, wrong), (*_, verdict) in zip(cases, stated, strict=True):
        endings = {"rejected" if c + more >= 2 else "passed" for more in range(m + 1)}
        assert verdict == (endings.pop() if len(endings) == 1 else "no verdict"), wrong


# --- what guessing does -----------------------------------------------------------------------------------------


def _share(slots: Sequence[tuple[int, ...]], picks: Sequence[tuple[int, ...]], reject_at: int) -> Fraction:
    """Of all pairs of where the answer stood and what was picked, those with enough hits."""
    rejected = sum(sum(map(int.__eq__, slot, pick)) >= reject_at for slot in slots for pick in picks)
    return Fraction(rejected, len(slots) * len(picks))


def _slots(scheme: Scheme, samples: int) -> list[tuple[int, ...]]:
    """Every way in which the answer can stand in the calls, all equally likely."""
    if scheme == "independent":
        return list(itertools.product(range(4), repeat=samples))
    drawn = {tuple(draw(0, item, "s", call, scheme).order.index("A") for call in range(samples)) for item in ITEMS}
    assert len(drawn) == 4
    return list(drawn)


def _percent(share: Fraction) -> str:
    percent = Decimal(100 * share.numerator) / share.denominator
    return str(percent.quantize(Decimal("0.1"), ROUND_HALF_UP))


@pytest.mark.parametrize("row", _rows(_GUESSING), ids=lambda row: f"{row[1]}-of-{row[0]}")
def test_the_shares_of_items_that_guessing_rejects(row: tuple[str, ...]) -> None:
    samples, reject_at = int(row[0]), int(row[1])
    any_letters = list(itertools.product(range(4), repeat=samples))
    one_letter = [(letter,) * samples for letter in range(4)]
    # Where the picks are random it makes no difference where the answer stands.
    guesser = _share([(0,) * samples], any_letters, reject_at)
    if samples <= 4:
        schemes: tuple[Scheme, ...] = ("independent", "distinct-slots")
        assert {_share(_slots(scheme, samples), any_letters, reject_at) for scheme in schemes} == {guesser}
    shares = [guesser, *(_share(_slots(s, samples), one_letter, reject_at) for s in ("independent", "distinct-slots"))]
    assert [_percent(share) for share in shares] == list(row[2:])


def test_the_figures_in_the_text() -> None:
    guessing = {(row[0], row[1]): row[2:] for row in _rows(_GUESSING)}
    assert guessing["3", "2"] == ("15.6", "15.6", "0.0")
    assert len(guessing) == 11
    one_screen = _share([(0, 0, 0)], list(itertools.product(range(4), repeat=3)), 2)
    text = " ".join(PAGE.split())
    assert (
        f"rejects {_percent(one_screen)} % of the items, and two such screens {_percent(1 - (1 - one_screen) ** 2)} %"
        in text
    )
    assert "rejects 15.6 % under `independent` and 0 % under `distinct-slots`" in text


def test_distinct_slots_helps_from_the_thresholds_that_the_text_names() -> None:
    for samples, reject_at in itertools.product(range(1, 9), range(1, 9)):
        if reject_at <= samples:
            share = _share(_slots("distinct-slots", samples), [(letter,) * samples for letter in range(4)], reject_at)
            enough = reject_at >= (2 if samples <= 4 else 3)
            assert (share == 0) is enough, (samples, reject_at)


# --- statuses ---------------------------------------------------------------------------------------------------


def test_every_status_has_its_row() -> None:
    part = PAGE.partition("## Statuses of replies")[2].partition("## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", part, flags=re.MULTILINE) == [
        *("answered", "wrong-form", "empty", "truncated", "refused", "failed")
    ]
