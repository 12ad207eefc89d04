"""Whether a candidate has a place beside the others of its pool."""

import threading
from collections.abc import Iterator

import pytest

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.config import GenerateSettings
from pytest_toolgate.generator.newcomers import Member, Newcomers

from .items import candidate

WORDS = [f"{letter}{letter}word" for letter in "abcdefghijklmnopqrs"]


def item(turn: int, *tags: str, last: str = "") -> Candidate:
    """One like no other: the words in another order, in question and script."""
    words = [WORDS[(each * (2 * turn + 3) + turn) % len(WORDS)] + str(turn) * 3 for each in range(len(WORDS))]
    return candidate(
        id=f"item-{turn}",
        question=f"{' '.join(words)} {last}?",
        solution=f"import scipy\n# {' '.join(reversed(words))} {last}\nprint(1)",
        distractors={"A": "one", "C": "two", "D": "three"},
        answer="B",
        tags=tags,
    )


def pool(*members: Member, **settings: object) -> Newcomers:
    return Newcomers(members, GenerateSettings(**settings))  # type: ignore[arg-type]


def test_a_new_one_has_a_place_and_a_repetition_has_none() -> None:
    newcomers = pool(Member("round 1", item(1), kept=False))
    assert newcomers.refuse("round 2", item(2)) is None
    fault = newcomers.refuse("round 3", item(1))
    assert fault is not None
    assert (fault.reason, "round 1" in fault.sentence) == ("duplicate", True)


def test_what_the_generator_was_shown_is_nothing_new() -> None:
    newcomers = Newcomers([], GenerateSettings(), [item(1)])
    for one, reason in ((item(1), "duplicate"), (item(1, last="now"), "too-similar")):
        fault = newcomers.refuse("round 1", one)
        assert fault is not None
        assert (fault.reason, "seed item-1" in fault.sentence) == (reason, True)
    assert dict(newcomers.kept) == {}


def test_only_what_was_accepted_is_not_to_be_resembled() -> None:
    for kept in (False, True):
        fault = pool(Member("round 1", item(1), kept=kept)).refuse("round 2", item(1, last="now"))
        assert (fault is not None and fault.reason) == ("too-similar" if kept else False)


def test_every_wrong_option_must_come_with_its_mistake() -> None:
    bare = candidate(distractors={"A": "one"}, answer="B")
    fault = pool().refuse("round 1", bare)
    assert fault is not None
    assert fault.reason == "no-distractors"


def test_a_full_tag_is_refused_and_so_is_one_without_any() -> None:
    newcomers = pool(Member("round 1", item(1, "mesh"), kept=True), quotas={"mesh": 0.5, "basix": 0.5})
    full, untagged = newcomers.refuse("round 2", item(2, "mesh")), newcomers.refuse("round 3", item(3))
    assert full is not None
    assert untagged is not None
    assert (full.reason, untagged.reason) == ("quota", "quota")
    assert newcomers.refuse("round 4", item(4, "basix")) is None


@pytest.fixture
def asking() -> Iterator[list[threading.Thread]]:
    threads: list[threading.Thread] = []
    yield threads
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def ask(newcomers: Newcomers, name: str, one: Candidate, threads: list[threading.Thread], seen: list[object]) -> None:
    thread = threading.Thread(target=lambda: seen.append(newcomers.refuse(name, one)), daemon=True)
    threads.append(thread)
    thread.start()


@pytest.mark.parametrize("kept", [True, False])
def test_who_resembles_one_that_is_being_judged_waits_for_its_verdict(
    asking: list[threading.Thread], kept: bool
) -> None:
    newcomers, seen = pool(), list[object]()
    assert newcomers.refuse("round 1", item(1)) is None
    ask(newcomers, "round 2", item(1, last="now"), asking, seen)
    assert newcomers.refuse("round 3", item(3)) is None  # who has nothing to do with it does not wait
    asking[0].join(0.3)
    assert seen == []
    newcomers.decided("round 1", kept=kept)
    asking[0].join(10)
    assert len(seen) == 1
    assert (seen[0] is not None) == kept
    assert set(newcomers.kept) == ({"round 1"} if kept else set())


def test_who_would_overfill_a_tag_waits_too(asking: list[threading.Thread]) -> None:
    newcomers, seen = pool(quotas={"mesh": 0.5}), list[object]()
    assert newcomers.refuse("round 1", item(1, "mesh")) is None
    ask(newcomers, "round 2", item(2, "mesh"), asking, seen)
    asking[0].join(0.3)
    assert seen == []
    newcomers.forget("round 1")
    asking[0].join(10)
    assert seen == [None]


@pytest.mark.parametrize("verdict", [True, False])
def test_a_repetition_of_one_that_is_being_judged_waits_and_has_its_place_if_there_is_no_verdict(
    asking: list[threading.Thread], verdict: bool
) -> None:
    newcomers, seen = pool(), list[object]()
    assert newcomers.refuse("round 1", item(1)) is None
    ask(newcomers, "round 2", item(1), asking, seen)
    asking[0].join(0.3)
    assert seen == []
    if verdict:
        newcomers.decided("round 1", kept=False)
    else:
        newcomers.forget("round 1")
    asking[0].join(10)
    assert [found is not None for found in seen] == [verdict]


def test_a_verdict_on_what_was_refused_changes_nothing() -> None:
    newcomers = pool(Member("round 1", item(1), kept=True))
    assert newcomers.refuse("round 2", item(1)) is not None
    newcomers.decided("round 2", kept=True)
    assert set(newcomers.kept) == {"round 1"}
