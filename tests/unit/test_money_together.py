"""Calls at the same time keep one budget, in all threads and processes of a run."""

import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

import pytest

from pytest_toolgate.gates import GateResult, Workbench
from pytest_toolgate.gates.money import Admission, paying
from pytest_toolgate.store.spending import spent

from .benches import LIGHT, USD, Make, capped, record

# Every process is started afresh, as xdist's workers are.
START = multiprocessing.get_context("spawn")


class Calls:
    """Calls in threads, each under way until it is told to end.

    Attributes:
        begun: Attempts whose calls are or were under way, in order.
        refused: What became of the others.
        most: The largest number under way at once.
    """

    def __init__(self, own: Workbench, usd: float = USD) -> None:
        self.own = own
        self.usd = usd
        self.begun: list[str] = []
        self.refused: list[GateResult] = []
        self.most = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._ends = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []

    def begin(self, *attempts: str) -> None:
        """Begin a call for each; it may have to wait."""
        for attempt in attempts:
            self._threads.append(threading.Thread(target=self._call, args=(attempt,), daemon=True))
            self._threads[-1].start()

    def end(self, count: int = 1) -> None:
        """Let so many calls end, now or once they are under way."""
        self._ends.release(count)

    def join(self) -> None:
        """Wait until all have ended."""
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), "a call is never let through"

    def _call(self, attempt: str) -> None:
        with paying(self.own, attempt, LIGHT) as stop:
            if stop is not None:
                self.refused.append(stop)
                return
            with self._lock:
                self.begun.append(attempt)
                self._under_way += 1
                self.most = max(self.most, self._under_way)
            self._ends.acquire()
            record(self.own, attempt, self.usd)
            with self._lock:
                self._under_way -= 1


def settled(condition: Callable[[], bool]) -> bool:
    """Whether something happens within a while, and is still so a little later."""
    give_up = time.monotonic() + 10
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(0.3)
    return condition()


def admit(own: Workbench, attempt: str = "a") -> Admission:
    """A call under way."""
    entry = Admission(own, attempt, LIGHT)
    assert entry.admit() is None
    return entry


def test_the_first_call_of_a_model_goes_alone(make: Make) -> None:
    """Nobody knows yet what one costs."""
    calls = Calls(make(usd=100))
    calls.begin(*"abcdefgh")
    assert settled(lambda: len(calls.begun) == 1)
    calls.end()
    assert settled(lambda: len(calls.begun) == 8)
    calls.end(7)
    calls.join()
    assert calls.most == 7


def test_they_go_together_while_there_is_money_enough_and_then_one_by_one(make: Make) -> None:
    own = make(usd=16)
    record(own)
    calls = Calls(own)
    calls.begin(*"abcdefgh")
    assert settled(lambda: len(calls.begun) >= 3)
    together = len(calls.begun)
    assert together < 8
    calls.end(8)
    calls.join()
    record(own, usd=16 - 9 * USD - 3 * USD)
    calls = Calls(own)
    calls.begin(*"abcdefgh")
    calls.end(8)
    calls.join()
    assert (calls.most, len(calls.begun)) == (1, 3)
    assert spent(own.store, "run").usd == 16.0
    assert [stop.sentence for stop in calls.refused] == ["the run has spent its budget of 16 USD"] * 5


def test_a_call_that_is_begun_below_the_cap_may_pass_it_and_no_second_one_does(make: Make) -> None:
    own = make(usd=0.9)
    record(own)
    calls = Calls(own)
    calls.begin(*"abcdefgh")
    calls.end(8)
    calls.join()
    assert spent(own.store, "run").usd == 1.0


def test_a_call_that_cost_less_than_thought_leaves_its_money_to_the_others(make: Make) -> None:
    own = make(usd=1)
    record(own, usd=0.5)
    calls = Calls(own, usd=0.125)
    calls.begin(*"abcdef")
    calls.end(6)
    calls.join()
    assert len(calls.begun) == 4
    assert spent(own.store, "run").usd == 1.0


@pytest.mark.parametrize("cap", [1.0, 8.0])
def test_calls_that_are_dearer_than_any_before_do_not_pass_the_cap_together(make: Make, cap: float) -> None:
    """Replies vary by a factor of ten, and nobody has seen a long one yet."""
    own = make(usd=cap)
    record(own, usd=0.0625)
    calls = Calls(own, usd=0.75)
    calls.begin(*(f"a{number}" for number in range(60)))
    calls.end(60)
    calls.join()
    assert cap <= spent(own.store, "run").usd <= cap + 0.75


def test_candidates_do_not_wait_for_each_others_money(make: Make) -> None:
    own = make(per_candidate=0.5)
    record(own, "old")
    calls = Calls(own)
    calls.begin(*"aaabbbccc")
    assert settled(lambda: sorted(calls.begun) == list("abc"))
    calls.end(9)
    calls.join()
    assert {attempt: spent(own.store, "run", attempt).usd for attempt in "abc"} == {"a": 0.5, "b": 0.5, "c": 0.5}
    assert [stop.sentence for stop in calls.refused] == ["the candidate has spent its budget of 0.5 USD"] * 3


def test_both_caps_hold_at_once(make: Make) -> None:
    own = make(usd=1.25, per_candidate=0.5)
    record(own, "old")
    calls = Calls(own)
    calls.begin(*"aaaabbbbcccc")
    calls.end(12)
    calls.join()
    assert spent(own.store, "run").usd == 1.25
    assert all(spent(own.store, "run", attempt).usd <= 0.5 for attempt in "abc")


def test_what_fails_inside_gives_its_money_back(make: Make) -> None:
    own = make(usd=100)
    record(own)
    for _ in range(9):
        with pytest.raises(ZeroDivisionError), paying(own, "a", LIGHT):
            raise ZeroDivisionError
    assert list((own.run.directory / "under-way").glob("*.json")) == []
    calls = Calls(own)
    calls.begin("a", "b", "c")
    assert settled(lambda: len(calls.begun) == 3)
    calls.end(3)
    calls.join()


def test_who_waits_hears_that_paid_work_was_stopped(make: Make) -> None:
    own = make(usd=1)
    entry = admit(own)
    calls = Calls(own)
    calls.begin("b")
    own.stop_paid_work("the account is empty")
    calls.join()
    assert [stop.reason for stop in calls.refused] == ["not-run"]
    entry.release()


def test_a_call_that_is_over_may_be_ended_again(make: Make) -> None:
    own = make(usd=1)
    entry = admit(own)
    entry.release()
    entry.release()
    assert entry.admit() is None
    entry.release()


# --- several processes --------------------------------------------------------------------------------------


def pay_many(directory: Path, usd: float, ready: Barrier, number: int) -> None:
    """One process of the run, with four threads that pay for as many calls as they are let."""
    own = capped(directory, usd)

    def work(thread: int) -> None:
        while True:
            with paying(own, f"{number}-{thread}", LIGHT) as stop:
                if stop is not None:
                    return
                time.sleep(0.02)
                record(own, f"{number}-{thread}", 0.0625)

    ready.wait(60)
    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own.store.close()


def test_processes_keep_one_budget(tmp_path: Path) -> None:
    """All of it is used, and passed by less than one call."""
    own = capped(tmp_path, 2.03)
    ready = START.Barrier(3)
    workers = [START.Process(target=pay_many, args=(tmp_path, 2.03, ready, number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert spent(own.store, "run").usd == 33 * 0.0625
    assert list((own.run.directory / "under-way").glob("*.json")) == []
    own.store.close()


def hold(directory: Path, under_way: Event) -> None:
    """A process in the middle of a call."""
    entry = admit(capped(directory, 1))
    under_way.set()
    time.sleep(600)
    entry.release()


def test_a_killed_process_holds_up_nobody(tmp_path: Path) -> None:
    own = capped(tmp_path, 1)
    under_way = START.Event()
    other = START.Process(target=hold, args=(tmp_path, under_way))
    other.start()
    assert under_way.wait(60)
    calls = Calls(own)
    calls.begin("b")
    assert settled(lambda: not calls.begun)
    other.kill()
    other.join(60)
    assert settled(lambda: calls.begun == ["b"])
    calls.end()
    calls.join()
    own.store.close()


def test_an_exhausted_account_stops_every_process(tmp_path: Path) -> None:
    mine, theirs = capped(tmp_path), capped(tmp_path)
    assert theirs.refusal() is None
    threads = [threading.Thread(target=mine.stop_paid_work, args=(f"reason {number}",)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refusal = theirs.refusal()
    assert refusal is not None
    assert refusal.sentence in {f"paid work of this run was stopped: reason {number}" for number in range(20)}
    mine.store.close()
    theirs.store.close()
