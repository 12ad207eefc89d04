"""One provider is asked no faster than it allows, whoever asks: threads and processes share one line."""

import json
import multiprocessing
import threading
import time
from itertools import combinations
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.providers.pace import Pace

# Every process is started afresh, as xdist's workers are.
START = multiprocessing.get_context("spawn")
# Of lines without waiting: what the calls themselves may take on a busy machine, beside turns minutes apart.
ABOUT = 5.0
# Of requests that travel: how late one may be, so that the next one seems early.
JITTER = 0.09


def start_many(path: Path, rpm: int, threads: int, each: int, starts: "Queue[list[tuple[float, float]]]") -> None:
    """One process: every thread takes its turns; what comes back are starts and how late each was."""
    pace = Pace(path, rpm)
    mine: list[tuple[float, float]] = []

    def work() -> None:
        for _ in range(each):
            before = time.monotonic()
            turn = before + pace.reserve(1)
            time.sleep(max(0.0, turn - time.monotonic()))
            begun = time.monotonic()
            mine.append((begun, begun - turn))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    starts.put(mine)


def reserve_many(path: Path, count: int) -> None:
    """One process that changes the state as fast as it can, by numbers of every length."""
    pace = Pace(path, 10**9, 10**9)
    for number in range(count):
        pace.reserve(10 ** (number % 13))
        pace.settle(10 ** (number % 13), 10 ** (number * 7 % 13))


def kept(path: Path) -> list[float]:
    """The state, read as strictly as JSON is."""
    moments: list[float] = json.loads(path.read_text("ascii"))
    return moments


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pace-lab.json"


# --- requests -----------------------------------------------------------------------------------------------


def test_starts_are_spaced_over_processes_and_threads(path: Path) -> None:
    rpm, each, threads, processes = 1200, 4, 3, 3
    apart = 60 / rpm
    starts: Queue[list[tuple[float, float]]] = START.Queue()
    workers = [START.Process(target=start_many, args=(path, rpm, threads, each, starts)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    found = sorted(start for _ in workers for start in starts.get(timeout=60))
    for worker in workers:
        worker.join(60)
    assert len(found) == each * threads * processes
    # A thread that wakes late is as late for the next one; no other closeness is excused.
    late = max(lateness for _, lateness in found)
    for (i, (earlier, _)), (j, (later, _)) in combinations(enumerate(found), 2):
        assert later - earlier >= (j - i) * apart - late - 0.001


def test_turns_are_exactly_one_interval_apart(path: Path) -> None:
    pace = Pace(path, requests_per_minute=1)
    before = time.monotonic()
    waits = [pace.reserve(0) for _ in range(5)]
    took = time.monotonic() - before
    assert waits[0] == 0
    assert waits == pytest.approx([0, 60, 120, 180, 240], abs=took + 0.001)


def test_a_pause_saves_up_nothing(path: Path) -> None:
    """A burst after a quiet minute is what evenly spaced requests are to prevent."""
    pace = Pace(path, requests_per_minute=240)
    pace.reserve(0)
    time.sleep(0.6)
    assert pace.reserve(0) == 0
    assert pace.reserve(0) > 0.15


def test_without_limits_nobody_waits(path: Path) -> None:
    pace = Pace(path)
    assert [pace.reserve(10**6) for _ in range(100)] == [0] * 100


def test_providers_with_files_of_their_own_do_not_wait_for_each_other(tmp_path: Path) -> None:
    slow, other = Pace(tmp_path / "slow.json", 1, 1), Pace(tmp_path / "other.json", 1, 1)
    slow.reserve(1000)
    slow.hold(1000)
    assert other.reserve(1) == 0


# --- tokens -------------------------------------------------------------------------------------------------


def test_tokens_are_worked_off_before_the_next_request(path: Path) -> None:
    """60 tokens a minute are one a second."""
    pace = Pace(path, tokens_per_minute=60)
    assert pace.reserve(100) == 0
    assert pace.reserve(500) == pytest.approx(100, abs=ABOUT)
    assert pace.reserve(1) == pytest.approx(600, abs=ABOUT)


@pytest.mark.parametrize(("used", "wait"), [(10, 10), (100, 100), (5000, 5000), (0, 0)])
def test_what_was_used_counts_and_not_what_was_thought(path: Path, used: int, wait: float) -> None:
    pace = Pace(path, tokens_per_minute=60)
    pace.reserve(100)
    Pace(path, tokens_per_minute=60).settle(100, used)  # as another process would
    assert pace.reserve(1) == pytest.approx(wait, abs=ABOUT)


def test_settling_moves_those_who_come_after_and_nobody_else(path: Path) -> None:
    pace = Pace(path, tokens_per_minute=60)
    pace.reserve(100)
    pace.reserve(100)
    pace.settle(100, 400)
    assert pace.reserve(1) == pytest.approx(500, abs=ABOUT)


def test_a_reply_whose_tokens_nobody_knows_keeps_its_reservation(path: Path) -> None:
    pace = Pace(path, tokens_per_minute=60)
    pace.reserve(100)
    assert pace.reserve(1) == pytest.approx(100, abs=ABOUT)


def test_the_mean_rate_is_the_configured_one(path: Path) -> None:
    """Estimates that are always wrong, each corrected at once: the line moves by what was used."""
    pace = Pace(path, tokens_per_minute=60)
    waits = []
    for used in (300, 20, 700, 90) * 5:
        waits.append(pace.reserve(200))
        pace.settle(200, used)
    assert waits[-1] == pytest.approx(5 * (300 + 20 + 700 + 90) - 90, abs=ABOUT)


def test_tokens_and_requests_both_limit(path: Path) -> None:
    pace = Pace(path, requests_per_minute=1, tokens_per_minute=60)
    pace.reserve(10)
    assert pace.reserve(1000) == pytest.approx(60, abs=ABOUT)
    assert pace.reserve(10) == pytest.approx(1060, abs=ABOUT)


# --- patience that a server has asked for -------------------------------------------------------------------


def test_nobody_asks_earlier_than_told(path: Path) -> None:
    told, other = Pace(path), Pace(path)
    told.hold(100)
    assert other.reserve(1) == pytest.approx(100, abs=ABOUT)
    assert other.reserve(1) == pytest.approx(100, abs=ABOUT)


def test_a_shorter_patience_does_not_end_a_longer_one(path: Path) -> None:
    pace = Pace(path)
    pace.hold(100)
    pace.hold(1)
    pace.hold(0)
    assert pace.reserve(1) == pytest.approx(100, abs=ABOUT)
    pace.hold(200)
    assert pace.reserve(1) == pytest.approx(200, abs=ABOUT)


def test_after_the_patience_the_line_is_spaced_again(path: Path) -> None:
    """All who waited must not ask at once: that is what the server had complained of."""
    pace = Pace(path, requests_per_minute=6)
    pace.hold(100)
    assert [pace.reserve(1) for _ in range(3)] == pytest.approx([100, 110, 120], abs=ABOUT)


def test_patience_that_is_over_is_forgotten(path: Path) -> None:
    pace = Pace(path)
    pace.hold(0.05)
    time.sleep(0.1)
    assert pace.reserve(1) == 0


# --- the file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("huge", [10**9, 10**15, 10**18])
def test_the_file_is_clean_whatever_lengths(path: Path, huge: int) -> None:
    """A shorter state never leaves the end of a longer one behind."""
    pace = Pace(path, 10**9, 1)
    pace.reserve(huge)
    pace.settle(huge, 1)
    assert len(kept(path)) == 3
    # Such a moment is known to a few parts in 10**16.
    assert pace.reserve(1) == pytest.approx(60, abs=ABOUT + 60 * huge * 1e-15)
    assert len(kept(path)) == 3


def test_many_processes_leave_one_clean_state(path: Path) -> None:
    workers = [START.Process(target=reserve_many, args=(path, 500)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(kept(path)) == 3


def test_a_process_killed_over_the_file_holds_up_nobody(path: Path) -> None:
    worker = START.Process(target=reserve_many, args=(path, 10**9))
    worker.start()
    give_up = time.monotonic() + 30
    while not path.exists() and time.monotonic() < give_up:
        time.sleep(0.01)
    time.sleep(0.1)
    worker.kill()
    worker.join(60)
    answered: list[Any] = []
    asking = threading.Thread(target=lambda: answered.append(Pace(path).reserve(1)), daemon=True)
    asking.start()
    asking.join(20)
    assert len(answered) == 1


def test_the_file_is_for_its_owner_alone_and_no_link_is_followed(tmp_path: Path) -> None:
    Pace(tmp_path / "own.json").reserve(1)
    assert (tmp_path / "own.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"link\.json"):
        Pace(tmp_path / "link.json").reserve(1)
    assert not (tmp_path / "elsewhere").exists()
