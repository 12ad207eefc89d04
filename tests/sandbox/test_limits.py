"""Each limit ends a run for its own reason, and nothing else does."""

import time

import pytest

from pytest_toolgate.sandbox import KiB, MiB

from .conftest import Script


def test_time(script: Script) -> None:
    begun = time.monotonic()
    finished = script("print('ANSWER: B', flush=True); import time; time.sleep(1e6)", wall=2.0)
    assert time.monotonic() - begun < 10
    assert (finished.ended, finished.exit_code, finished.signal) == ("timeout", None, None)
    assert finished.stdout == b"ANSWER: B\n"
    assert 2.0 <= finished.wall < 6


def test_time_spent_computing_is_told_from_time_spent_waiting(script: Script) -> None:
    assert script("import time; time.sleep(9)", wall=1.0).cpu < 0.5
    assert script("while True: pass", wall=1.0).cpu > 0.2


def test_signals_that_ask_are_not_asked(script: Script) -> None:
    finished = script(
        "import signal, time\nfor n in (2, 15, 1, 3): signal.signal(n, signal.SIG_IGN)\ntime.sleep(99)",
        wall=1.0,
    )
    assert finished.ended == "timeout"


@pytest.mark.parametrize("way", ["one process", "children"])
def test_memory(script: Script, way: str) -> None:
    one = f"blocks = []\nwhile True: blocks.append(bytearray(b'x') * {16 * MiB})"
    children = f"""
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(b'x') * {100 * MiB}
        time.sleep(99)
time.sleep(99)
"""
    finished = script(one if way == "one process" else children, memory=512 * MiB)
    assert finished.ended == "memory-limit"
    assert finished.peak_memory > 400 * MiB


def test_memory_that_is_asked_for_at_once_and_refused(script: Script) -> None:
    finished = script("x = bytearray(1 << 40)", memory=512 * MiB)
    assert (finished.ended, finished.exit_code) == ("memory-limit", 1)


def test_forks_that_share_their_memory_are_counted_once(script: Script) -> None:
    finished = script(
        f"""
        import os, time
        block = bytearray(b"x") * {200 * MiB}
        for _ in range(5):
            if os.fork() == 0:
                time.sleep(1)
                os._exit(0)
        time.sleep(1)
        """,
        memory=512 * MiB,
    )
    assert finished.ended == "exited"


def test_memory_of_processes_whose_first_thread_has_ended(script: Script) -> None:
    finished = script(
        f"""
        import ctypes, os, threading, time
        def hold():
            time.sleep(0.2)
            block = bytearray(b"x") * {100 * MiB}
            time.sleep(1)
            os._exit(0)
        for _ in range(4):
            if os.fork() == 0:
                threading.Thread(target=hold).start()
                ctypes.CDLL(None).pthread_exit(None)
        time.sleep(2)
        """,
        memory=200 * MiB,
    )
    assert finished.ended == "memory-limit"


@pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm", "/sandbox/home"])
def test_disk(script: Script, place: str) -> None:
    finished = script(
        f"""
        import itertools
        for number in itertools.count():
            with open(f"{place}/{{number}}", "wb") as stream:
                stream.write(bytes({1 * MiB}))
        """,
        disk=16 * MiB,
    )
    assert finished.ended == "disk-limit"


def test_disk_filled_by_one_that_ignores_the_refusals(script: Script) -> None:
    finished = script(
        f"""
        try:
            with open("f", "wb") as stream:
                while True:
                    stream.write(bytes({1 * MiB}))
        except OSError:
            pass
        """,
        disk=16 * MiB,
    )
    assert finished.ended == "disk-limit"


def test_a_flood_of_empty_files(script: Script) -> None:
    finished = script("import itertools\nfor n in itertools.count(): open(str(n), 'w').close()")
    assert finished.ended == "disk-limit"


def test_endless_output(script: Script) -> None:
    begun = time.monotonic()
    finished = script("while True: print('x' * 1000)", stdout=1 * MiB)
    assert (finished.ended, len(finished.stdout)) == ("output-limit", 1 * MiB)
    assert time.monotonic() - begun < 10


def test_one_line_of_50_megabytes(script: Script) -> None:
    assert script("print('x' * 50_000_000)").ended == "output-limit"


def test_output_up_to_the_limit_is_whole(script: Script) -> None:
    finished = script(f"import sys; sys.stdout.write('x' * {1 * MiB})", stdout=1 * MiB)
    assert (finished.ended, len(finished.stdout)) == ("exited", 1 * MiB)


def test_output_beyond_the_limit_by_one_byte_and_a_quick_exit(script: Script) -> None:
    assert script(f"import sys; sys.stdout.write('x' * {1 * KiB + 1})", stdout=1 * KiB).ended == "output-limit"


def test_errors_are_cut_in_the_middle_and_never_fatal(script: Script) -> None:
    finished = script(
        """
        import sys
        sys.stderr.write("first")
        for _ in range(150):
            sys.stderr.write("x" * 1000)
        sys.stderr.write("last")
        """,
        stderr=64 * KiB,
    )
    assert (finished.ended, finished.exit_code, finished.stderr_cut) == ("exited", 0, True)
    assert finished.stderr.startswith(b"first")
    assert finished.stderr.endswith(b"last")
    assert len(finished.stderr) < 65 * KiB
    assert b"bytes cut" in finished.stderr


def test_a_fork_bomb_goes_out(script: Script) -> None:
    finished = script("import os\nwhile True:\n try: os.fork()\n except OSError: pass", wall=2.0)
    assert finished.ended == "timeout"


def test_processes_are_limited_and_the_script_is_told(script: Script) -> None:
    finished = script(
        """
        import os, time
        made = 0
        try:
            for _ in range(100):
                if os.fork() == 0:
                    time.sleep(99)
                made += 1
        except BlockingIOError:
            print(made)
        """,
        processes=10,
    )
    assert finished.stdout == b"9\n"


def test_threads_count_as_processes(script: Script) -> None:
    finished = script(
        """
        import threading, time
        try:
            for _ in range(500):
                threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
        except RuntimeError:
            print("no more")
        """
    )
    assert finished.stdout == b"no more\n"


def test_limits_cannot_be_raised(script: Script) -> None:
    finished = script("""
        import resource
        for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"):
            soft, hard = resource.getrlimit(getattr(resource, name))
            assert soft == hard != resource.RLIM_INFINITY
            try:
                resource.setrlimit(getattr(resource, name), (hard + 1, hard + 1))
                print(name)
            except ValueError:
                pass
    """)
    assert finished.stdout == b""
    assert finished.exit_code == 0


@pytest.mark.parametrize("trick", ["priority", "signals", "schedule", "processor"])
def test_the_supervisor_cannot_be_kept_from_its_work(script: Script, trick: str) -> None:
    begun = time.monotonic()
    finished = script(
        f"""
        import os, signal
        for _ in range(8):
            if os.fork() == 0:
                break
        try:
            if {trick == "priority"}:
                os.setpriority(os.PRIO_PROCESS, 1, 19)
            if {trick == "schedule"}:
                os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))
            if {trick == "processor"}:
                os.sched_setaffinity(1, {{0}})
                os.sched_setaffinity(0, {{0}})
        except OSError:
            pass
        while True:
            if {trick == "signals"}:
                os.kill(1, signal.SIGCHLD)
        """,
        wall=1.0,
    )
    assert finished.ended == "timeout"
    assert time.monotonic() - begun < 15
