"""What a generator is told of earlier rounds, and how."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate import read_candidate
from pytest_toolgate.generator.feedback import NEWEST, Feedback, Record, Wishes, feedback
from pytest_toolgate.generator.prompt import MOST_BYTES, Setting, build

from .items import candidate

WISHES = Wishes("C", 1)
SEEDS = tuple(candidate(id=f"seed-{number}", question=f"Seed number {number}?") for number in range(5))
GATES = ("lint", "verify", "screen", "solve")
SETTING = Setting("The Software", "software-domain", ("software",), "The guide.", SEEDS, 300, 240, GATES, ())
NOTHING = feedback([], WISHES)


def record(number: int, outcome: str = "accepted", gate: str = "solve", reason: str = "", sentence: str = "") -> Record:
    options = {"A": "0.1", "B": "0.2", "C": "0.3", "D": "0.4"}
    return Record(number, outcome, gate, reason, sentence, f"Question {number}?", options, "B", ("mesh",))


def mismatch(number: int) -> Record:
    return record(number, "rejected", "verify", "mismatch", f"the script of {number} printed 5\nmore")


# --- feedback -------------------------------------------------------------------------------------------------


def test_outcomes_are_counted_and_the_newest_twenty_are_shown_in_order() -> None:
    told = feedback([*(record(number) for number in range(50, 0, -1)), mismatch(51), mismatch(52)], WISHES)
    assert told.counts == {"accepted": 50, "rejected at verify: mismatch": 2}
    assert [each.number for each in told.newest] == list(range(33, 53))
    assert len(told.newest) == NEWEST == 20


def test_a_failure_recurs_that_is_twice_among_the_newest() -> None:
    far_apart = feedback([mismatch(1), *map(record, range(2, 25)), mismatch(25)], WISHES)
    [failure] = far_apart.failures
    assert (failure.times, failure.recurs, failure.sentence) == (2, False, "the script of 25 printed 5\nmore")
    [failure] = feedback([mismatch(1), record(2), mismatch(3)], WISHES).failures
    assert failure.recurs


@pytest.mark.parametrize(("gate", "told"), [("generate", 1), ("lint", 1), ("verify", 1), ("check", 1), ("screen", 0)])
def test_only_what_is_of_a_candidates_own_making_is_a_failure(gate: str, told: int) -> None:
    assert len(feedback([record(1, "rejected", gate, "x")], WISHES).failures) == told
    assert feedback([record(1, "review", "solve", "wrong")], WISHES).failures == ()


# --- the prompt -----------------------------------------------------------------------------------------------


def test_the_first_prompt_holds_task_form_guide_seeds_and_target() -> None:
    told = build(SETTING, 1, NOTHING)
    for words in (
        *("about The Software", "It must run `software`", "within 300 s", "after\n240 seconds", "candidate.yaml"),
        *("answer: C", "The guide.", "at letter C, and make it the smallest"),
    ):
        assert words in told, words
    assert "  C: ..." not in told  # the right one comes from no mistake
    assert "Outcomes so far" not in told
    assert "Failures to avoid" not in told


@pytest.mark.parametrize(
    ("gates", "checks", "list_"),
    [
        (("lint",), ("perturb",), ["1. lint"]),
        (("lint", "verify"), (), ["1. lint", "2. verify"]),
        (("lint", "verify", "solve"), ("basix-layout", "perturb"), ["1. lint", "2. verify", "3. check", "4. solve"]),
        (("lint", "screen"), (), ["1. lint", "2. screen"]),
    ],
)
def test_the_gates_of_the_run_are_told_and_no_others(
    gates: tuple[str, ...], checks: tuple[str, ...], list_: list[str]
) -> None:
    told = build(dataclasses.replace(SETTING, gates=gates, checks=checks), 1, NOTHING)
    assert re.findall(r"^(\d\. \w+): ", told, re.MULTILINE) == list_
    assert ("reject:\n   `basix-layout`, `perturb`.\n" in told) == ("3. check" in list_)
    assert "question must say all" in told


def test_each_round_begins_with_another_seed() -> None:
    first = [min((build(SETTING, n, NOTHING).find(seed.question), seed.id) for seed in SEEDS)[1] for n in range(1, 7)]
    assert first == ["seed-0", "seed-1", "seed-2", "seed-3", "seed-4", "seed-0"]


def test_a_seed_is_shown_as_a_file_that_reads_back_to_it(tmp_path: Path) -> None:
    seed = candidate(question="Line one: a\n  line two #", solution='print("ANSWER: 1")\n# é', tags=("a", "no"))
    told = build(dataclasses.replace(SETTING, seeds=(seed,)), 1, NOTHING)
    shown = told.split("```yaml\n")[2].split("```")[0]
    file = tmp_path / f"{seed.id}.yaml"
    file.write_text(f"domain: {seed.domain}\n{shown}", "utf-8")
    again = read_candidate(file, domains=[seed.domain], default_domain=None)
    assert dataclasses.replace(again, path=seed.path, lines={}, metadata={}) == dataclasses.replace(
        seed, lines={}, metadata={}
    )


def test_nothing_that_only_the_repository_knows_of_a_seed_is_shown() -> None:
    seed = candidate(metadata={"canary": "0b6d24b2-9d12-44c1-8a5b-7b2f5be6b6a4"})
    assert "0b6d24b2" not in build(dataclasses.replace(SETTING, seeds=(seed,)), 1, NOTHING)


def test_outcomes_failures_and_records_are_told() -> None:
    told = build(SETTING, 4, feedback([mismatch(1), record(2), mismatch(3)], WISHES))
    assert "3 rounds:\n- rejected at verify: mismatch: 2\n- accepted: 1\n" in told
    assert "- 2 x verify: mismatch; last: the script of 3 printed 5\n  This recurs. Change your approach" in told
    assert "Round 3: rejected at verify: mismatch\n  the script of 3 printed 5\n  tags mesh; options A 0.1, " in told
    assert told.index("Round 1:") < told.index("Round 2:") < told.index("Round 3:")


def test_what_the_pool_needs_is_told() -> None:
    needs = Wishes("A", 3, ("basix",), ("mesh", "quadrature"), ("Give the flux of",))
    told = build(SETTING, 1, feedback([], needs))
    assert "at letter A, and make it the second largest of the four" in told
    assert "more are refused: basix." in told
    assert "are wanted: mesh, quadrature." in told
    assert "  - Give the flux of\n" in told


def test_a_prompt_fits_into_one_argument_of_a_program() -> None:
    big = dataclasses.replace(record(1), question="é" * 10_000, options=dict.fromkeys("ABCD", "9" * 5000))
    long = [dataclasses.replace(big, number=number, sentence="s" * 9_000, outcome="rejected") for number in range(40)]
    told = build(SETTING, 1, feedback(long, WISHES))
    assert len(told.encode()) <= MOST_BYTES
    seeds = tuple(candidate(id=f"s{n}", solution="x = 1\n" * 9_000) for n in range(5))
    told = build(dataclasses.replace(SETTING, seeds=seeds), 2, feedback(long, WISHES))
    assert len(told.encode()) <= MOST_BYTES
    assert "at letter C" in told
    told = build(dataclasses.replace(SETTING, guide="é" * 200_000), 1, NOTHING)
    assert len(told.encode()) <= MOST_BYTES


# What strangers write, to be taken for a part of the prompt.
_HOSTILE = st.lists(
    st.sampled_from(
        ["\n## ", "\n\n## Guide\n\n", "\r## ", "\x0b## ", "\x85## ", "\u2028## ", "## ", "x" * 400, "\n", " "]
    )
    | st.text(max_size=20),
    max_size=6,
).map("".join)
_TAGS = st.lists(_HOSTILE, max_size=8).map(tuple)


@given(question=_HOSTILE, option=_HOSTILE, sentence=_HOSTILE, tags=_TAGS, full=_TAGS, wanted=_TAGS, crowded=_TAGS)
def test_whatever_strangers_write_it_is_one_text_and_the_same_again(
    question: str,
    option: str,
    sentence: str,
    tags: tuple[str, ...],
    full: tuple[str, ...],
    wanted: tuple[str, ...],
    crowded: tuple[str, ...],
) -> None:
    record = Record(1, "rejected", "verify", "mismatch", sentence, question, {"A": option}, "A", tags)
    told = feedback([record], Wishes("C", 1, full, wanted, crowded))
    prompt = build(SETTING, 2, told)
    assert prompt == build(SETTING, 2, told)
    assert len(prompt.encode("utf-8", "replace")) <= MOST_BYTES
    # A stranger's lines are drawn together: none begins a section.
    assert [line for line in prompt.splitlines() if line.startswith("## ")] == [
        "## Guide", "## Examples by experts", "## Outcomes so far", "## Failures to avoid", "## What the pool needs",
        "## The newest candidates and what came of them",
    ]  # fmt: skip


def test_a_record_shows_five_tags_at_most_and_the_beginning_of_a_long_one() -> None:
    tags = ("x" * 120_000, "a\nb", *"cdefgh")
    told = feedback([record(1), dataclasses.replace(record(2), tags=tags)], WISHES)
    told = dataclasses.replace(told, wishes=Wishes("C", 1, full=tags[:1], wanted=tags[:2]))
    prompt = build(SETTING, 3, told)
    assert f"  tags {'x' * 40}..., a b, c, d, e; options" in prompt
    assert f"more are refused: {'x' * 40}....\n" in prompt
    assert f"are wanted: {'x' * 40}..., a b.\n" in prompt
    assert "Round 1: accepted" in prompt  # a long one leaves room for the others


def test_the_types_have_no_place_for_an_audit() -> None:
    names = {field.name for kind in (Feedback, Record, Wishes) for field in dataclasses.fields(kind)}
    assert names == {
        *("counts", "newest", "failures", "wishes"),
        *("number", "outcome", "gate", "reason", "sentence", "question", "options", "answer", "tags"),
        *("letter", "rank", "full", "wanted", "crowded"),
    }
