"""The lines below a verdict: figures and last words, whatever a script prints. And when a timeout is no verdict."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.gates.evidence import evidence, size
from pytest_toolgate.gates.script_run import starved
from pytest_toolgate.sandbox import GiB, KiB, MiB

from .items import ENDED

HEADING = "run 1 of 2, hash seed 0, 1 thread, in /sandbox/work"


def lines(answers: list[str] | None = None, **how: object) -> list[str]:
    return evidence(HEADING, dataclasses.replace(ENDED, **how), answers or []).split("\n")  # type: ignore[arg-type]


def test_figures_and_the_last_lines_of_both_streams() -> None:
    assert lines(
        ["0.5"],
        stdout=b"Info\n\nANSWER: 0.5\n",
        stdout_bytes=17,
        stderr=b"Traceback\r\nValueError: x",
        stderr_bytes=3 * MiB,
        wall=3.004,
        cpu=2.5,
        disk_used=20 * KiB,
    ) == [
        f"{HEADING}: it answered `0.5`",
        "  3.00 s of wall time, 2.50 s of CPU time, 10 MiB of memory, 20 KiB on disk, "
        "17 bytes of stdout, 3 MiB of stderr",
        "  last lines of stdout:",
        "    Info",
        "    ANSWER: 0.5",
        "  last lines of stderr:",
        "    Traceback",
        "    ValueError: x",
    ]


def test_a_script_that_printed_nothing() -> None:
    first, *rest = lines()
    assert first == f"{HEADING}: it printed no answer"
    assert len(rest) == 1


def test_several_answers_are_counted() -> None:
    assert lines(["1", "2"])[0].endswith(": it printed 2 answers")


def test_figures_that_nobody_could_take_are_not_made_up() -> None:
    assert "CPU" not in lines(peak_memory=0, cpu=0.0)[1]
    assert "not known" in lines(peak_memory=0, cpu=0.0)[1]


@given(output=st.one_of(st.binary(max_size=4000), st.text(max_size=4000).map(lambda text: text.encode("utf-8"))))
def test_whatever_is_printed_it_stays_small_and_in_its_place(output: bytes) -> None:
    shown = lines(stdout=output * 20, stderr=output)[2:]
    assert len(shown) <= 22
    assert all(len(line) <= 204 for line in shown)
    # No line of a script can be taken for one of ours.
    assert all(
        line.startswith("    ") or line in ("  last lines of stdout:", "  last lines of stderr:") for line in shown
    )
    assert all(len(line.splitlines()) == 1 for line in shown)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (KiB, "1 KiB"),
        (1536, "1.5 KiB"),
        (256 * MiB, "256 MiB"),
        (4 * GiB, "4 GiB"),
    ],
)
def test_sizes_are_words(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("ended", "wall", "cpu", "threads", "held_up"),
    [
        pytest.param("timeout", 10.0, 0.1, 1, True, id="asleep-or-held-up"),
        pytest.param("timeout", 10.0, 7.9, 1, True, id="most-of-a-core"),
        pytest.param("timeout", 10.0, 8.1, 1, False, id="a-core-of-its-own"),
        pytest.param("timeout", 10.0, 20.0, 1, False, id="more-than-its-core"),
        pytest.param("timeout", 10.0, 10.0, 2, True, id="two-threads-that-shared-a-core"),
        pytest.param("timeout", 10.0, 16.5, 2, False, id="two-threads-on-two-cores"),
        pytest.param("timeout", 10.0, 0.0, 1, True, id="not-measured"),
        pytest.param("exited", 10.0, 0.1, 1, False, id="slow-and-done"),
        pytest.param("memory-limit", 10.0, 0.1, 1, False, id="another-limit"),
    ],
)
def test_a_timeout_without_its_share_of_a_processor_is_no_verdict(
    ended: str, wall: float, cpu: float, threads: int, held_up: bool
) -> None:
    finished = dataclasses.replace(ENDED, ended=ended, wall=wall, cpu=cpu)  # type: ignore[arg-type]
    assert starved(finished, threads) is held_up
