"""What a program that makes sandboxes of its own mounts in them is memory: it counts, or it ends the program."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Finished, Interpreter, Job, Limits, MiB, Program, inspect_interpreter, run

from .test_program import Echo


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    return inspect_interpreter(Path(sys.executable), ())


def nested(interpreter: Interpreter, code: str, *, workspace: Path | None = None) -> Finished:
    program = Program((str(interpreter.python), "-c", code), Echo(), nested=True)
    limits = Limits(wall=30.0, processes=64, disk=64 * MiB)
    return run(Job(interpreter, b"", limits=limits, program=program, workspace=workspace))


ALONE = """
import ctypes, os, subprocess, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)
def alone():
    user, group = os.getuid(), os.getgid()
    call("unshare", 0x10020000)
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(line)
def mount(place, kind=b"tmpfs", options=None):
    os.makedirs(place, exist_ok=True)
    call("mount", b"x", place, kind, 0, options)
def fill(place, files=4):
    for number in range(files):
        with open(place + b"/%d" % number, "wb", buffering=0) as stream:
            stream.write(bytes(40 << 20))
there = b"/tmp/a b"
"""
COUNTED = {
    "mounted": "alone(); mount(there); fill(there)",
    "open and unmounted": "alone(); mount(there); os.chdir(there); call('umount2', there, 2); fill(b'.')",
    "unlinked and unmounted": (
        "alone(); mount(there); os.chdir(there); held = [open(str(number), 'wb', buffering=0) for number in range(4)]\n"
        "for number in range(4): os.unlink(str(number))\n"
        "os.chdir('/'); call('umount2', there, 2)\n"
        "for stream in held: stream.write(bytes(40 << 20))"
    ),
    "in a child": "if os.fork() == 0:\n    alone(); mount(there); fill(there); time.sleep(30)\nos.wait()",
    "of a thread": (
        "import threading\nalone()\n"
        "def work():\n    call('unshare', 0x20000); mount(there); fill(there); time.sleep(30)\n"
        "threading.Thread(target=work).start()"
    ),
}
if os.uname().machine == "x86_64":  # elsewhere the kernel does not tell
    COUNTED |= {
        "covered": "alone(); mount(there); fill(there); mount(there)",
        "covered, with a limit": "alone(); mount(there, options=b'size=900m'); fill(there); mount(there)",
        "locked away": "alone(); mount(b'/tmp/p/q'); fill(b'/tmp/p/q'); os.chmod('/tmp/p', 0)",
    }
ENDED = {
    "without a limit": "alone(); mount(there, options=b'size=0'); fill(there, 1)",
    "of another kind": "alone(); mount(there, b'ramfs'); fill(there, 1)",
    "of another kind, unmounted": "alone(); mount(there, b'ramfs'); os.chdir(there); call('umount2', there, 2)",
    "where nobody lives": (
        "child = os.fork()\nif child == 0:\n    alone(); mount(there); fill(there, 1); time.sleep(1); os._exit(0)\n"
        "time.sleep(0.5); held = os.open(f'/proc/{child}/ns/mnt', os.O_RDONLY); os.wait()"
    ),
}


@pytest.mark.parametrize("how", COUNTED)
def test_memory_that_is_mounted_counts_as_disk(interpreter: Interpreter, how: str) -> None:
    finished = nested(interpreter, f"{ALONE}\n{COUNTED[how]}\ntime.sleep(20)")
    assert finished.ended == "disk-limit", finished
    assert finished.disk_used > 64 * MiB


@pytest.mark.slow
@pytest.mark.parametrize("how", ENDED)
def test_what_cannot_be_measured_ends_the_program(interpreter: Interpreter, how: str) -> None:
    finished = nested(interpreter, f"{ALONE}\n{ENDED[how]}\ntime.sleep(20)")
    assert (finished.ended, finished.excess) == ("killed", "file systems of its own whose size cannot be told"), (
        finished
    )


@pytest.mark.slow
def test_a_file_without_a_name_that_is_mounted_ends_the_program(interpreter: Interpreter, tmp_path: Path) -> None:
    code = "open('f', 'w').close(); open('g', 'w').close(); alone(); call('mount', b'f', b'g', None, 4096, None)"
    finished = nested(interpreter, f"{ALONE}\n{code}\nos.unlink('f')\ntime.sleep(20)", workspace=tmp_path)
    assert finished.excess, finished


@pytest.mark.slow
def test_sandboxes_as_bubblewrap_makes_them_are_measured(interpreter: Interpreter, tmp_path: Path) -> None:
    bubblewrap = [
        *(str(shutil.which("bwrap")), "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user"),
        *(
            "--unshare-pid",
            "--tmpfs",
            "/tmp",
            "--perms",
            "000",
            "--tmpfs",
            "/tmp/empty",
            "--bind",
            "/tmp",
            "/tmp",
            "--tmpfs",
            "/sandbox/tmp",
            "--ro-bind-data",
        ),
    ]
    code = f"""
read, write = os.pipe()
os.write(write, b"x"); os.close(write)
command = {bubblewrap} + [str(read), "/sandbox/tmp/data", "sh", "-c", "cat /sandbox/tmp/data; sleep 4"]
subprocess.run(command, pass_fds=[read], check=True)
"""
    finished = nested(interpreter, ALONE + code, workspace=tmp_path)
    assert (finished.ended, finished.exit_code, finished.stdout) == ("exited", 0, b"x"), finished
