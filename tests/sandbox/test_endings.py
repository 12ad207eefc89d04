"""How a run ended: exit status, signal, what counted as output, and that nothing is left."""

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import KiB
from pytest_toolgate.sandbox.ending import Observed, decide

from .conftest import Script, text


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os._exit(3)", 3),
        ("1 / 0", 1),
        ("import atexit; atexit.register(lambda: __import__('os')._exit(9))", 9),
    ],
)
def test_exit_status(script: Script, source: str, code: int) -> None:
    finished = script(source)
    assert (finished.ended, finished.exit_code, finished.signal) == ("exited", code, None)


def test_a_segmentation_fault(script: Script) -> None:
    finished = script("import ctypes; ctypes.string_at(0)")
    assert (finished.ended, finished.exit_code, finished.signal) == ("killed", None, signal.SIGSEGV)


def test_output_before_a_crash_is_kept(script: Script) -> None:
    finished = script("import os; print('ANSWER: B', flush=True); os.abort()")
    assert (finished.ended, finished.signal, finished.stdout) == ("killed", signal.SIGABRT, b"ANSWER: B\n")


def test_a_memory_error_that_was_handled_is_no_limit(script: Script) -> None:
    finished = script("""
        try:
            raise MemoryError
        except MemoryError:
            raise SystemExit("MemoryError: said, not meant") from None
    """)
    assert (finished.ended, finished.exit_code) == ("exited", 1)


def test_output_that_is_no_text_arrives_as_it_is(script: Script) -> None:
    finished = script("import sys; sys.stdout.buffer.write(bytes(range(256)))")
    assert finished.stdout == bytes(range(256))


def test_a_script_that_closes_its_output_goes_on(script: Script) -> None:
    finished = script("import os, time; os.close(1); os.close(2); time.sleep(0.5); os._exit(5)")
    assert (finished.ended, finished.exit_code) == ("exited", 5)
    assert finished.wall > 0.45  # a warm one has begun when the clock starts


def test_what_children_write_after_the_script_does_not_count(script: Script) -> None:
    finished = script("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.3)
            os.write(1, b"ANSWER: B\\n")
        else:
            print("done", flush=True)
            os._exit(0)
    """)
    assert text(finished) == "done\n"


def test_what_children_write_before_it_counts(script: Script) -> None:
    finished = script("import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)'])")
    assert text(finished) == "1\n"


def processes_with(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if marker.encode() in command:
            found.append(path.parent.name)
    return found


DAEMON = """
    import os, subprocess, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for n in (1, 2, 3, 15):
                __import__("signal").signal(n, __import__("signal").SIG_IGN)
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "{marker}"])
        os._exit(0)
    time.sleep(0.5)
    {ending}
"""


@pytest.mark.parametrize(("ending", "ended"), [("print('ok')", "exited"), ("time.sleep(99)", "timeout")])
def test_daemons_are_gone_when_the_run_is_over(script: Script, ending: str, ended: str) -> None:
    marker = uuid.uuid4().hex
    finished = script(DAEMON.format(marker=marker, ending=ending), wall=1.5)
    assert finished.ended == ended
    assert processes_with(marker) == []


RUNNER = """
import sys
from pathlib import Path
from pytest_toolgate.sandbox import Job, inspect_interpreter, run
child = "[sys.executable, '-c', 'import time; time.sleep(600)', '{marker}']"
script = f"import subprocess, sys; subprocess.run({{child}})".encode()
run(Job(inspect_interpreter(Path(sys.executable)), script))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_whose_caller_is_interrupted_leaves_nothing(number: signal.Signals) -> None:
    marker = uuid.uuid4().hex
    source = RUNNER.format(marker=marker)
    caller = subprocess.Popen([sys.executable, "-"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert caller.stdin is not None
    with caller:
        caller.stdin.write(source.encode())
        caller.stdin.close()
        wait_until(lambda: len(processes_with(marker)) > 0)
        caller.send_signal(number)
        caller.wait(10)
    wait_until(lambda: processes_with(marker) == [])


def wait_until(condition: Callable[[], bool], patience: float = 20.0) -> None:
    give_up = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.05)


TRACEBACK = b"Traceback (most recent call last):\n  File x\n    line\n"


@pytest.mark.parametrize(
    ("seen", "ended"),
    [
        (Observed("memory-limit", None, True, b""), "memory-limit"),
        (Observed("timeout", None, True, b""), "output-limit"),
        (Observed("timeout", None, False, b""), "timeout"),
        (Observed(None, 256, False, TRACEBACK + b"MemoryError\n"), "memory-limit"),
        (
            Observed(None, 256, False, TRACEBACK + b"numpy._core._exceptions._ArrayMemoryError: Unable\n"),
            "memory-limit",
        ),
        (Observed(None, 256, False, TRACEBACK + b"MemoryError\n" + TRACEBACK + b"ValueError: x\n"), "exited"),
        (Observed(None, 0, False, TRACEBACK + b"MemoryError\n"), "exited"),
        (Observed(None, 256, False, b"MemoryError\n"), "exited"),
        (Observed(None, 256, False, TRACEBACK + b"MemoryErrorish: x\n"), "exited"),
        (Observed(None, 6, False, b"terminate called\n  what():  std::bad_alloc\n"), "memory-limit"),
        (
            Observed(None, 256, False, TRACEBACK + b"OSError: [Errno 28] No space left on device\n"),
            "disk-limit",
        ),
        (Observed(None, 256, False, TRACEBACK + b"OSError: [Errno 27] File too large\n"), "disk-limit"),
        (Observed(None, 256, False, TRACEBACK + b"OSError: [Errno 2] No such file\n"), "exited"),
        (Observed(None, signal.SIGXFSZ, False, b""), "disk-limit"),
        (Observed(None, signal.SIGSEGV, False, b""), "killed"),
        (Observed(None, signal.SIGSEGV | 0x80, False, b""), "killed"),
    ],
)
def test_the_order_of_reasons(seen: Observed, ended: str) -> None:
    assert decide(seen)[0] == ended


@pytest.mark.parametrize("filling", [b"\n", b" ", b"\t", b"what():\n", b"\n what():"])
def test_nothing_a_script_says_takes_long_to_read(filling: bytes) -> None:
    stderr = filling * (256 * KiB // len(filling))
    begun = time.monotonic()
    assert decide(Observed(None, signal.SIGABRT, False, stderr))[0] == "killed"
    assert time.monotonic() - begun < 5


def test_runs_side_by_side_do_not_disturb_each_other(script: Script) -> None:
    source = """
        import os, time
        assert os.listdir() == ["solution.py"]
        children = sum(os.fork() == 0 for _ in range(3))
        time.sleep(0.3)
        children or print(len([name for name in os.listdir("/proc") if name.isdigit()]))
        time.sleep(0.1)
    """
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: script(source, processes=10), range(4)))
    assert [finished.stdout for finished in runs] == [b"9\n"] * 4  # the supervisor and eight, each time
