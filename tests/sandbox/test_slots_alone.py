"""Holding every place: nobody else holds one, nobody waits for ever, and the kernel frees what the dead have held."""

import contextlib
import itertools
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Slots, SlotTimeout

HOLDER = """
    import sys, time
    from pathlib import Path
    from pytest_toolgate.sandbox import Slots
    slots = Slots(Path(sys.argv[1]), 2, 60.0)
    with slots.hold_all() if sys.argv[2] == "all" else slots.hold():
        print("held", flush=True)
        time.sleep(600)
"""
# One that takes a place as soon as there is one, gives it back and wants it again.
BUSY = """
    import sys, time
    from pathlib import Path
    from pytest_toolgate.sandbox import Slots
    while True:
        with Slots(Path(sys.argv[1]), 2, 60.0).hold():
            print("held", flush=True)
            time.sleep(0.05)
"""
# Each notes when it was alone, by a clock that all processes share.
ALONE = """
    import sys, time
    from pathlib import Path
    from pytest_toolgate.sandbox import Slots
    for _ in range(3):
        with Slots(Path(sys.argv[1]), 2, 60.0).hold_all():
            begun = time.monotonic()
            time.sleep(0.05)
            print(begun, time.monotonic(), flush=True)
"""


@contextlib.contextmanager
def started(program: str, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_nobody_else_has_a_place_meanwhile(tmp_path: Path) -> None:
    with Slots(tmp_path, 2, 5.0).hold_all():
        with pytest.raises(SlotTimeout), Slots(tmp_path, 2, 0.3).hold():
            pass
        with pytest.raises(SlotTimeout), Slots(tmp_path, 2, 0.3).hold_all():
            pass
    with Slots(tmp_path, 2, 5.0).hold(), Slots(tmp_path, 2, 5.0).hold():
        pass


def test_it_is_waited_for_no_longer_than_agreed_and_then_nothing_is_kept(tmp_path: Path) -> None:
    with started(HOLDER, tmp_path, "one") as other:
        assert said(other) == "held"
        begun = time.monotonic()
        with pytest.raises(SlotTimeout, match=r"2 slots .* more than 0.5 seconds"), Slots(tmp_path, 2, 0.5).hold_all():
            pass
        assert 0.5 <= time.monotonic() - begun < 5
        # The other place and the door are free again.
        with Slots(tmp_path, 2, 5.0).hold():
            pass


@pytest.mark.parametrize("what", ["one", "all"])
def test_a_killed_holder_frees_what_it_held(tmp_path: Path, what: str) -> None:
    with started(HOLDER, tmp_path, what) as other:
        assert said(other) == "held"
    with Slots(tmp_path, 2, 5.0).hold_all():
        pass


def test_one_that_is_killed_while_it_waits_keeps_nobody_out(tmp_path: Path) -> None:
    with Slots(tmp_path, 2, 5.0).hold():
        with started(HOLDER, tmp_path, "all"):
            # It has shut the door, and waits for our place.
            give_up = time.monotonic() + 30
            while time.monotonic() < give_up:
                try:
                    with Slots(tmp_path, 2, 0.0).hold():
                        time.sleep(0.05)
                except SlotTimeout:
                    break
            else:
                pytest.fail("it never came to wait")
        with Slots(tmp_path, 2, 5.0).hold():
            pass


def test_it_is_not_starved_by_those_who_want_a_single_place(tmp_path: Path) -> None:
    """Of six, two always have the two places and four stand by to take the next one."""
    with contextlib.ExitStack() as others:
        busy = [others.enter_context(started(BUSY, tmp_path)) for _ in range(6)]
        for process in busy:
            assert said(process) == "held"
        for _ in range(3):
            with Slots(tmp_path, 2, 30.0).hold_all():
                pass
        # Nor does it starve them.
        for process in busy:
            assert said(process) == "held"


def test_several_that_want_it_have_it_one_after_the_other(tmp_path: Path) -> None:
    with contextlib.ExitStack() as others:
        busy = others.enter_context(started(BUSY, tmp_path))
        assert said(busy) == "held"
        alone = [others.enter_context(started(ALONE, tmp_path)) for _ in range(4)]
        times = sorted(tuple(map(float, said(process).split())) for process in alone for _ in range(3))
    assert len(times) == 12
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(times))


def test_threads_of_one_process_keep_to_it_too(tmp_path: Path) -> None:
    slots = Slots(tmp_path, 2, 60.0)
    inside: list[str] = []
    seen: list[tuple[str, ...]] = []

    def work(name: str) -> None:
        for _ in range(3):
            with slots.hold_all() if name == "all" else slots.hold():
                inside.append(name)
                seen.append(tuple(inside))
                time.sleep(0.02)
                inside.remove(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "one", "one", "all", "all")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 15
    assert all(len(together) == 1 for together in seen if "all" in together)
    assert max(map(len, seen)) <= 2
