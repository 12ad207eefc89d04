"""Exact duplicates by the stated rule, and near ones that are listed and stay."""

from itertools import combinations
from types import MappingProxyType

import pytest

from pytest_toolgate.analysis import templates
from pytest_toolgate.analysis.templates import exact_twins, near_pairs
from pytest_toolgate.audit import Recorded
from pytest_toolgate.pool.clusters import clusters
from pytest_toolgate.pool.shingles import Shingles, of_texts

TEXTS = MappingProxyType({
    "a": "How large is the norm of the first field on the fine mesh at load 1",
    "b": "How large is the norm of the first field on the fine mesh at load 2",
    "c": "Which eigenvalue of this operator comes next when sorted",
})  # fmt: skip


def recorded(name: str, twin: str = "", number: int | None = None, time: str = "1") -> Recorded:
    return Recorded(name, name, name, twin or name, name, number, "scipy" if number else "", time)


def shingles(*names: str) -> dict[str, Shingles]:
    return {f"{number:09}": of_texts(TEXTS[name], (), "") for number, name in enumerate(names)}


def test_the_lowest_round_stays_of_exact_duplicates() -> None:
    pool = [recorded("b", "t", 9), recorded("a", "t", 3), recorded("c")]
    [twins] = exact_twins(pool)
    assert (twins.stays.path, [one.path for one in twins.removed]) == ("a", ["b"])


def test_else_the_one_that_was_attempted_first() -> None:
    [twins] = exact_twins([recorded("late", "t", time="2"), recorded("early", "t", time="1")])
    assert twins.stays.path == "early"


def test_files_that_could_not_be_read_are_no_duplicates_of_each_other() -> None:
    assert exact_twins([Recorded("a", "", "", "", ""), Recorded("b", "", "", "", "")]) == ()


def test_near_duplicates_are_pairs_that_are_not_the_same() -> None:
    pool = [recorded("a"), recorded("b"), recorded("c"), recorded("a again", "a")]
    known = shingles("a", "b", "c", "a")
    found, cut = near_pairs(pool, known, clusters(known, 0.7), 0.7)
    assert {(pair.first.path, pair.second.path) for pair in found} == {("a", "b"), ("b", "a again")}
    assert (found[0].similarity, found[0].part, cut) == (1.0, "question", False)


def test_more_pairs_than_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MOST_PAIRS", 3)
    names = ["a"] * 5
    pool = [recorded(f"item {number}") for number in range(5)]
    known = shingles(*names)
    found, cut = near_pairs(pool, known, clusters(known, 0.7), 0.7)
    assert (len(found), cut, len(list(combinations(names, 2)))) == (3, True, 10)
