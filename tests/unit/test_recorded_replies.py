"""Replies that are read again in several processes."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from pytest_toolgate.evidence import recorded_replies, verify_database
from pytest_toolgate.evidence.material import GONE
from pytest_toolgate.store import Store, StoreError

REPLY = {
    **dict.fromkeys(
        ("attempt_id", "run_id", "reuse_key", "screen", "provider", "base_url", "model_asked", "note"), "x"
    ),
    **dict.fromkeys(("call_index", "seed", "requests", "latency"), 0),
    "settings": {},
    "presentation": "ABCD",
    "status": "answered",
    "text": "ANSWER: A",
}


def killed(path: Path, count: int, after: int) -> None:
    """What becomes of a process when the machine has no memory left."""
    os.kill(os.getpid(), 9)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of which every reply is read by another process."""
    with closing(Store(tmp_path / "some.db")) as store:
        store.append_all([("replies", REPLY), ("replies", REPLY)])
    monkeypatch.setattr(recorded_replies, "_AT_ONCE", 1)
    return tmp_path / "some.db"


def test_a_process_that_is_killed_is_said_in_a_sentence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_replies, "_part", killed)
    with pytest.raises(StoreError, match="could not be read again: a process that read them was killed"):
        verify_database(path)


def test_several_processes_find_what_one_finds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = verify_database(path)
    monkeypatch.setattr(recorded_replies, "_AT_ONCE", 2)
    assert several == verify_database(path)
    assert several.unknown == {GONE: 2}
