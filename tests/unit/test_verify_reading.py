"""What one finished run of a script says."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.presentation import ORDERS, Presentation
from pytest_toolgate.gates.script_answer import Answer, answer_lines, read_run
from pytest_toolgate.sandbox import GiB, Limits, MiB

from .items import ENDED, F1, candidate

LIMITS = Limits(wall=3.0, memory=GiB, disk=16 * MiB)
# The answer, B, is shown as A.
SHOWN = Presentation(("B", "C", "D", "A"))


def read(
    stdout: bytes = b"ANSWER: 0.060723\n", options: dict[str, str] = F1, how: dict[str, Any] | None = None
) -> Answer:
    finished = dataclasses.replace(ENDED, stdout=stdout, **(how or {}))
    return read_run(finished, LIMITS, candidate(options=options), SHOWN)


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
        pytest.param(
            {"ended": "timeout", "exit_code": None, "wall": 3.06, "cpu": 0.04},
            "timeout",
            ("time limit of 3 s", "after 3.1 s, 0.0 s of it on a processor", "printed before"),
            id="E09",
        ),
        pytest.param(
            {"ended": "timeout", "exit_code": None, "wall": 3.0, "cpu": 0.0, "peak_memory": 0},
            "timeout",
            ("after 3.0 s; an answer",),
            id="ended-from-outside",
        ),
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
        pytest.param(
            {"ended": "memory-limit", "exit_code": 1, "peak_memory": 3 * GiB // 2},
            "memory-limit",
            ("exceeded its memory limit of 1 GiB: it held 1.5 GiB",),
            id="memory",
        ),
        pytest.param(
            {"ended": "memory-limit", "exit_code": 1, "peak_memory": 20 * MiB, "stderr": b"T\nMemoryError\n"},
            "memory-limit",
            ("ran out of memory under its limit of 1 GiB, when it held 20 MiB: MemoryError",),
            id="memory-refused",
        ),
        pytest.param(
            {"ended": "disk-limit", "exit_code": 1, "disk_used": 17 * MiB},
            "disk-limit",
            ("exceeded its disk limit of 16 MiB: it had written 17 MiB",),
            id="disk",
        ),
        pytest.param(
            {"ended": "disk-limit", "exit_code": 1, "disk_used": 5 * MiB, "stderr": b"OSError: [Errno 28] No space\n"},
            "disk-limit",
            ("ran out of disk under its limit of 16 MiB, when it had written 5 MiB: OSError: [Errno 28]",),
            id="disk-refused",
        ),
        pytest.param(
            {"ended": "disk-limit", "exit_code": None, "disk_used": 16 * MiB + 1, "files_made": 20_480},
            "disk-limit",
            ("disk limit of 20000 files: it had made 20480",),
            id="files",
        ),
        pytest.param(
            {"ended": "output-limit", "exit_code": None, "stdout_bytes": 9 * MiB},
            "output-limit",
            ("output limit of 8 MiB: it wrote 9 MiB to stdout",),
            id="output",
        ),
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
        assert read_run(finished, LIMITS, item, shown).matched == "B"


@given(stdout=st.one_of(st.binary(max_size=200), st.text("ANSWER: B0.\n\r").map(str.encode)))
def test_no_output_raises(stdout: bytes) -> None:
    answer = read(stdout)
    assert bool(answer.reason) is bool(answer.sentence)
    assert len(answer_lines(stdout)) == sum(line.startswith(b"ANSWER:") for line in stdout.split(b"\n"))
