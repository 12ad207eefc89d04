"""Faults of the machinery are errors with a remedy, never a finding about a script."""

import ast
import math
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.sandbox import (
    Finished,
    Interpreter,
    Job,
    Limits,
    SandboxError,
    inspect_interpreter,
    probe,
    run,
)
from pytest_toolgate.sandbox.identity import is_root
from pytest_toolgate.sandbox.profile import INSIDE
from pytest_toolgate.sandbox.seccomp import program

from .conftest import Script, text


def test_the_probe_passes_here() -> None:
    probe()


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(SandboxError, match="/nowhere/python cannot be started"):
        inspect_interpreter(Path("/nowhere/python"))


def test_a_program_that_is_no_python() -> None:
    with pytest.raises(SandboxError, match="/bin/true"):
        inspect_interpreter(Path("/bin/true"))


def test_an_interpreter_that_vanished() -> None:
    gone = Interpreter(Path("/usr/bin/no-such-python"), (Path("/usr"),), "3.12.1", {}, "CPython", {})
    with pytest.raises(SandboxError, match="no-such-python"):
        run(Job(gone, b"pass"))


def test_a_workspace_that_is_not_there(script: Script, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is not a directory"):
        script("pass", workspace=tmp_path / "nowhere")


def test_files_that_do_not_fit_the_disk(script: Script) -> None:
    with pytest.raises(SandboxError, match="could not be put"):
        script("pass", files={"big": bytes(5 << 20)}, disk=1 << 20)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "solution.py"])
def test_files_have_plain_names(interpreter: Interpreter, name: str) -> None:
    with pytest.raises(ValueError, match="plain name"):
        Job(interpreter, b"", files={name: b""})


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="`wall` must be above zero"):
        Limits(wall=0)


@pytest.mark.parametrize("limits", [{"wall": math.inf}, {"wall": math.nan}, {"memory": math.inf}, {"wall": 1e6 + 1}])
def test_a_limit_of_no_limit_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"the limit `{next(iter(limits))}` must be"):
        Limits(**limits)


def test_no_descriptors_left(script: Script) -> None:
    script("pass")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = len(list(Path("/proc/self/fd").iterdir()))
    try:
        for more in range(0, 40, 3):
            resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + more, hard))
            try:
                script("pass")
            except SandboxError as error:
                refused = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "Too many open files" in refused


def test_the_interpreter_is_described() -> None:
    found = inspect_interpreter(Path(sys.executable), ("numpy", "no-such-distribution"))
    assert found.python == Path(sys.executable)
    assert Path(sys.prefix).resolve() in found.prefixes
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert set(found.packages) == {"numpy"}


def test_the_systems_own_python_works_too() -> None:
    system = Path("/usr/bin/python3")
    if not os.access(system, os.X_OK):
        pytest.skip("there is none")
    finished = run(Job(inspect_interpreter(system), b"import sys; print(sys.version_info >= (3, 8))", watch=("numpy",)))
    assert text(finished) == "True\n"


def test_no_descriptor_of_ours_stays_open(script: Script) -> None:
    script("pass")
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    script("pass")
    script("while True: print('x' * 1000)", stdout=1000)
    assert len(list(descriptors.iterdir())) == before


@pytest.mark.parametrize(
    "name",
    [entry.name for entry in (files("pytest_toolgate.sandbox") / "inside").iterdir() if entry.name.endswith(".py")],
)
def test_what_runs_inside_is_readable_for_old_pythons(name: str) -> None:
    source = (files("pytest_toolgate.sandbox") / "inside" / name).read_text("utf-8")
    ast.parse(source, feature_version=(3, 8))


def test_an_interpreter_only_root_can_read(script: Script, tmp_path: Path) -> None:
    if not is_root():
        pytest.skip("only root runs scripts under another id")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    venv.chmod(0o700)
    with pytest.raises(SandboxError, match="must be readable"):
        run(Job(inspect_interpreter(venv / "bin" / "python"), b"pass"))


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_fits_the_kernels_form(machine: str) -> None:
    code = program(machine)
    assert len(code) % 8 == 0
    assert len(code) // 8 < 4096


def test_there_is_no_filter_for_an_unknown_machine() -> None:
    with pytest.raises(SandboxError, match="riscv64"):
        program("riscv64")


def first_process_of_a_sandbox_of_ours() -> int:
    """The supervisor, as the host sees it: a child of a child of this process."""
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                process = int(path.parent.name)
                command = path.read_bytes().split(b"\0")
                if command[3:4] == [f"{INSIDE}/supervise.pyc".encode()] and parent(parent(process)) == os.getpid():
                    return process
                if command[1:2] == [f"{INSIDE}/zygote.pyc".encode()] and is_first_of_a_copy(process):
                    return process
            except OSError:
                continue
        time.sleep(0.02)
    raise AssertionError("no sandbox was started")


def is_first_of_a_copy(process: int) -> bool:
    """Whether it is the first process in namespaces that a warm process of ours has made."""
    numbers = re.findall(r"^NSpid:(.*)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)[0].split()
    return numbers[-1] == "1" and len(numbers) > 2 and parent(parent(parent(process))) == os.getpid()


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def started_when(script: Script, number: signal.Signals, **limits: float) -> Finished:
    """Send the signal to the supervisor from the host, one second into a run."""

    def send() -> None:
        time.sleep(1)
        os.kill(first_process_of_a_sandbox_of_ours(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return script("import time; time.sleep(60)", **limits)
    finally:
        sender.join()


def test_a_supervisor_that_hangs_is_ended_from_outside(script: Script) -> None:
    begun = time.monotonic()
    finished = started_when(script, signal.SIGSTOP, wall=3.0)
    assert finished.ended == "timeout"
    assert time.monotonic() - begun < 10


def test_an_end_after_the_time_is_no_end_in_time(script: Script) -> None:
    """The supervisor is kept from looking, as a slow sample would, while time runs out and the script ends."""

    def keep() -> None:
        time.sleep(1)
        supervisor = first_process_of_a_sandbox_of_ours()
        os.kill(supervisor, signal.SIGSTOP)
        time.sleep(2)
        os.kill(supervisor, signal.SIGCONT)

    keeper = threading.Thread(target=keep)
    keeper.start()
    finished = script("import time; time.sleep(2.5)", wall=2.0)
    keeper.join()
    assert (finished.ended, finished.exit_code) == ("timeout", None)
    assert finished.wall > 2.5


def test_a_supervisor_that_dies_is_no_finding(script: Script) -> None:
    with pytest.raises(SandboxError, match="without a report"):
        started_when(script, signal.SIGKILL)
