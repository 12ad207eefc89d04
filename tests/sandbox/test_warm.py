"""Copies of a warm process: as good as a start of one's own, and as far from each other."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import (
    Finished,
    Interpreter,
    Job,
    Limits,
    SandboxError,
    WarmKeeper,
    WarmStart,
    inspect_interpreter,
    run,
)

from .conftest import text

TEE = """
import sys
class Tee:
    def write(self, text): sys.__stdout__.write(text)
    def flush(self): sys.__stdout__.flush()
sys.stdout = Tee()
print("ANSWER: B")
"""
ENDINGS = {
    "nothing": "pass",
    "a status": "import sys; sys.exit(3)",
    "a large status": "import sys; sys.exit(259)",
    "a negative status": "import sys; sys.exit(-1)",
    "a status that is true": "import sys; sys.exit(True)",
    "words": "import sys; sys.exit('enough')",
    "no status": "import sys; sys.exit(None)",
    "an exception": "def f():\n    return 1 / 0\nf()",
    "a chain of exceptions": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('two') from e",
    "a syntax error": "x = = 1",
    "an interrupt": "raise KeyboardInterrupt",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "an interrupt by signal": "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "at once": "import os; print('lost'); os._exit(4)",
    "atexit": "import atexit; atexit.register(print, 'last words'); print('first')",
    "a failure in atexit": "import atexit; atexit.register(lambda: 1 / 0); print('done')",
    "a crash in atexit": "import atexit, os; atexit.register(os.abort); print('done')",
    "a thread to wait for": "from threading import Timer\nTimer(0.3, print, ('late',)).start()",
    "a daemon not to wait for": "from threading import Timer\nt = Timer(60, print)\nt.daemon = True\nt.start()",
    "stdout closed": "import sys; print('x'); sys.stdout.close()",
    "stdout of a closed descriptor": "import os; print('x'); os.close(1)",
    "a hook": "import sys; sys.excepthook = lambda *a: print('hooked', a[0]); 1 / 0",
    "a hook that fails": "import sys\ndef f(*a): raise OSError('hook')\nsys.excepthook = f; print('x'); 1 / 0",
    "a stream of its own": TEE,
    "stdout replaced": "import sys; print('ANSWER: B'); sys.stdout = open('/dev/null', 'w')",
    "a copy of stdout": "import os; f = os.fdopen(os.dup(1), 'w'); f.write('ANSWER: B')",
    "words of an object": "class A:\n    def __del__(self): print('ANSWER: B')\na = A()",
    "a forgotten submodule": "import concurrent; concurrent.futures",
    "another": "import urllib; urllib.parse",
    "one of a library": "import numpy, xml; xml.etree",
    "bytes and text": "import sys; sys.stdout.buffer.write(b'\\xff\\n'); print('é')",
    "no newline": "print('x', end='')",
    "stdin": "print(repr(input()))",
    "a child": "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'print(6)'], capture_output=True))",
    "a pool": "from multiprocessing import Pool\nif __name__ == '__main__':\n    print(Pool(2).map(abs, [-1, -2]))",
    "warnings": "import warnings; warnings.warn('careful')",
    "assertions": "assert False, 'no'",
    "recursion": "def f(): f()\ntry:\n    f()\nexcept RecursionError: print('deep')",
    "encoding": "# -*- coding: latin-1 -*-\nprint(len('\xe9'))",
    "future": "from __future__ import annotations\ndef f(x: undefined): pass\nprint(f.__annotations__)",
}  # fmt: skip

SURROUNDINGS = """
import os, sys, signal, json, locale, resource
main = sys.modules["__main__"]
print(json.dumps({
    "argv": sys.argv, "orig_argv": sys.orig_argv, "executable": sys.executable, "path": sys.path,
    "flags": str(sys.flags), "main": sorted(vars(main)), "name": __name__, "file": __file__,
    "spec": repr(__spec__), "loader": type(__loader__).__name__, "environ": dict(os.environ), "cwd": os.getcwd(),
    "umask": oct(os.umask(0)), "signals": [str(signal.getsignal(s)) for s in sorted(signal.valid_signals())],
    "mask": str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "streams": [str(s) for s in (sys.stdin, sys.stdout, sys.stderr)],
    "fds": sorted(os.listdir("/proc/self/fd")),
    "encoding": [sys.getfilesystemencoding(), locale.getpreferredencoding()],
    "pid": os.getpid(), "ppid": os.getppid(), "session": os.getsid(0), "threads": len(os.listdir("/proc/self/task")),
    "limits": [resource.getrlimit(n) for n in map(int, "0 1 2 3 4 7 8 9 10 11 12 13 14".split())],
    "root": sorted(os.listdir("/")), "etc": sorted(os.listdir("/etc")), "dev": sorted(os.listdir("/dev")),
    "passwd": len(open("/etc/passwd").readlines()), "host": os.uname().nodename,
    "capabilities": [l for l in open("/proc/self/status").read().splitlines() if l[:3] in ("Cap", "NoN", "Sec")],
    "processes": [p for p in os.listdir("/proc") if p.isdigit()], "home": os.listdir(os.environ["HOME"]),
    "work": sorted(os.listdir(".")), "hash": hash("x"),
    "mounts": sorted({l.split()[1] for l in open("/proc/mounts")} & {"/sandbox", "/tmp", "/dev/shm"}),
}, indent=0))
"""  # fmt: skip

# Reads what is written in one place or another by a copy before it.
TRACES = """
import os, sys
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.listdir(os.environ["HOME"]), sorted(os.listdir(".")))
print(getattr(sys, "left_by_another", None), os.environ.get("LEFT"), len(os.listdir("/proc")) < 200)
"""
LEAVE = """
import os, sys
sys.left_by_another = 1
os.environ["LEFT"] = "1"
for folder in ("/tmp", "/dev/shm", os.environ["HOME"], "."):
    open(folder + "/left", "w").close()
import numpy
numpy.pi = 3
"""


@pytest.fixture
def both(interpreter: Interpreter, warm_start: WarmStart) -> Callable[[str], tuple[Finished, Finished]]:
    """Run a script from a start of its own and as a copy."""

    def run_both(source: str) -> tuple[Finished, Finished]:
        job = Job(interpreter, source.encode(), limits=Limits(wall=30.0), env={"PYTHONHASHSEED": "7"})
        return run(job), run(replace(job, warm=warm_start))

    return run_both


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_copy_ends_as_a_start_would(both: Callable[[str], tuple[Finished, Finished]], ending: str) -> None:
    cold, warm = both(ENDINGS[ending])
    assert (warm.ended, warm.exit_code, warm.signal) == (cold.ended, cold.exit_code, cold.signal)
    assert _without_addresses(warm) == _without_addresses(cold)


def _without_addresses(finished: Finished) -> tuple[bytes, bytes]:
    return finished.stdout, re.sub(rb"0x[0-9a-f]+", b"0x", finished.stderr)


def test_a_copy_finds_what_a_start_would(both: Callable[[str], tuple[Finished, Finished]]) -> None:
    cold, warm = both(SURROUNDINGS)
    assert text(warm).splitlines() == text(cold).splitlines()


@pytest.fixture
def warm(interpreter: Interpreter, warm_start: WarmStart) -> Callable[..., Finished]:
    def run_it(source: str, **given: object) -> Finished:
        job = Job(interpreter, source.encode(), limits=Limits(wall=30.0), warm=warm_start)
        return run(replace(job, **given))  # type: ignore[arg-type]

    return run_it


def test_a_copy_leaves_nothing_for_the_next(warm: Callable[..., Finished]) -> None:
    before = text(warm(TRACES))
    assert warm(LEAVE).exit_code == 0
    assert text(warm(TRACES)) == before
    assert text(warm("import numpy; print(numpy.pi)")) == "3.141592653589793\n"


def test_copies_that_run_together_do_not_meet(warm: Callable[..., Finished]) -> None:
    stay = LEAVE + "import time; time.sleep(4)"
    other = threading.Thread(target=warm, args=(stay,))
    before = text(warm(TRACES + "print([p for p in os.listdir('/proc') if p.isdigit()])"))
    other.start()
    time.sleep(1.5)
    assert text(warm(TRACES + "print([p for p in os.listdir('/proc') if p.isdigit()])")) == before
    other.join()


def test_two_copies_draw_different_numbers(warm: Callable[..., Finished]) -> None:
    source = """
import numpy, random, uuid
print(numpy.random.rand(), random.random(), uuid.uuid4(), numpy.random.default_rng().random())
"""
    one, two = (text(warm(source)).split() for _ in range(2))
    assert all(first != second for first, second in zip(one, two, strict=True))


def test_the_hash_seed_is_the_jobs(warm: Callable[..., Finished]) -> None:
    said = {seed: text(warm("print(hash('x'))", env={"PYTHONHASHSEED": seed})) for seed in ("1", "2")}
    assert said["1"] != said["2"] == text(warm("print(hash('x'))", env={"PYTHONHASHSEED": "2"}))


def test_the_number_of_threads_is_the_jobs(interpreter: Interpreter, warm_start: WarmStart) -> None:
    source = """
import ctypes, numpy
try:
    import dolfinx_solver, dolfinx
except ImportError:
    pass
for file in sorted({line.split()[5] for line in open("/proc/self/maps") if "openblas" in line}):
    library = ctypes.CDLL(file)
    for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads"):
        if hasattr(library, name):
            print(file, getattr(library, name)())
"""
    for number in ("1", "2"):
        job = Job(interpreter, source.encode(), env={"OPENBLAS_NUM_THREADS": number, "OMP_NUM_THREADS": number})
        found = text(run(replace(job, warm=warm_start)))
        assert found == text(run(job))
        assert f" {number}\n" in found


def test_every_copy_has_the_same_addresses(warm: Callable[..., Finished]) -> None:
    """What is said of warm starts in the documentation, and must go from there when it is true no more."""
    assert text(warm("print(id(object))")) == text(warm("print(id(object))"))


def test_a_job_finds_what_it_left_and_another_does_not(warm: Callable[..., Finished]) -> None:
    keep = """
import os
print(os.path.exists("/run/kept/old") and open("/run/kept/old").read())
open("/run/kept/new", "a").write("mine")
"""
    first = warm(keep)
    assert (text(first), first.kept) == ("False\n", b"mine")
    second = warm(keep, kept=first.kept)
    assert text(second) == "mine\n"
    assert text(warm("import os; print(os.listdir('/run/kept'))")) == "[]\n"


def test_copies_have_no_terminals_in_common(warm: Callable[..., Finished]) -> None:
    wait = "import os, pty, time; pty.openpty(); print(sorted(os.listdir('/dev/pts'))); time.sleep(3)"
    other = threading.Thread(target=warm, args=(wait,))
    other.start()
    time.sleep(1)
    assert text(warm("import os; print(os.listdir('/dev/pts'))")) == "['ptmx']\n"
    other.join()


def test_what_is_not_imported_is_not_used(interpreter: Interpreter, tmp_path: Path) -> None:
    keeper = WarmKeeper(tmp_path)
    keeper.start()
    start = WarmStart(tmp_path, "", ("numpy", "json", "fractions", "yaml"))
    try:
        for source, used in (("import numpy", ()), ("import yaml", ("yaml",)), ("import json, statistics", ())):
            assert run(Job(interpreter, source.encode(), watch=("yaml",), warm=start)).used == used
    finally:
        keeper.stop()


@pytest.mark.parametrize(
    "left",
    [
        "os.symlink('/etc/passwd', '/run/kept/new')",
        "os.mkfifo('/run/kept/new')",
        "os.mkdir('/run/kept/new')",
        "os.link('solution.py', '/run/kept/new')",
    ],
)
def test_what_is_left_is_a_file_or_nothing(warm: Callable[..., Finished], left: str) -> None:
    assert warm(f"import os\ntry:\n    {left}\nexcept OSError: pass").kept == b""


def test_what_is_left_is_bounded(warm: Callable[..., Finished]) -> None:
    finished = warm(
        "f = open('/run/kept/new', 'wb')\ntry:\n    while True: f.write(bytes(1 << 20))\nexcept OSError: pass"
    )
    assert len(finished.kept) <= 32 << 20


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[WarmKeeper]:
    keeper = WarmKeeper(tmp_path)
    keeper.start()
    yield keeper
    keeper.stop()


def children() -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(path.parent.name))
    return found


def test_a_warm_process_that_died_is_made_again(keeper: WarmKeeper, tmp_path: Path, interpreter: Interpreter) -> None:
    before = children()
    job = Job(interpreter, b"print(1)", warm=WarmStart(tmp_path, "", ("json",)))
    assert text(run(job)) == "1\n"
    (monitor,) = children() - before
    os.kill(monitor, signal.SIGKILL)
    give_up = time.monotonic() + 20
    while (finished := attempt(job)) is None and time.monotonic() < give_up:
        time.sleep(0.1)
    assert finished is not None
    assert text(finished) == "1\n"


def attempt(job: Job) -> Finished | None:
    try:
        return run(job)
    except SandboxError:
        return None


def test_nothing_is_left_when_the_keeper_stops(tmp_path: Path, interpreter: Interpreter) -> None:
    before = children()
    keeper = WarmKeeper(tmp_path)
    keeper.start()
    job = Job(interpreter, b"import time; time.sleep(60)", warm=WarmStart(tmp_path, "", ("json",)))
    waiting = threading.Thread(target=attempt, args=(job,))
    waiting.start()
    time.sleep(2)
    keeper.stop()
    waiting.join(10)
    assert not waiting.is_alive()
    assert children() == before


@pytest.mark.parametrize(
    ("hook", "preload", "why"),
    [
        ("", ("no_such_package_at_all",), "ModuleNotFoundError: No module named 'no_such_package_at_all'"),
        ("from threading import Timer\nON_IMPORT = {}\ndef load(): Timer(9, print).start()", (), "2 threads run"),
        ("ON_IMPORT = {}\ndef load(): raise SystemExit(3)", (), "SystemExit: 3"),
        ("import os\ndef load(): os._exit(1)", (), "it gave no reason"),
    ],
)  # fmt: skip
def test_software_that_cannot_be_loaded_is_said_in_one_sentence(
    keeper: WarmKeeper, tmp_path: Path, interpreter: Interpreter, hook: str, preload: tuple[str, ...], why: str
) -> None:
    with pytest.raises(SandboxError, match=r"could not load") as raised:
        run(Job(interpreter, b"pass", warm=WarmStart(tmp_path, hook, preload)))
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_directory_with_a_long_name(tmp_path: Path, interpreter: Interpreter) -> None:
    directory = tmp_path / ("x" * 120)
    directory.mkdir()
    keeper = WarmKeeper(directory)
    keeper.start()
    try:
        assert text(run(Job(interpreter, b"print(1)", warm=WarmStart(directory, "", ("json",))))) == "1\n"
    finally:
        keeper.stop()


def test_an_interpreter_that_lives_in_tmp(tmp_path: Path) -> None:
    """Each copy has a /tmp of its own, and must not lose what it runs on."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (tmp_path / "warm").mkdir()
    keeper = WarmKeeper(tmp_path / "warm")
    keeper.start()
    source = """
import subprocess, sys
print(sys.prefix, subprocess.run([sys.executable, "-c", "print(6)"], capture_output=True, text=True).stdout)
try:
    open(sys.prefix + "/x", "w")
except OSError:
    print("read only")
"""
    try:
        job = Job(inspect_interpreter(tmp_path / "venv" / "bin" / "python"), source.encode())
        cold = text(run(job))
        assert cold.splitlines()[-1] == "read only"
        assert text(run(replace(job, warm=WarmStart(tmp_path / "warm", "", ("json",))))) == cold
    finally:
        keeper.stop()
