"""Slots are shared by processes and freed by the kernel when a holder dies."""

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Slots, SlotTimeout

HOLDER = """
    import sys, time
    from pathlib import Path
    from pytest_toolgate.sandbox import Slots
    with Slots(Path(sys.argv[1]), int(sys.argv[2]), 10.0).hold():
        print("held", flush=True)
        time.sleep(600)
"""


def holder(directory: Path, count: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(directory), str(count)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_slot_held_elsewhere_is_waited_for_and_no_longer_than_agreed(tmp_path: Path) -> None:
    with holder(tmp_path, 1) as other:
        begun = time.monotonic()
        with (
            pytest.raises(SlotTimeout, match=r"Others held the 1 slots .* more than 0.5 seconds"),
            Slots(tmp_path, 1, 0.5).hold(),
        ):
            pass
        assert 0.5 <= time.monotonic() - begun < 10
        other.kill()


def test_a_killed_holder_frees_its_slot(tmp_path: Path) -> None:
    with holder(tmp_path, 1) as other:
        other.kill()
    with Slots(tmp_path, 1, 5.0).hold():
        pass


def test_as_many_hold_at_once_as_there_are_slots(tmp_path: Path) -> None:
    with holder(tmp_path, 2) as other, Slots(tmp_path, 2, 5.0).hold():
        with pytest.raises(SlotTimeout), Slots(tmp_path, 2, 0.0).hold():
            pass
        other.kill()


def test_a_child_that_was_given_the_lock_keeps_the_slot(tmp_path: Path) -> None:
    with Slots(tmp_path, 1, 1.0).hold() as held:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=[held])
    with child:
        with pytest.raises(SlotTimeout), Slots(tmp_path, 1, 0.2).hold():
            pass
        child.kill()
    with Slots(tmp_path, 1, 5.0).hold():
        pass


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    slots = Slots(tmp_path / "made", 2, 30.0)
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with slots.hold():
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 8
    assert max(most) <= 2


def test_there_is_at_least_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Slots(tmp_path, 0, 1.0)
