"""Several waits at once."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from pytest_toolgate.gates.together import together


def after(event: threading.Event, result: str) -> str:
    """Something that can only end when another has."""
    assert event.wait(20)
    return result


def raising(problem: BaseException, event: threading.Event | None = None) -> str:
    """Something that fails, perhaps not before an event."""
    assert event is None or event.wait(20)
    raise problem


def test_results_come_in_the_order_of_the_tasks_and_not_of_their_ends() -> None:
    last = threading.Event()

    def finish() -> str:
        last.set()
        return "last"

    tasks: list[Callable[[], str]] = [partial(after, last, "first"), partial(after, last, "second"), finish]
    assert together(tasks) == ["first", "second", "last"]


@pytest.mark.parametrize("count", [2, 3, 8, 64])
def test_all_are_under_way_at_the_same_time(count: int) -> None:
    meeting = threading.Barrier(count)
    assert sorted(together([partial(meeting.wait, 20)] * count)) == list(range(count))


def test_one_task_needs_no_thread() -> None:
    assert together([threading.get_ident]) == [threading.get_ident()]


def test_nothing_to_do_is_done() -> None:
    assert together([]) == []


def test_a_result_may_be_anything() -> None:
    nothing: list[Callable[[], object]] = [lambda: None, lambda: False, lambda: []]
    assert together(nothing) == [None, False, []]


def test_a_failure_is_raised_once_all_have_ended() -> None:
    """The replies of the others have been paid for, and are recorded before anybody hears of the failure."""
    ended: list[int] = []
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ValueError("no")

    def record(number: int) -> None:
        assert failed.wait(20)
        time.sleep(0.05)
        ended.append(number)

    tasks: list[Callable[[], None]] = [partial(record, 1), fail, partial(record, 2)]
    with pytest.raises(ValueError, match=r"^no$"):
        together(tasks)
    assert sorted(ended) == [1, 2]


def test_the_first_failure_is_the_one_that_is_raised() -> None:
    first = threading.Event()

    def fail_first() -> str:
        first.set()
        raise ValueError("first")

    def fail_later() -> str:
        assert first.wait(20)
        time.sleep(0.05)
        raise TypeError("later")

    with pytest.raises(ValueError, match="first"):
        together([fail_later, fail_first, fail_later])


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), SystemExit(3), OSError("no"), AssertionError("no")])
@pytest.mark.parametrize("count", [1, 3])
def test_whatever_is_raised_reaches_the_one_who_waits(problem: BaseException, count: int) -> None:
    with pytest.raises(type(problem)):
        together([partial(raising, problem)] * count)


def test_tasks_may_do_things_together_themselves() -> None:
    inner = partial(together, [lambda: 1, lambda: 2])
    assert together([inner, inner]) == [[1, 2], [1, 2]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_process_does_not_wait_for_what_is_under_way(number: int) -> None:
    code = """
        import signal, sys, time
        from pytest_toolgate.gates.together import together

        def interrupt(*_):
            raise KeyboardInterrupt

        def wait():
            time.sleep(600)

        def tell():
            print("waiting", flush=True)
            time.sleep(600)

        signal.signal(signal.SIGTERM, interrupt)
        signal.signal(signal.SIGINT, interrupt)
        try:
            together([wait, tell])
        except KeyboardInterrupt:
            sys.exit(7)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            time.sleep(0.1)
            os.kill(process.pid, number)
            assert process.wait(20) == 7
        finally:
            process.kill()
