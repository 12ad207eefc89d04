"""What one finished run of a script says."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.presentation import ORDERS, Presentation
from pytest_toolgate.gates.verify import Answer, answer_lines, read_run
from pytest_toolgate.sandbox import Finished

from .items import F1, candidate

ENDED = Finished(
    ended="exited", exit_code=0, signal=None, stdout=b"", stderr=b"", stderr_cut=False, wall=1.0, cpu=1.0,
    peak_memory=0, disk_used=0, used=("scipy",),
)  # fmt: skip
# The answer, B, is shown as A.
SHOWN = Presentation(("B", "C", "D", "A"))


def read(
    stdout: bytes = b"ANSWER: 0.060723\n", options: dict[str, str] = F1, how: dict[str, Any] | None = None
) -> Answer:
    finished = dataclasses.replace(ENDED, stdout=stdout, **(how or {}))
    return read_run(finished, candidate(options=options), SHOWN)


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param(b"ANSWER: 0.060723\n", id="value"),
        pytest.param(b"ANSWER: 0.06072312\n", id="rounds"),
        pytest.param(b"ANSWER: A\n", id="letter-as-shown"),
        pytest.param(b"ANSWER:A", id="no-space-no-newline"),
        pytest.param(b"noise\nANSWER: A\nnoise\n", id="E01"),
        pytest.param(b"ANSWER: A\r\n", id="E27"),
        pytest.param(b"Info\rANSWER\nANSWER: A\n ANSWER: B\n# ANSWER: C\nanswer: D\n", id="only-column-0-in-capitals"),
        pytest.param(b"\xff\xfe\n\x00\nANSWER: A\n", id="other-bytes"),
        pytest.param(b"x\x0cANSWER: C\x0bANSWER: D\nANSWER: A\n", id="only-LF-ends-a-line"),
    ],
)
def test_a_match(stdout: bytes) -> None:
    answer = read(stdout)
    assert (answer.reason, answer.matched) == ("", "B")


@pytest.mark.parametrize(
    ("stdout", "reason", "word"),
    [
        pytest.param(b"", "no-answer", "no line", id="nothing"),
        pytest.param(b"Info : DoneANSWER: B\n", "no-answer", "`Info : DoneANSWER: B`", id="E01"),
        pytest.param(b"Answer: A\n", "no-answer", "`Answer: A`", id="case"),
        pytest.param(b" ANSWER: A\n", "no-answer", "`ANSWER: A`", id="indent"),
        pytest.param(b"x\rANSWER: A\n", "no-answer", "ANSWER", id="carriage-return"),
        pytest.param(b"\xef\xbb\xbfANSWER: A\n", "no-answer", "ANSWER", id="byte-order-mark"),
        pytest.param(b"ANSWER: A\nANSWER: A\n", "many-answers", "print on rank 0", id="E07-same"),
        pytest.param(b"ANSWER: A\nANSWER: B\n", "many-answers", "2 answers", id="E07-other"),
        pytest.param(b"ANSWER: A\nANSWER:\n", "many-answers", "2 answers", id="E07-empty-counts"),
        pytest.param(b"ANSWER:\n", "unreadable", "empty", id="empty"),
        pytest.param(b"ANSWER: \xff\n", "unreadable", "neither", id="other-bytes"),
        pytest.param(b"ANSWER: (np.float64(0.060723),)\n", "unreadable", "format the number", id="E05"),
        pytest.param(b"ANSWER: nan\n", "unreadable", "not finite", id="C13-nan"),
        pytest.param(b"ANSWER: None\n", "unreadable", "neither", id="C13-none"),
        pytest.param(b"ANSWER: b\n", "unreadable", "neither", id="lower"),
        pytest.param(b"ANSWER: 0.5\n", "mismatch", "nearest", id="C05"),
        pytest.param(b"ANSWER: 0.060074\n", "mismatch", "is option C `0.060074`", id="another-option"),
        pytest.param(b"ANSWER: B\n", "mismatch", "re-lettered", id="memorised-letter"),
    ],
)
def test_no_match(stdout: bytes, reason: str, word: str) -> None:
    answer = read(stdout)
    assert answer.reason == reason
    assert word in answer.sentence


def test_a_value_that_fits_two() -> None:
    assert read(b"ANSWER: 0.06071\n", {"A": "0.06", "B": "0.0607", "C": "1", "D": "2"}).reason == "ambiguous"


def test_a_wrong_word_among_text_options() -> None:
    assert read(b"ANSWER: cone\n", {"A": "cube", "B": "ball", "C": "disc", "D": "line"}).reason == "mismatch"


@pytest.mark.parametrize(
    ("how", "reason", "words"),
    [
        pytest.param({"ended": "timeout", "exit_code": None}, "timeout", ("time limit", "printed before"), id="E09"),
        pytest.param(
            {"exit_code": 1, "stderr": b"T\nValueError: x\n"},
            "exit-status",
            ("1: ValueError: x", "before"),
            id="E03",
        ),
        pytest.param({"exit_code": 1}, "exit-status", ("status 1",), id="E13"),
        pytest.param(
            {"ended": "killed", "exit_code": None, "signal": 11},
            "killed",
            ("signal 11", "before"),
            id="E03-signal",
        ),
        pytest.param({"ended": "memory-limit", "exit_code": 1}, "memory-limit", ("memory limit",), id="memory"),
        pytest.param({"ended": "disk-limit", "exit_code": 1}, "disk-limit", ("disk limit",), id="disk"),
        pytest.param({"ended": "output-limit", "exit_code": None}, "output-limit", ("output limit",), id="output"),
    ],
)
def test_how_it_ended_comes_before_what_it_printed(how: dict[str, Any], reason: str, words: tuple[str, ...]) -> None:
    answer = read(how=how)
    assert (answer.reason, answer.matched) == (reason, None)
    for word in words:
        assert word in answer.sentence


def test_a_traceback_with_exit_status_0_is_a_match() -> None:
    """E13."""
    assert read(how={"stderr": b"Traceback (most recent call last):\nValueError\n"}).reason == ""


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_a_letter_is_read_as_shown_and_a_value_as_itself(order: tuple[str, ...]) -> None:
    shown, item = Presentation(order), candidate()
    for printed in ("ABCD"[order.index("B")], "0.060723"):
        finished = dataclasses.replace(ENDED, stdout=f"ANSWER: {printed}\n".encode())
        assert read_run(finished, item, shown).matched == "B"


@given(stdout=st.one_of(st.binary(max_size=200), st.text("ANSWER: B0.\n\r").map(str.encode)))
def test_no_output_raises(stdout: bytes) -> None:
    answer = read(stdout)
    assert bool(answer.reason) is bool(answer.sentence)
    assert len(answer_lines(stdout)) == sum(line.startswith(b"ANSWER:") for line in stdout.split(b"\n"))
