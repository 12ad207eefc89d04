"""Similarity of items, and the novelty floor."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.pool.shingles import Shingles, pairs
from pytest_toolgate.pool.similarity import Index, Neighbour, jaccard, similarity, too_similar

# Few elements, so that sets overlap.
PAIRS = st.frozensets(st.sampled_from([a + b for a, b in itertools.product("abc", repeat=2)]))
ITEM = st.builds(Shingles, PAIRS, PAIRS)
ITEMS = st.dictionaries(st.text("xyz", min_size=1, max_size=3), ITEM, max_size=8)


def item(question: str, script: str = "") -> Shingles:
    return Shingles(pairs(question), pairs(script))


def test_the_share_of_all_pairs_that_both_have() -> None:
    """Five pairs each, of which `mesh of` is not `grid of` and `the mesh` not `the grid`: 3 of 7."""
    assert jaccard(pairs("refine the mesh of the bar"), pairs("refine the grid of the bar")) == 3 / 7


@given(left=PAIRS, right=PAIRS)
def test_jaccard_is_symmetric_bounded_and_one_for_equal_sets_alone(left: frozenset[str], right: frozenset[str]) -> None:
    figure = jaccard(left, right)
    assert figure == jaccard(right, left)
    assert 0 <= figure <= 1
    assert (figure == 1) == (left == right != frozenset())
    assert (figure == 0) == left.isdisjoint(right)


@given(left=ITEM, right=ITEM)
def test_an_item_is_as_alike_as_its_more_similar_part(left: Shingles, right: Shingles) -> None:
    assert similarity(left, right) == similarity(right, left)
    assert similarity(left, right) >= jaccard(left.question, right.question)
    assert similarity(left, right) >= jaccard(left.script, right.script)


def test_neither_other_words_nor_another_script_makes_an_item_new() -> None:
    script = "compute the weights of the rule and print the sum"
    one = item("What is the sum of the weights of this rule?", script)
    assert similarity(one, item("Add up all quadrature weights.", script)) == 1
    assert similarity(one, item("What is the sum of the weights of this rule?", "pass")) == 1
    assert similarity(one, item("Add up all quadrature weights.", "pass")) == 0


def test_texts_without_words_are_not_taken_for_one() -> None:
    assert similarity(item("?", ""), item("!", "")) == 0
    assert Index({"x": item("?")}).nearest(item("?")) is None


@given(candidate=ITEM, items=ITEMS)
def test_the_nearest_is_what_comparing_with_each_one_finds(candidate: Shingles, items: dict[str, Shingles]) -> None:
    found = Index(items).nearest(candidate)
    figures = {name: similarity(candidate, other) for name, other in items.items()}
    most = max(figures.values(), default=0)
    if most == 0:
        assert found is None
    else:
        assert found
        assert (found.name, found.similarity) == (min(name for name, f in figures.items() if f == most), most)
        assert jaccard(getattr(candidate, found.part), getattr(items[found.name], found.part)) == most


@given(candidate=ITEM, items=ITEMS)
def test_items_taken_in_one_by_one_are_the_same_index(candidate: Shingles, items: dict[str, Shingles]) -> None:
    index = Index()
    for name in reversed(items):
        index.add(name, items[name])
    assert index.nearest(candidate) == Index(items).nearest(candidate)


def test_the_nearest_has_a_name_a_figure_and_a_part() -> None:
    index = Index({"item-0023": item("alpha beta gamma", "one two three"), "item-0001": item("alpha beta", "four")})
    assert index.nearest(item("alpha beta", "one two three")) == Neighbour("item-0001", 1.0, "question")
    assert index.nearest(item("delta", "one two three four")) == Neighbour("item-0023", 2 / 3, "script")
    assert index.nearest(item("delta", "five")) is None


def test_what_is_too_similar_is_told_with_figure_and_name() -> None:
    index = Index({"item-0023": item("a b c d e f g", "x y")})
    assert too_similar(item("a b c d e f"), index) == (
        "0.83 of the wording of its question, numbers aside, is that of `item-0023` (at most 0.7 is allowed)"
    )
    assert too_similar(item("z", "x y"), index, 0.5) == (
        "1.00 of the wording of its script, numbers aside, is that of `item-0023` (at most 0.5 is allowed)"
    )
    assert too_similar(item("a b c"), index) is None


def test_exactly_the_limit_is_allowed() -> None:
    """7 of 10 pairs."""
    index = Index({"x": item(" ".join("abcdefghijk"))})
    assert too_similar(item(" ".join("abcdefgh")), index, 0.7) is None
    assert too_similar(item(" ".join("abcdefgh")), index, 0.69)
    assert too_similar(item("a b"), Index({"x": item("a b")}), 1) is None


@given(limit=st.floats(0, 1, exclude_max=True), shared=st.integers(1, 50), more=st.integers(0, 50))
def test_the_figure_told_is_above_the_limit(limit: float, shared: int, more: int) -> None:
    candidate = Shingles(frozenset(map(str, range(shared))), frozenset())
    index = Index({"x": Shingles(frozenset(map(str, range(shared + more))), frozenset())})
    sentence = too_similar(candidate, index, limit)
    if shared / (shared + more) <= limit:
        assert sentence is None
    else:
        assert sentence
        assert float(re.findall(r"^[\d.e-]+", sentence)[0]) > limit


@pytest.mark.parametrize("count", [500])
def test_only_what_shares_words_is_looked_at(count: int) -> None:
    """An index of unrelated items costs a candidate no comparison."""
    index = Index({f"item-{n:04}": item(f"word{n} other{n}", f"name{n} value{n}") for n in range(count)})
    assert index.nearest(item("word7 other7")) == Neighbour("item-0007", 1.0, "question")
