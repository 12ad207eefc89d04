"""What agents' programs print is a stranger's: however much it is, little of it is kept."""

import json

import pytest

from pytest_toolgate.agents import claude, codex, mini
from pytest_toolgate.agents.events import events

MiB = 1024**2


def test_objects_are_read_and_other_lines_left_out() -> None:
    assert list(events(b'{"a": 1}\r\nwords\n[1]\n\n{"b": 2}')) == [{"a": 1}, {"b": 2}]


def test_a_line_has_a_longest_size() -> None:
    long = json.dumps({"text": "x" * 5 * MiB}).encode()
    assert list(events(long + b'\n{"b": 2}\n')) == [{"b": 2}]


@pytest.mark.parametrize("agent", [claude, codex, mini])
@pytest.mark.parametrize(
    "event",
    [
        b"{}",
        b'{"type": "item.completed"}',
        b'{"commands": [' + b"{}," * 99 + b"{}]}",
        b'{"type": "assistant", "message": {"content": [' + b"{}," * 99 + b"{}]}}",
    ],
    ids=["empty", "item", "commands", "blocks"],
)
def test_a_flood_of_them_is_cut(agent: object, event: bytes) -> None:
    read = agent.read  # type: ignore[attr-defined]
    few = read((event + b"\n") * 100, b"").transcript
    assert len(few) <= 1600
    assert all(len(json.dumps(entry)) < 500 for entry in few)
    many = read((event + b"\n") * 20_000, b"").transcript
    assert len(many) == 100 * len(few)
