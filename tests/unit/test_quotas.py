"""Quotas: which tags there is enough of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.pool.quotas import TagShare, full, over_quota, shares, wanted

QUOTAS = {"basix": 0.3, "mesh": 0.25}


def tags(*counts: tuple[str, int]) -> list[tuple[str, ...]]:
    return [(tag,) for tag, count in counts for _ in range(count)]


def told(found: tuple[TagShare, ...]) -> list[str]:
    return [share.tag for share in found]


def test_a_tag_is_full_when_one_more_would_be_more_than_its_share() -> None:
    """Three of ten may be `basix`: with two of nine there is room for one more, with three of nine there is none."""
    assert told(full(shares(QUOTAS, tags(("basix", 2), ("poisson", 7))))) == []
    assert told(full(shares(QUOTAS, tags(("basix", 3), ("poisson", 6))))) == ["basix"]


def test_a_pool_too_small_for_the_share_may_have_one() -> None:
    assert told(full(shares(QUOTAS, []))) == []
    assert told(full(shares(QUOTAS, tags(("basix", 1))))) == ["basix"]
    assert told(full(shares({"basix": 0}, []))) == ["basix"]
    assert told(full(shares({"basix": 1}, tags(("basix", 5))))) == []


@pytest.mark.parametrize("percent", range(1, 101))
def test_a_share_is_the_decimal_that_was_written(percent: int) -> None:
    """29 of 100 is a share of 0.29, though 0.29 * 100 is 28.999999999999996."""
    before = tags(("basix", percent - 1), ("other", 100 - percent))
    assert told(full(shares({"basix": percent / 100}, before))) == []
    after = tags(("basix", percent), ("other", 99 - percent))
    assert percent == 100 or told(full(shares({"basix": percent / 100}, after))) == ["basix"]


@given(
    quota=st.integers(1, 100).map(lambda percent: percent / 100),
    choices=st.lists(st.booleans(), min_size=1, max_size=60),
)
def test_a_pool_that_keeps_to_its_quotas_never_exceeds_them(quota: float, choices: list[bool]) -> None:
    accepted: list[tuple[str, ...]] = []
    for basix in choices:
        candidate = ("basix",) if basix else ("other",)
        if over_quota(candidate, shares({"basix": quota}, accepted)) is None:
            accepted.append(candidate)
            assert candidate != ("basix",) or accepted.count(("basix",)) <= max(1, quota * len(accepted) + 1e-9)
    assert len(accepted) >= choices.count(False)


def test_an_item_with_several_tags_counts_for_each_and_once() -> None:
    found = shares(QUOTAS, [("basix", "mesh", "Basix"), ("basix",), ()])
    assert [(share.items, share.accepted) for share in found] == [(2, 3), (1, 3)]


@pytest.mark.parametrize("spelling", ["deformed-mesh", "Deformed Mesh", "deformed_mesh", " deformed  mesh"])
def test_spelling_counts_little(spelling: str) -> None:
    [share] = shares({"Deformed mesh": 0.5}, [(spelling,)])
    assert share.items == 1
    assert over_quota([spelling], [share])


def test_the_least_used_quota_is_wanted_first() -> None:
    found = shares({"a": 0.4, "b": 0.4, "c": 0.9, "d": 0.1}, tags(("a", 3), ("b", 1), ("c", 3), ("d", 3)))
    assert told(wanted(found)) == ["b", "c", "a"]


def test_why_a_candidate_is_one_too_many() -> None:
    found = shares(QUOTAS, tags(("basix", 4), ("mesh", 1), ("eigenvalue", 5)))
    assert over_quota(["poisson", "basix"], found) == (
        "is tagged `basix`, of which there is enough: 4 of 10 accepted items, at most 0.3"
    )
    assert over_quota(["mesh"], found) is None
    assert over_quota(["poisson"], found) is None


def test_a_candidate_without_tags_evades_no_quota() -> None:
    sentence = over_quota([], shares(QUOTAS, []))
    assert sentence == "carries no tag, and quotas are kept by tag; known ones are basix, mesh"
    assert over_quota([], shares({}, [])) is None
