"""A program of somebody else's in place of a script: its network, its one way out, its time, and what it may call."""

import shutil
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.sandbox import Finished, Interpreter, Job, Limits, Program, SandboxError, inspect_interpreter, run

LIMITS = Limits(wall=20.0, processes=64)


class Echo:
    """A door behind which everything is told back."""

    def __init__(self) -> None:
        self.waited = 0.0
        self.closed = False
        self.listener: socket.socket | None = None

    def open(self, listener: socket.socket) -> None:
        self.listener = listener
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        assert self.listener is not None
        connection, _ = self.listener.accept()
        with connection:
            connection.sendall(connection.recv(100))


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    return inspect_interpreter(Path(sys.executable), ())


@pytest.fixture
def door() -> Echo:
    return Echo()


def python(
    interpreter: Interpreter,
    door: Echo,
    code: str,
    *,
    nested: bool = False,
    limits: Limits = LIMITS,
    **job: Any,  # noqa: ANN401
) -> Finished:
    program = Program((str(interpreter.python), "-c", code), door, files={".agent/settings": b"quiet"}, nested=nested)
    return run(Job(interpreter, b"", limits=limits, program=program, **job))


def said(finished: Finished) -> str:
    assert finished.exit_code == 0, finished.stderr.decode()
    return finished.stdout.decode().strip()


def test_it_has_one_way_out(interpreter: Interpreter, door: Echo) -> None:
    code = """
import os, socket
with socket.create_connection(("127.0.0.1", 8080), 5) as connection:
    connection.sendall(b"hello")
    print(connection.recv(100))
for address in (("127.0.0.1", PORT), ("10.0.0.1", 80), ("1.1.1.1", 53)):
    try:
        socket.create_connection(address, 2)
    except OSError:
        continue
    print("reached", address)
print(sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys/class/net") else socket.if_nameindex())
print(sorted(os.listdir("/proc/self/fd")), open(os.path.expanduser("~/.agent/settings")).read())
"""
    with socket.create_server(("127.0.0.1", 0)) as outside:
        finished = python(interpreter, door, code.replace("PORT", str(outside.getsockname()[1])))
    assert said(finished) == "b'hello'\n[(1, 'lo')]\n['0', '1', '2', '3'] quiet"  # the fourth looks at the list


CALLS = """
import ctypes, socket, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    getattr(libc, name)(*arguments)
    return ctypes.get_errno() != 1
def family(number):
    try:
        socket.socket(number, socket.SOCK_RAW if number == 17 else socket.SOCK_DGRAM).close()
    except PermissionError:
        return False
    except OSError:
        return True
    return True
def netlink(protocol):
    try:
        socket.socket(16, socket.SOCK_RAW, protocol).close()
    except PermissionError:
        return False
    return True
print(netlink(0), netlink(12), netlink(15), end=" ")  # interfaces and routes, netfilter, events of the kernel
families = [family(number) for number in (1, 2, 10, 16, 17, 38, 40)]
print(families, call("unshare", 0x10000000), call("ptrace", 0, 0, 0, 0), call("memfd_create", b"x", 0))
"""


def test_what_it_may_call_depends_on_whether_it_makes_sandboxes(interpreter: Interpreter, door: Echo) -> None:
    # Its own machine, IPv4, IPv6 and the names of interfaces; no raw packets, no kernel's ciphers, no other machines.
    families = [True, True, True, True, False, False, False]
    assert said(python(interpreter, door, CALLS)) == f"True False False {families} False False False"
    assert said(python(interpreter, Echo(), CALLS, nested=True)) == f"True False False {families} True False False"


def test_what_its_own_sandbox_writes_to_memory_is_counted(interpreter: Interpreter, door: Echo) -> None:
    bubblewrap = shutil.which("bwrap")
    inner = "for name in a b c d e; do dd if=/dev/zero of=/dev/$name bs=1M count=60; done; sleep 5"
    code = f"""
import subprocess
print(subprocess.run(["{bubblewrap}", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user", "sh", "-c", "{inner}"]))
"""
    limits = Limits(wall=20.0, processes=64, disk=100 << 20)
    finished = python(interpreter, door, code, nested=True, limits=limits)
    assert finished.ended == "disk-limit", finished
    assert 100 << 20 < finished.disk_used < 400 << 20


SENT = """
import os, socket, time
pairs = []
for _ in range(20):
    file = os.open("f", os.O_RDWR | os.O_CREAT)
    os.unlink("f")
    os.write(file, bytes(8 << 20))
    pairs.append(socket.socketpair())
    socket.send_fds(pairs[-1][0], [b"."], [file])
    os.close(file)
time.sleep(5)
"""


def test_files_on_the_way_through_sockets_are_counted(interpreter: Interpreter, door: Echo, tmp_path: Path) -> None:
    limits = Limits(wall=20.0, processes=64, disk=32 << 20)
    finished = python(interpreter, door, SENT, limits=limits, workspace=tmp_path)
    assert finished.ended == "disk-limit", finished


def test_what_others_write_beside_its_workspace_is_not_its_own(
    interpreter: Interpreter, door: Echo, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    code = f"""
import os, socket, time
pair = socket.socketpair()
file = os.open("f", os.O_RDWR | os.O_CREAT)
os.write(file, bytes({1 << 20}))
time.sleep(1.5)
"""
    others = threading.Timer(0.5, (tmp_path / "others").write_bytes, [bytes(64 << 20)])
    others.start()
    finished = python(
        interpreter, door, code, limits=Limits(wall=20.0, processes=64, disk=16 << 20), workspace=workspace
    )
    others.join()
    assert (finished.ended, finished.exit_code) == ("exited", 0), finished


def test_what_holds_it_up_prolongs_its_time(interpreter: Interpreter, door: Echo) -> None:
    begun = time.monotonic()
    door.waited = 1.5
    assert (
        said(python(interpreter, door, "import time; time.sleep(1.5); print('done')", limits=Limits(wall=1.0)))
        == "done"
    )
    assert python(interpreter, Echo(), "import time; time.sleep(60)", limits=Limits(wall=1.0)).ended == "timeout"
    assert time.monotonic() - begun < 30


def test_it_ends_when_its_door_is_closed(interpreter: Interpreter, door: Echo) -> None:
    threading.Timer(1.0, lambda: setattr(door, "closed", True)).start()
    begun = time.monotonic()
    finished = python(interpreter, door, "import time; time.sleep(60)")
    assert time.monotonic() - begun < 15
    assert (finished.ended, finished.exit_code) != ("timeout", None)


def test_one_that_cannot_be_started_is_said_so(interpreter: Interpreter, door: Echo) -> None:
    with pytest.raises(SandboxError, match="/usr/bin/nothing could not be started"):
        run(Job(interpreter, b"", limits=LIMITS, program=Program(("/usr/bin/nothing",), door)))


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a\0b", "", "."])
def test_its_files_lie_below_its_home(name: str) -> None:
    with pytest.raises(ValueError, match="below its home"):
        Program(("/bin/true",), Echo(), files={name: b""})


@pytest.mark.parametrize("command", [(), ("true",), ("./true",)])
def test_it_is_started_by_its_path(command: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="path of its executable"):
        Program(command, Echo())


OTHERS: Mapping[str, Mapping[str, Any]] = {
    "a script": {"script": b"print()"},
    "without namespaces": {"tier": "landlock"},
    "without anything": {"tier": "none"},
}


@pytest.mark.parametrize("what", OTHERS)
def test_it_takes_the_place_of_a_script_in_one_tier(interpreter: Interpreter, what: str) -> None:
    with pytest.raises(ValueError, match="in the tier `bubblewrap`"):
        Job(**{"interpreter": interpreter, "script": b"", "program": Program(("/bin/true",), Echo()), **OTHERS[what]})
