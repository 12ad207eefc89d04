"""The one file an agent is judged by."""

import itertools
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.gates.answer_file import MAX_BYTES, read_answer, read_answer_file

from .items import F1


@pytest.mark.parametrize(
    ("data", "letter"),
    [
        (b"B", "B"),
        (b"B\n", "B"),
        (b" B \r\n\n", "B"),
        (b"\xef\xbb\xbfB", "B"),
        (b"0.060723\n", "B"),
        (b"$0.060723$", "B"),
    ],
)
def test_a_letter_or_one_options_text(data: bytes, letter: str) -> None:
    answer = read_answer(data, F1, "answer.txt")
    assert (answer.letter, answer.reason) == (letter, "")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "no-answer", id="G11-empty"),
        pytest.param(b" \n", "no-answer", id="G11-space"),
        pytest.param(b"b", "bad-answer-file", id="lower"),
        pytest.param(b"E", "bad-answer-file", id="no-option"),
        pytest.param(b"B C", "bad-answer-file", id="two"),
        pytest.param(b"B\nC\n", "bad-answer-file", id="two-lines"),
        pytest.param(b"ANSWER: B", "bad-answer-file", id="sentence"),
        pytest.param(b"0.0607", "bad-answer-file", id="rounded"),
        pytest.param(b"0.0", "bad-answer-file", id="no-value"),
        pytest.param("B".encode("utf-16"), "bad-answer-file", id="utf-16"),
        pytest.param(b"B" + b" " * MAX_BYTES, "bad-answer-file", id="large"),
    ],
)
def test_anything_else(data: bytes, reason: str) -> None:
    answer = read_answer(data, F1, "answer.txt")
    assert (answer.letter, answer.reason) == (None, reason)
    assert "answer.txt" in answer.sentence


def test_a_text_that_two_options_have_is_no_answer() -> None:
    assert read_answer(b"x", {"A": "x", "B": "x", "C": "y", "D": "z"}, "answer.txt").reason == "bad-answer-file"


def test_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text("C\n")
    assert read_answer_file(tmp_path / "answer.txt", F1).letter == "C"


def test_no_file(tmp_path: Path) -> None:
    assert read_answer_file(tmp_path / "answer.txt", F1).reason == "no-answer"


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("B")
    (tmp_path / "answer.txt").symlink_to("secret")
    (tmp_path / "dangling").symlink_to("missing")
    assert read_answer_file(tmp_path / "answer.txt", F1).reason == "bad-answer-file"
    assert read_answer_file(tmp_path / "dangling", F1).reason == "bad-answer-file"


def test_a_folder_a_pipe_and_a_huge_file_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    before = len(list(Path("/proc/self/fd").iterdir()))
    begun = time.monotonic()
    for name in ("folder", "pipe", "huge", "folder/none"):
        expected = "no-answer" if name == "folder/none" else "bad-answer-file"
        assert read_answer_file(tmp_path / name, F1).reason == expected
    assert time.monotonic() - begun < 5
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@given(data=st.binary(max_size=MAX_BYTES + 5))
def test_no_content_raises(data: bytes) -> None:
    answer = read_answer(data, F1, "answer.txt")
    assert bool(answer.letter) is not bool(answer.reason)


def test_a_file_that_is_replaced_while_it_is_read_is_one_or_the_other(tmp_path: Path) -> None:
    answer, other = tmp_path / "answer.txt", tmp_path / "other"
    over = threading.Event()

    def replace() -> None:
        makers: tuple[Callable[[], object], ...] = (
            lambda: other.write_text("B"),
            lambda: other.symlink_to("/etc/passwd"),
            lambda: os.mkfifo(other),
        )
        for make in itertools.cycle(makers):
            if over.is_set():
                return
            make()
            other.replace(answer)

    answer.write_text("B")
    thread = threading.Thread(target=replace)
    thread.start()
    seen = {(read.letter, read.reason) for read in (read_answer_file(answer, F1) for _ in range(5000))}
    over.set()
    thread.join()
    assert ("B", "") in seen
    assert seen <= {("B", ""), (None, "bad-answer-file")}
