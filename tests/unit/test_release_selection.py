"""Which candidates of a database become items."""

from pathlib import Path

import pytest

from pytest_toolgate.release import ReleaseError
from pytest_toolgate.release.selection import REFUSED, TWINS, UNVERIFIED, select
from pytest_toolgate.store import Store

from .test_audits import OPTIONS, Record


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(Store(tmp_path / "toolgate.db"))


def test_of_rounds_that_repeat_each_other_the_first_stays(record: Record) -> None:
    rounds = [record.round(number) for number in (1, 2, 3)]
    for round_id, path in reversed(list(zip(rounds, ("r1.yaml", "r2.yaml", "r3.yaml"), strict=True))):
        record.attempt(path=path, round_id=round_id)
    other = dict(zip("ABCD", reversed(OPTIONS.values()), strict=True))
    record.attempt(path="r4.yaml", round_id=record.round(4), options=other, solution="another")
    found = select(record.store)
    assert [each.candidate.round for each in found.chosen] == [1]
    assert found.left_out == {TWINS: 3}


def test_an_id_that_two_items_have_is_told_apart(record: Record) -> None:
    record.attempt(path="one/item.yaml", question="What is one?")
    record.attempt(path="two/item.yaml", question="What is two?")
    record.attempt(path="other.yaml", question="What is another?")
    found = select(record.store)
    assert sorted(each.id for each in found.chosen) == sorted(
        f"item-{each.candidate.fingerprint[:12]}" if each.candidate.id == "item" else "other" for each in found.chosen
    )
    assert len({each.id for each in found.chosen}) == 3


def test_what_nothing_has_verified_or_a_check_has_refused_is_left_out(record: Record) -> None:
    record.attempt(path="unverified.yaml", question="What is one?", verify=None)
    record.attempt(path="refused.yaml", question="What is two?")
    record.attempt("rejected", "check", path="refused.yaml", question="What is two?")
    audit = record.run("first")
    record.attempt("provisional", "screen", path="refused.yaml", question="What is two?", run_id=audit, verify=None)
    assert select(record.store).left_out == {UNVERIFIED: 1}
    assert select(record.store, "audit:first").left_out == {REFUSED: 1}


def test_an_error_is_no_item(record: Record) -> None:
    record.attempt("error", "screen")
    assert select(record.store).chosen == ()
    for pool in ("verified", "all", "audit"):
        with pytest.raises(ReleaseError, match="cannot be released"):
            select(record.store, pool)
