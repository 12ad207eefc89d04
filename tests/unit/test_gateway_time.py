"""The time and the place of an agent's own program, as its gateway keeps them."""

import threading
import time
from pathlib import Path

import pytest

from pytest_toolgate.providers import Call, Passed
from pytest_toolgate.sandbox import Slots

from .gateways import REPLY, Opens, failed, opens, wait_until


@pytest.fixture
def open_gateway(tmp_path: Path) -> Opens:
    return opens(tmp_path)


# --- its time, and its place ----------------------------------------------------------------------------------


def test_a_model_that_never_answered_has_failed_and_one_that_is_late_has_not(open_gateway: Opens) -> None:
    def late(call: Call) -> Passed:
        if len(world.provider.calls) == 1:
            return REPLY
        time.sleep(max(0.0, call.deadline) + 0.05)
        return failed("no whole reply", None)

    with open_gateway(late, seconds=0.5) as world:
        assert world.post().status == 200
        assert world.post().status == 403
        assert world.gateway.problem is None
        assert not world.gateway.silent

    def never(call: Call) -> Passed:
        time.sleep(max(0.0, call.deadline) + 0.05)
        return failed("no whole reply", None)

    with open_gateway(never, seconds=0.3) as world:
        world.post()
        assert world.gateway.silent
        assert world.problem.reason == "provider"


def test_its_place_is_free_during_a_call_and_only_then(open_gateway: Opens) -> None:
    during: list[bool] = []

    def look(call: Call) -> Passed:
        during.append(world.free())
        return REPLY

    with open_gateway(look) as world:
        assert not world.free()
        for thread in [world.post_aside() for _ in range(4)]:
            thread.join()
        assert not world.free()
    assert during == [True] * 4


class Other:
    """Somebody else, who takes the one place and keeps it."""

    def __init__(self) -> None:
        self.taken, self.leave = threading.Event(), threading.Event()

    def come(self, slots: Slots) -> None:
        threading.Thread(target=self._hold, args=(slots,)).start()
        self.taken.wait(20)

    def _hold(self, slots: Slots) -> None:
        with slots.hold():
            self.taken.set()
            self.leave.wait(20)


def test_waiting_for_a_place_shows_while_it_goes_on(open_gateway: Opens) -> None:
    other = Other()

    def slow(call: Call) -> Passed:
        other.come(world.slots)
        with call.holding_up():
            time.sleep(0.2)
        return REPLY

    with open_gateway(slow) as world:
        asking = world.post_aside()
        wait_until(lambda: bool(world.gateway.waited > 0.5))
        seen = [world.gateway.waited for _ in range(2000)]
        assert seen == sorted(seen)
        other.leave.set()
        asking.join()
        held = world.gateway.waited
        time.sleep(0.1)
        assert world.gateway.waited == held


def test_an_end_while_it_waits_for_a_place_waits_for_nobody(open_gateway: Opens) -> None:
    other = Other()

    def slow(call: Call) -> Passed:
        other.come(world.slots)
        return REPLY

    with open_gateway(slow) as world:
        asking = world.post_aside()
        other.taken.wait(20)
        time.sleep(0.2)
        threading.Timer(12.0, other.leave.set).start()
    assert world.ending < 8
    asking.join()


def test_a_model_that_stalls_keeps_nobody(open_gateway: Opens) -> None:
    """The program has ended before its time, with its call under way."""
    recorded: list[str] = []

    def stall(call: Call) -> Passed:
        assert call.given_up is not None
        call.given_up.result(30)
        recorded.append("failed")
        return failed("given up", None)

    with open_gateway(stall, seconds=1000) as world:
        asking = world.post_aside()
        wait_until(lambda: bool(world.provider.calls))
    assert 2 < world.ending < 20
    assert recorded == ["failed"]
    assert world.gateway.problem is None
    assert world.gateway.silent
    asking.join()


def test_a_reply_on_its_way_when_the_program_ends_is_counted(open_gateway: Opens) -> None:
    def slow(call: Call) -> Passed:
        time.sleep(0.5)
        return REPLY

    with open_gateway(slow) as world:
        asking = world.post_aside()
        wait_until(lambda: bool(world.provider.calls))
    assert (world.gateway.calls, world.gateway.tokens.output) == (1, 3)
    asking.join()
