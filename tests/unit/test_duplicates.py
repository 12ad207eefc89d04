"""Which of the candidates of a run say the same thing twice."""

from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.duplicates import Entry, find_duplicates


def entry(path: str, id: str, twin: str, fingerprint: str = "f") -> Entry:
    return Entry(path, id, twin, fingerprint)


def test_the_later_path_loses_and_names_the_earlier() -> None:
    losers = find_duplicates([entry("b.yaml", "b", "T"), entry("a.yaml", "a", "T"), entry("c.yaml", "c", "U")])
    assert list(losers) == ["b.yaml"]
    assert "`a.yaml`" in losers["b.yaml"]


def test_the_same_id() -> None:
    losers = find_duplicates([entry("a.yaml", "x", "T"), entry("b.yaml", "x", "U")])
    assert list(losers) == ["b.yaml"]
    assert "id `x`" in losers["b.yaml"]
    assert "`a.yaml`" in losers["b.yaml"]


def test_an_accepted_item_comes_first() -> None:
    accepted = [entry("old.yaml", "old", "T", "g")]
    losers = find_duplicates([entry("a.yaml", "a", "T"), entry("b.yaml", "old", "U")], accepted)
    assert "accepted item `old`" in losers["a.yaml"]
    assert "`old.yaml`" in losers["b.yaml"]


def test_a_candidate_is_not_its_own_duplicate() -> None:
    accepted = [entry("a.yaml", "a", "T", "f")]
    assert not find_duplicates([entry("a.yaml", "a", "T", "f")], accepted)
    assert not find_duplicates([entry("a.yaml", "a", "T2", "edited")], accepted)
    assert not find_duplicates([entry("moved/a.yaml", "a", "T", "f")], accepted)


def test_a_copy_beside_an_accepted_item_loses_whatever_its_path() -> None:
    accepted = [entry("b.yaml", "b", "T", "f")]
    losers = find_duplicates([entry("b.yaml", "b", "T", "f"), entry("c.yaml", "c", "T", "f")], accepted)
    assert list(losers) == ["c.yaml"]


def test_a_loser_still_counts_for_later_ones() -> None:
    losers = find_duplicates([entry("a", "1", "T"), entry("b", "2", "T"), entry("c", "2", "U")])
    assert set(losers) == {"b", "c"}
    assert "`b`" in losers["c"]


@given(keys=st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("TUV")), max_size=8))
def test_the_order_of_collection_does_not_matter(keys: list[tuple[str, str]]) -> None:
    entries = [entry(f"{number}.yaml", id, twin) for number, (id, twin) in enumerate(keys)]
    shuffled = entries[::-1]
    losers = find_duplicates(entries)
    assert losers == find_duplicates(shuffled)
    kept = [one for one in entries if one.path not in losers]
    assert len({one.id for one in kept}) == len({one.twin_key for one in kept}) == len(kept)
