"""A line of threads: one at a time at its head, the lowest rank first."""

import threading
import time

import pytest

from pytest_toolgate.sandbox.line import Line, LineTimeout


def stand(line: Line, rank: int, served: list[int], name: int) -> threading.Thread:
    def work() -> None:
        with line.head(rank, 30):
            served.append(name)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(0.05)  # so that they come in this order
    return thread


def test_the_lowest_rank_goes_first_and_among_equals_who_came_first() -> None:
    line = Line()
    served: list[int] = []
    with line.head(0, 1):
        threads = [stand(line, rank, served, name) for name, rank in enumerate([2, 1, 0, 1, 0])]
        assert served == []
    for thread in threads:
        thread.join(30)
    assert served == [2, 4, 1, 3, 0]


def test_only_one_is_at_the_head() -> None:
    line = Line()
    here: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(50):
            with line.head(number % 3, 30):
                here.append(number)
                most.append(len(here))
                here.remove(number)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert (len(most), max(most)) == (400, 1)


@pytest.mark.parametrize("patience", [-1.0, 0.0, 0.2])
def test_who_loses_patience_leaves_the_line_to_the_others(patience: float) -> None:
    line = Line()
    served: list[int] = []
    with line.head(0, 1):
        with pytest.raises(LineTimeout), line.head(0, patience):
            served.append(0)
        other = stand(line, 1, served, 1)
    other.join(30)
    assert served == [1]
    with line.head(5, 0.0):  # nobody is in line any more, so there is no wait
        pass


def test_what_fails_at_the_head_lets_the_next_one_go() -> None:
    line = Line()
    with pytest.raises(ZeroDivisionError), line.head(0, 1):
        raise ZeroDivisionError
    with line.head(0, 1):
        pass


def test_no_patience_is_too_long() -> None:
    with Line().head(0, float("inf")):
        pass
