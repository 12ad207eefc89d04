"""Templates: what is alike is one cluster, and how many clusters a pool amounts to."""

import itertools
import math
import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.pool.clusters import Templates, clusters, effective_number, templates
from pytest_toolgate.pool.shingles import Shingles, of_candidate, of_texts
from pytest_toolgate.pool.similarity import similarity

from .items import candidate
from .test_shingles import CONSTANT, QUESTION, SCRIPT, filled
from .test_similarity import ITEM, ITEMS

THRESHOLDS = st.sampled_from([0.07, 0.1, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 1.0])
SIZES = st.lists(st.integers(1, 500), min_size=1, max_size=30)


def by_hand(items: Mapping[str, Shingles], threshold: float) -> set[frozenset[str]]:
    """Grow each cluster from its first item by comparing all with all."""
    left, found = set(items), set()
    while left:
        cluster, new = set[str](), {min(left)}
        while new:
            cluster |= new
            left -= new
            new = {
                other for other in left for name in new if similarity(items[name], items[other]) >= threshold
            }  # fmt: skip
        found.add(frozenset(cluster))
    return found


@given(items=ITEMS, threshold=THRESHOLDS)
def test_clusters_are_what_chains_of_similar_items_join(items: dict[str, Shingles], threshold: float) -> None:
    """Comparing only what shares a rare element finds all that comparing all with all finds."""
    assert set(map(frozenset, clusters(items, threshold))) == by_hand(items, threshold)


@given(items=ITEMS, threshold=THRESHOLDS)
def test_clusters_are_a_partition_in_a_fixed_order(items: dict[str, Shingles], threshold: float) -> None:
    found = clusters(items, threshold)
    assert sorted(itertools.chain(*found)) == sorted(items)
    assert all(list(cluster) == sorted(cluster) for cluster in found)
    assert list(found) == sorted(found, key=lambda cluster: (-len(cluster), cluster))


@given(items=ITEMS, threshold=THRESHOLDS, seed=st.integers(0, 99))
def test_the_order_of_items_does_not_matter(items: dict[str, Shingles], threshold: float, seed: int) -> None:
    turned = list(items.items())
    random.Random(seed).shuffle(turned)
    assert clusters(dict(turned), threshold) == clusters(items, threshold)


@given(items=ITEMS, extra=ITEM, threshold=THRESHOLDS)
def test_one_more_item_parts_no_two_that_were_together(
    items: dict[str, Shingles], extra: Shingles, threshold: float
) -> None:
    grown = [set(cluster) for cluster in clusters({**items, "extra": extra}, threshold)]
    assert all(any(set(cluster) <= large for large in grown) for cluster in clusters(items, threshold))


def test_a_chain_joins_ends_that_have_nothing_in_common() -> None:
    words = [f"w{n}" for n in range(24)]
    items = {f"{n:02}": of_texts(" ".join(words[n : n + 8]), [], "") for n in range(12)}
    assert similarity(items["00"], items["01"]) == 6 / 8
    assert similarity(items["00"], items["11"]) == 0
    assert len(clusters(items, 0.7)) == 1
    assert len(clusters(items, 0.76)) == 12


@given(constants=st.lists(CONSTANT, min_size=2, max_size=20), seed=st.integers(0, 99))
def test_a_hundred_variants_that_differ_in_constants_are_one_cluster(constants: list[str], seed: int) -> None:
    draw = random.Random(seed)
    variants = {
        f"item-{number:04}": of_candidate(
            candidate(
                question=filled(QUESTION, draw.choices(constants, k=QUESTION.count("{}"))),
                solution=filled(SCRIPT, draw.choices(constants, k=SCRIPT.count("{}"))),
            )
        )
        for number in range(100)
    }
    assert clusters(variants) == (tuple(sorted(variants)),)
    assert templates(variants) == Templates(100, 1, 1.0, 1.0)


@pytest.mark.parametrize(
    ("sizes", "effective"),
    [([7], 1.0), ([1, 1, 1, 1], 4.0), ([50, 50], 2.0), ([2, 1, 1], math.exp(1.5 * math.log(2))), ([10**6, 1], 1.0)],
)
def test_the_effective_number(sizes: list[int], effective: float) -> None:
    assert effective_number(sizes) == pytest.approx(effective, rel=1e-4)


@given(sizes=SIZES)
def test_the_effective_number_lies_between_one_and_the_number_of_clusters(sizes: list[int]) -> None:
    assert 1 - 1e-9 <= effective_number(sizes) <= len(sizes) + 1e-9


@given(sizes=SIZES, times=st.integers(2, 5))
def test_a_pool_of_twice_as_many_such_clusters_has_twice_the_effective_number(sizes: list[int], times: int) -> None:
    """The doubling property, which makes it a number of templates (Hill 1973)."""
    assert effective_number(sizes * times) == pytest.approx(times * effective_number(sizes))


def test_figures_for_people() -> None:
    assert str(Templates(12, 12, 12.0, 1 / 12)) == "12 candidates in 12 clusters, effective number 12.0, largest 8 %"
    assert str(Templates(20, 1, 1.0, 1.0)) == "20 candidates in 1 cluster, effective number 1.0, largest 100 %"
