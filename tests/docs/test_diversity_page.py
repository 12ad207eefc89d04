"""The figures of docs/diversity.md are the code's own."""

import itertools
import math
import re
from collections.abc import Iterator
from functools import cache

import pytest

from pytest_toolgate.candidate import Candidate, read_candidate
from pytest_toolgate.pool.balance import middle_value_warning
from pytest_toolgate.pool.clusters import effective_number, templates
from pytest_toolgate.pool.shingles import MAX_TEXT, of_candidate, pairs, words
from pytest_toolgate.pool.similarity import MAX_SIMILARITY, jaccard
from pytest_toolgate.screen.cues import PoolCue

from .pages import ROOT

PAGE = (ROOT / "docs" / "diversity.md").read_text("utf-8")
TEXT = " ".join(PAGE.split())


@cache
def shipped() -> tuple[Candidate, ...]:
    return tuple(
        read_candidate(path, domains=("fenicsx", "scipy"), default_domain=None)
        for path in sorted((ROOT / "candidates").rglob("*.yaml"))
    )


def runs(text: str, length: int) -> frozenset[str]:
    """Shingles of any length."""
    found = words(text)
    return frozenset(" ".join(found[at : at + length]) for at in range(len(found) - length + 1))


def closest(texts: list[str], length: int) -> str:
    """The largest similarity of two of the texts."""
    sets = [runs(text, length) for text in texts]
    return f"{max(jaccard(left, right) for left, right in itertools.combinations(sets, 2)):.2f}"


def test_how_alike_the_candidates_of_this_repository_are() -> None:
    questions, scripts = [one.question for one in shipped()], [one.solution for one in shipped()]
    figures = {length: (closest(questions, length), closest(scripts, length)) for length in (1, 2, 3)}
    assert f"The {len(shipped())} candidates of this repository are all different" in TEXT
    assert "similarity of {}, of their scripts {}.".format(*figures[2]) in TEXT
    assert "With single words it would be {} and {},".format(*figures[1]) in TEXT
    assert "With runs of three it would be {} and {},".format(*figures[3]) in TEXT
    assert all(runs(text, 2) == pairs(text) for text in questions)


def test_each_of_them_is_a_template_of_its_own() -> None:
    found = templates({one.id: of_candidate(one) for one in shipped()})
    assert found.clusters == found.items == len(shipped())


def test_every_form_of_a_number_in_the_list_is_masked() -> None:
    forms = re.search(r"whatever its form: (.*?)\. Numbers", TEXT)
    assert forms
    for form in re.findall("`(.*?)`", forms[1]):
        assert words(form) == ["#"], form
    assert words("P2 or x1") == ["p2", "or", "x1"]


def test_the_limits() -> None:
    assert f"the first {MAX_TEXT:,} characters" in TEXT
    assert f"their similarity is at least {MAX_SIMILARITY}" in TEXT
    assert f"a given similarity, {MAX_SIMILARITY}, to any accepted item" in TEXT


@pytest.mark.parametrize(
    ("sizes", "effective", "largest"), re.findall(r"^\| ([\d, ]+) \| ([\d.]+) \| (\d+) % \|$", PAGE, flags=re.MULTILINE)
)
def test_the_table_of_effective_numbers(sizes: str, effective: str, largest: str) -> None:
    counts = [int(size) for size in sizes.split(", ")]
    assert effective == f"{effective_number(counts):.1f}"
    assert largest == f"{100 * max(counts) / sum(counts):.0f}"


def _warned(items: int) -> Iterator[int]:
    for middle in range(items + 1):
        if middle_value_warning(PoolCue(middle / 2 / items, items)):
            yield middle


@pytest.mark.parametrize(
    ("items", "least", "chance"), re.findall(r"^\| (\d+) \| (\d+|never) \| ([\d.]+) % \|$", PAGE, flags=re.MULTILINE)
)
def test_the_table_of_warnings(items: str, least: str, chance: str) -> None:
    warned = list(_warned(int(items)))
    assert least == (str(min(warned)) if warned else "never")
    assert warned == list(range(min(warned, default=0), int(items) + 1))[: len(warned)]
    assert chance == f"{100 * sum(math.comb(int(items), hits) for hits in warned) / 2 ** int(items):.1f}"


def test_the_quoted_warning_is_the_one_that_is_given() -> None:
    assert f"warning: {middle_value_warning(PoolCue(0.35, 20))}\n" in PAGE


def test_both_tables_are_read() -> None:
    assert PAGE.count(" % |\n") == 5 + 8
