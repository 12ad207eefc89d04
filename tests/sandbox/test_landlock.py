"""The tier `landlock` keeps scripts from the machine where no namespace can be had, for root and for ordinary users."""

import errno
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Interpreter, SandboxError
from pytest_toolgate.sandbox.inside.confine import landlock_abi
from pytest_toolgate.sandbox.profile import grants
from pytest_toolgate.sandbox.seccomp import program

from .conftest import text
from .elsewhere import USER, WHO, Elsewhere, somebody


def abi() -> int:
    try:
        return landlock_abi()
    except OSError:
        return 0


needs_landlock = pytest.mark.skipif(abi() < 6, reason="needs version 6 of Landlock")
pytestmark = needs_landlock


@pytest.fixture(params=WHO)
def user(request: pytest.FixtureRequest) -> Iterator[Elsewhere]:
    with somebody(request.param) as found:
        yield found


def test_a_script_runs_and_its_tools_are_recorded(user: Elsewhere) -> None:
    finished = user.run(
        "import json, numpy, subprocess\nprint(json.load(open('problem.json')), numpy.ones(3).sum(), flush=True)\n"
        "subprocess.run('echo x > made; cat made', shell=True, check=True)",
        tier="landlock",
        files={"problem.json": b"[1]"},
        watch=("numpy",),
    )
    assert text(finished) == "[1] 3.0\nx\n"
    assert (finished.tier, finished.used, finished.stderr) == ("landlock", ("numpy",), b"")


def test_nothing_of_the_machine_can_be_opened_but_what_the_profile_names(user: Elsewhere) -> None:
    canary = user.home / "candidate.yaml"
    canary.write_text("answer: B")
    listed = ["/", "/etc", "/home", "/root", "/tmp", "/var", "/dev", "/dev/shm", "/proc", str(user.home)]
    read = [str(canary), "/etc/passwd", "/etc/hostname", "/proc/1/cmdline", "/proc/mounts", "/proc/self/../1/status"]
    finished = user.run(
        f"""
        import os
        def attempt(what, path):
            try:
                what(path)
                print(path)
            except PermissionError:
                pass
        for path in {listed}:
            attempt(os.listdir, path)
        for path in {read}:
            attempt(lambda path: open(path).read(), path)
        """,
        tier="landlock",
    )
    assert text(finished) == "/proc/mounts\n"  # that is a link into the script's own entry: its own view


def test_other_processes_keep_their_environment_and_command_line_to_themselves(user: Elsewhere) -> None:
    neighbour = subprocess.Popen(
        user.command("/bin/sleep", "60"), env={**user.environment(), "CANARY_KEY": "sk-canary"}
    )
    try:
        finished = user.run(
            f"""
            import os
            for name in ("environ", "cmdline", "status", "maps", "mem", "stat", "fd", "exe", "cwd"):
                path = f"/proc/{neighbour.pid}/{{name}}"
                for attempt in (lambda: open(path).read(1), lambda: os.listdir(path), lambda: os.readlink(path)):
                    try:
                        print(name, attempt())
                    except OSError:
                        pass
            print(os.path.exists("/proc/{neighbour.pid}"))
            """,
            tier="landlock",
        )
    finally:
        neighbour.kill()
        neighbour.wait()
    assert text(finished) == "True\n"  # that it exists is not hidden


def test_nothing_outside_its_own_directory_can_be_written_or_changed(user: Elsewhere) -> None:
    canary = user.home / "canary"
    for path in (canary, user.home / "other"):
        path.write_text("as it was")
        user.give(path)
    before = canary.stat()
    finished = user.run(
        f"""
        import os, shutil, sys
        canary, home = {str(canary)!r}, {str(user.home)!r}
        attempts = [
            lambda: open(canary, "a"), lambda: open(home + "/new", "w"), lambda: os.unlink(canary),
            lambda: os.mkdir(home + "/folder"), lambda: os.symlink("/", home + "/link"), lambda: os.truncate(canary, 0),
            lambda: os.rename(canary, home + "/renamed"), lambda: os.link(canary, "linked"),
            lambda: os.rename("solution.py", home + "/moved"), lambda: os.mkfifo(home + "/fifo"),
            lambda: open("/tmp/toolgate-planted", "w"), lambda: open("/var/tmp/toolgate-planted", "w"),
            lambda: open(sys.prefix + "/planted", "w"), lambda: os.mknod("device", 0o20600, os.makedev(1, 3)),
        ]
        for number, attempt in enumerate(attempts):
            try:
                attempt()
                print(number)
            except OSError:  # of a move out of its directory the kernel says that these are two devices
                pass
        # These are done as if.
        os.chmod(canary, 0); os.chmod(home, 0o777); os.utime(canary, (0, 0)); os.chown(canary, 1, 1)
        os.setxattr(canary, "user.x", b"1"); os.chmod(sys.executable, 0)
        shutil.copy2("solution.py", "copied")
        """,
        tier="landlock",
    )
    assert text(finished) == ""
    assert canary.read_text() == "as it was"
    after = canary.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)
    assert sorted(path.name for path in user.home.iterdir()) == ["canary", "other"]
    assert user.home.stat().st_mode & 0o777 == 0o755
    assert not os.listxattr(canary)
    assert os.access(sys.executable, os.X_OK)


def test_nobody_outside_is_signalled(user: Elsewhere) -> None:
    neighbour = subprocess.Popen(user.command("/bin/sleep", "60"), env=user.environment())
    try:
        finished = user.run(
            f"""
            import os, signal
            for pid in ({neighbour.pid}, os.getppid()):
                for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, 0):
                    try:
                        os.kill(pid, number)
                        print(pid, number)
                    except (PermissionError, ProcessLookupError):
                        pass
            import ctypes
            print(ctypes.CDLL(None).sched_setaffinity({neighbour.pid}, 8, bytes([1] + [0] * 7)))
            """,
            tier="landlock",
        )
        assert text(finished) == "-1\n"
        assert neighbour.poll() is None
    finally:
        neighbour.kill()
        neighbour.wait()


def test_a_listener_on_the_host_hears_nothing(user: Elsewhere) -> None:
    name = f"\0toolgate-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(name)
        abstract.listen()
        finished = user.run(
            f"""
            import socket
            for attempt in (lambda: socket.create_connection({server.getsockname()!r}, timeout=5),
                            lambda: socket.socket(socket.AF_UNIX).connect({name!r}),
                            lambda: socket.getaddrinfo("example.org", 80)):
                try:
                    attempt()
                    print("connected")
                except OSError:
                    pass
            """,
            tier="landlock",
        )
        assert text(finished) == ""
        for listener in (server, abstract):
            listener.settimeout(0.1)
            with pytest.raises(TimeoutError):
                listener.accept()


def test_landlock_alone_refuses_connections_too() -> None:
    """The filter refuses sockets first; without it the second lock must hold."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = (
            "import socket, sys\nfrom pytest_toolgate.sandbox.inside.confine import restrict, _libc\n"
            "_libc().prctl(38, 1, 0, 0, 0)\nrestrict({})\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])))"
        )
        done = subprocess.run(
            [sys.executable, "-c", source, str(server.getsockname()[1])], capture_output=True, check=False
        )
    assert b"PermissionError" in done.stderr


DAEMON = """
    import os, time
    for _ in range(3):
        if os.fork():
            {end}
        os.setsid()
    open("alive", "w").write(str(os.getpid()))
    while True:
        time.sleep(1)
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "time.sleep(0.3); print('ANSWER: 1', flush=True); os._exit(0)"])
@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_a_daemon_does_not_survive(user: Elsewhere, tier: str, end: str) -> None:
    mark = uuid.uuid4().hex
    finished = user.run(DAEMON.format(end=end), tier=tier, env={"MARK": mark})
    assert (finished.ended, finished.exit_code) == ("exited", 0)
    assert running(mark) == []


def running(mark: str) -> list[str]:
    """Processes of the machine with this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_limits_hold(user: Elsewhere, tier: str) -> None:
    block = "x = bytearray(400 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nimport time; time.sleep(30)"
    assert user.run(block, tier=tier, memory=200 << 20).ended == "memory-limit"
    many = "for n in range(40):\n    open(str(n), 'wb').write(bytes(1 << 20))\nimport time; time.sleep(30)"
    assert user.run(many, tier=tier, disk=20 << 20).ended == "disk-limit"
    assert user.run("import time; time.sleep(60)", tier=tier, wall=1.0).ended == "timeout"
    assert user.run("while True: print('x' * 1000)", tier=tier, stdout=100_000).ended == "output-limit"


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_a_fork_bomb_ends_with_its_run(user: Elsewhere, tier: str) -> None:
    mark = uuid.uuid4().hex
    bomb = """
        import os, time
        for _ in range(9):  # 512 processes, if nobody stops them
            try:
                os.fork()
                {leave}
            except OSError:
                break
        time.sleep(60)
    """
    for leave in ("pass", "os.setpgid(0, 0)"):
        finished = user.run(bomb.replace("{leave}", leave), tier=tier, processes=20, env={"MARK": mark}, wall=5.0)
        # The kernel keeps count for root's scripts in `landlock`, which have an id each; elsewhere the supervisor does.
        by_kernel = user.who == "root" and tier == "landlock"
        assert (finished.ended, finished.signal) == (("timeout", None) if by_kernel else ("killed", 9))
        assert running(mark) == []


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_other_processes_of_the_user_do_not_count(user: Elsewhere, tier: str) -> None:
    others = [subprocess.Popen(user.command("/bin/sleep", "60"), env=user.environment()) for _ in range(12)]
    try:
        finished = user.run(
            "import subprocess; print(subprocess.run(['echo', 'ok'], capture_output=True).stdout)",
            tier=tier,
            processes=8,
        )
        assert text(finished) == "b'ok\\n'\n"
        assert [other.poll() for other in others] == [None] * 12
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_the_processes_of_the_user_survive_the_end_of_a_run(user: Elsewhere) -> None:
    """What ends a run signals its own descendants and nobody else."""
    neighbour = subprocess.Popen(user.command("/bin/sleep", "60"), env=user.environment())
    try:
        user.run("import os, time\nos.fork()\ntime.sleep(60)", tier="landlock", wall=1.0)
        assert Path(f"/proc/{neighbour.pid}/stat").read_text().rpartition(")")[2].split()[0] in "SR"
    finally:
        neighbour.kill()
        neighbour.wait()


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_a_workspace_outlives_its_runs(user: Elsewhere, tier: str) -> None:
    workspace = user.home / "workspace"
    workspace.mkdir()
    user.give(workspace)
    first = user.run("import os; open('kept', 'w').write('1'); print(os.getcwd())", tier=tier, workspace=workspace)
    second = user.run(
        "import sys; sys.path[0:0] = []\nimport beside\nprint(open('kept').read(), beside.x)",
        tier=tier,
        workspace=workspace,
        files={"beside.py": b"x = 2"},
    )
    assert text(first) == f"{workspace}\n"
    assert text(second) == "1 2\n"
    assert (workspace / "kept").read_text() == "1"


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_the_private_directory_is_private_and_goes(user: Elsewhere, tier: str) -> None:
    place = text(user.run("import os; print(os.getcwd(), oct(os.stat('../..').st_mode))", tier=tier)).split()
    room = Path(place[0]).parents[1]
    assert room.name.startswith("toolgate-room-")
    assert place[1] == "0o40700"
    assert not room.exists()


@pytest.mark.parametrize("tier", ["landlock", "none"])
def test_nothing_is_left_when_the_runner_is_killed(user: Elsewhere, tier: str) -> None:
    mark = uuid.uuid4().hex
    where = user.home / "where"
    where.mkdir()
    user.give(where)
    runner = user.start(
        "import os, time\nopen('made', 'w').write('x')\nos.mkdir('closed', 0)\nopen('ready', 'w')\n"
        "os.fork()\ntime.sleep(60)",
        tier=tier,
        env={"MARK": mark},
    )
    room = wait_for_room(mark)
    assert Path(f"{room}/sandbox/work/ready").exists()
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    assert runner.stdout is not None
    runner.stdout.close()
    give_up = time.monotonic() + 20
    while (running(mark) or room.exists()) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert running(mark) == []
    assert not room.exists()


def wait_for_room(mark: str) -> Path:
    """The private directory of a run whose script has got as far as to say that it is ready."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        for pid in running(mark):
            try:
                work = Path(f"/proc/{pid}/cwd").readlink()
            except OSError:
                continue
            if (work / "ready").exists():
                return work.parents[1]
        time.sleep(0.05)
    raise AssertionError("the script did not start")


HOST_CALLS = {
    "shmat": "libc.syscall(30 if x86 else 196, 0, 0, 0)",
    "msgrcv": "libc.syscall(70 if x86 else 188, 0, 0, 0, 0, 0)",
    "semctl": "libc.syscall(66 if x86 else 191, 0, 0, 16, 0)",
    "mq_open": "libc.syscall(240 if x86 else 180, b'x', 0)",
    "inotify": "libc.inotify_init1(0)",
    "flags": "libc.ioctl(0, 0x40086602, bytes(8))",
    "verity": "libc.ioctl(0, 0x40806685, bytes(128))",
    "socket": "libc.socket(2, 1, 0)",
    "unshare": "libc.unshare(0x10000000)",
    "ptrace": "libc.ptrace(16, os.getppid(), 0, 0)",
    "limits": "libc.prlimit(os.getppid(), 7, ctypes.byref((ctypes.c_ulong * 2)(1, 1)), 0)",
}


def test_dangerous_system_calls_are_refused(user: Elsewhere) -> None:
    calls = "\n".join(f"print({name!r}, {call}, ctypes.get_errno())" for name, call in HOST_CALLS.items())
    finished = user.run(
        "import ctypes, os, platform\nx86 = platform.machine() == 'x86_64'\n"
        f"libc = ctypes.CDLL(None, use_errno=True)\n{calls}",
        tier="landlock",
    )
    assert text(finished).splitlines() == [f"{name} -1 {errno.EPERM}" for name in HOST_CALLS]


def test_shared_memory_is_removed_and_not_listed(user: Elsewhere) -> None:
    name = f"toolgate-{uuid.uuid4().hex}"
    finished = user.run(
        f"""
        import os, time
        kept = open("/dev/shm/{name}", "wb")
        kept.write(bytes(1 << 20))
        kept.flush()
        try:
            os.listdir("/dev/shm")
            print("listed")
        except PermissionError:
            pass
        time.sleep(1.5)
        """,
        tier="landlock",
    )
    assert text(finished) == ""
    assert finished.disk_used > 1 << 20
    assert not Path(f"/dev/shm/{name}").exists()


def test_shared_memory_counts_as_disk(user: Elsewhere) -> None:
    name = f"toolgate-{uuid.uuid4().hex}"
    flood = f"""
        import time
        files = [open("/dev/shm/{name}-" + str(n), "wb") for n in range(8)]
        for file in files:
            file.write(bytes(8 << 20))
        time.sleep(30)
    """
    assert user.run(flood, tier="landlock", disk=24 << 20).ended == "disk-limit"
    assert not list(Path("/dev/shm").glob(f"{name}*"))


def test_no_privilege_is_left(user: Elsewhere) -> None:
    finished = user.run(
        """
        import os
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
        print(status["CapPrm"], status["CapEff"], status["CapAmb"], status["NoNewPrivs"], status["Seccomp"])
        print(os.getuid() != 0, os.getgroups() in ([], [os.getgid()]), sorted(map(int, os.listdir("/proc/self/fd"))))
        """,
        tier="landlock",
    )
    assert text(finished).splitlines() == [f"{'0' * 16} {'0' * 16} {'0' * 16} 1 2", "True True [0, 1, 2, 3]"]


def test_root_of_a_user_namespace_has_its_privileges_taken_too(tmp_path: Path) -> None:
    """Rootless containers: root in name, with every capability over the container."""
    source = Path(__file__).parent / "one_job.py"
    with somebody("self") as user:
        command = ["unshare", "-Ur", sys.executable, str(source)]
        script = b"print(open('/proc/self/status').read().split('CapEff:')[1].split()[0])"
        done = subprocess.run(
            command,
            env=user.environment(),
            input=pickle.dumps((script, {"wall": 60.0}, {"tier": "landlock"})),
            stdout=subprocess.PIPE,
            check=True,
        )
    finished = pickle.loads(done.stdout)
    assert text(finished) == "0" * 16 + "\n"


def test_what_is_hidden_within_what_must_be_seen_is_refused(tmp_path: Path, interpreter: Interpreter) -> None:
    environment = Interpreter(tmp_path / "bin" / "python", (tmp_path,), "3.12.1", {}, "CPython", {})
    (tmp_path / "project").mkdir()

    def granted(*hidden: Path) -> dict[str, list[str]]:
        return grants(environment, base=Path("/tmp/x"), workspace=None, hidden=hidden, record="/tmp/x/r")

    with pytest.raises(SandboxError, match="`landlock` can hide no part"):
        granted(tmp_path / "project")
    assert str(tmp_path) in granted(tmp_path.parent)["read"]
    assert str(tmp_path.parent) not in granted(tmp_path.parent)["read"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs scripts under another id")
def test_root_is_told_which_directory_is_closed(tmp_path: Path) -> None:
    with somebody("root") as user:
        closed = user.home / "closed"
        (closed / "workspace").mkdir(parents=True)
        closed.chmod(0o700)
        with pytest.raises(SandboxError, match=f"type: chmod o\\+x {closed}"):
            user.run("pass", tier="landlock", workspace=closed / "workspace")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_on_the_host_is_longer_and_fits_the_kernels_form(machine: str) -> None:
    code = program(machine, on_the_host=True)
    assert len(program(machine)) < len(code) < 8 * 4096


def test_none_runs_as_whoever_runs_it_with_a_clean_environment(user: Elsewhere) -> None:
    canary = user.home / "canary"
    canary.write_text("seen")
    finished = user.run(
        f"import os; print(os.getuid(), open({str(canary)!r}).read(), 'PYTHONPATH' in os.environ, os.environ['HOME'])",
        tier="none",
    )
    uid, seen, inherited, home = text(finished).split()
    assert uid == {"root": "0", USER: USER}.get(user.who, str(os.getuid()))
    assert (seen, inherited) == ("seen", "False")
    assert home.endswith("/sandbox/home")
    assert finished.tier == "none"
