"""What Codex says of its turn, and what is kept of it."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.agents.codex import read
from pytest_toolgate.agents.external import check_tier
from pytest_toolgate.agents.protocol import AgentError, Task
from pytest_toolgate.agents.transcript import bounded
from pytest_toolgate.config import SolveSettings, Tier
from pytest_toolgate.providers import Tokens

USAGE = {"input_tokens": 200, "cached_input_tokens": 40, "output_tokens": 20, "reasoning_output_tokens": 8}
COMPLETED = {"type": "turn.completed", "usage": USAGE}
FAILED = {"type": "turn.failed", "error": {"message": "stream\n disconnected"}}
ERROR = {"type": "error", "message": "Reconnecting"}
SAYS = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
RUNS = {
    "type": "item.completed",
    "item": {"type": "command_execution", "command": "ls", "aggregated_output": "x" * 9000, "exit_code": 2},
}


def lines(*events: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@pytest.mark.parametrize(
    ("events", "whole", "failure"),
    [
        ([SAYS, COMPLETED], True, ""),
        ([SAYS, FAILED], True, "stream disconnected"),
        ([ERROR, SAYS, COMPLETED], True, ""),  # it has found another way
        ([SAYS, ERROR], False, "Reconnecting"),
        ([SAYS], False, ""),
        ([], False, ""),
    ],
)
def test_how_it_fared_is_read_from_its_events(events: list[Mapping[str, Any]], whole: bool, failure: str) -> None:
    story = read(lines(*events), b"")
    assert (story.whole, story.failure) == (whole, failure)
    assert story.tokens == (Tokens(200, 40, 20, 8) if COMPLETED in events else None)


def test_a_turn_without_a_count_leaves_it_to_ours() -> None:
    assert read(lines({"type": "turn.completed"}), b"").tokens is None
    assert read(lines({"type": "turn.completed", "usage": {"input_tokens": "9"}}), b"").tokens is None


def test_its_commands_are_kept_and_cut() -> None:
    command, said = read(lines(RUNS, SAYS), b"").transcript
    assert (command["role"], command["script"], command["exit_code"]) == ("command", "ls", 2)
    assert len(command["stdout"]) == 4000
    assert said == {"role": "assistant", "text": "Done."}


def test_a_line_that_was_cut_is_left_out() -> None:
    assert len(read(lines(SAYS) + lines(RUNS)[:-20], b"").transcript) == 1


ITEMS = st.dictionaries(
    st.sampled_from(("type", "item", "usage", "error", "message", "command", "exit_code", "text")),
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(("item.completed", "turn.completed", "error"))
    | st.dictionaries(st.sampled_from(("type", "message", "input_tokens")), st.text(max_size=5) | st.integers()),
    max_size=4,
)  # fmt: skip


@given(st.binary(max_size=200) | st.lists(ITEMS, max_size=4).map(lambda events: lines(*events)))
def test_whatever_it_prints_can_be_read(stdout: bytes) -> None:
    json.dumps(read(stdout, b"").transcript)


def test_a_transcript_has_a_largest_size() -> None:
    few = [{"role": "command", "stdout": "x"}] * 10
    assert bounded(few) == tuple(few)
    many = [{"role": "command", "number": number, "stdout": "x" * 4000} for number in range(5000)]
    kept = bounded(many)
    assert len(json.dumps(kept)) < 3 * 1024**2
    assert (kept[0], kept[-1]) == (many[0], many[-1])
    [cut] = [entry for entry in kept if entry["role"] == "cut"]
    assert cut["text"] == f"{len(many) - len(kept) + 1} entries are left out here"
    assert bounded([{"role": "assistant", "text": "x" * 10**7}])[0]["role"] == "cut"


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_programs_of_others_are_for_one_tier(tier: Tier) -> None:
    needed = [field.name for field in dataclasses.fields(Task) if field.default is dataclasses.MISSING]
    given: dict[str, Any] = {**dict.fromkeys(needed), "settings": SolveSettings(agent="codex"), "tier": tier}
    task = Task(**given)
    with pytest.raises(AgentError, match=f"needs `sandbox: bubblewrap`.*this run has `sandbox: {tier}`") as refusal:
        check_tier(task)
    assert refusal.value.reason == "sandbox"
