"""What a script can see of the host: nothing but the system's software and its own interpreter."""

import os
import socket
import sys
from pathlib import Path

import pytest

from .conftest import Script, text


def test_a_file_of_the_host_does_not_exist(script: Script, tmp_path: Path) -> None:
    secret = tmp_path / "candidate.yaml"
    secret.write_text("answer: B")
    paths = [
        secret,
        tmp_path,
        Path(__file__),
        Path.home() / ".ssh",
        "/etc/shadow",
        "/etc/hostname",
        "/var",
        "/boot",
    ]
    finished = script(f"import os; print(*map(os.path.lexists, {[str(path) for path in paths]}))")
    assert set(text(finished).split()) == {"False"}


def test_the_root_holds_what_the_profile_names(script: Script) -> None:
    listed = set(text(script("import os; print(*os.listdir('/'))")).split())
    system = set("usr bin sbin lib lib32 lib64 libx32 etc sys proc dev run tmp sandbox".split())  # noqa: SIM905
    prefixes = {Path(prefix).resolve().parts[1] for prefix in (sys.prefix, sys.base_prefix)}
    assert listed <= system | prefixes | {Path(sys.executable).parts[1]}


def test_etc_holds_no_accounts_of_the_host(script: Script) -> None:
    output = text(
        script("print(open('/etc/passwd').read()); import getpass, pwd, os; print(pwd.getpwuid(os.getuid()))")
    )
    assert "/sandbox/home" in output
    assert "daemon" not in output


def test_the_environment_of_the_caller_stays_outside(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    finished = script("""
        import glob, os, subprocess
        print(dict(os.environ))
        print(subprocess.run(["env"], capture_output=True, text=True).stdout)
        for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
            try:
                print(path, open(path).read())
            except OSError as error:
                print(path, type(error).__name__)
    """)
    output = text(finished)
    assert "sk-canary" not in output
    assert "/proc/1/environ PermissionError" in output


def test_there_are_no_processes_but_its_own(script: Script) -> None:
    finished = script("import os; print(*[p for p in os.listdir('/proc') if p.isdigit()], os.getpid())")
    assert text(finished).split() == ["1", "2", "2"]


def test_the_first_process_keeps_its_memory_and_descriptors_to_itself(script: Script) -> None:
    finished = script("""
        import os, signal
        for attempt in (lambda: open("/proc/1/mem", "rb"), lambda: os.listdir("/proc/1/fd"),
                        lambda: open("/proc/1/maps").read(1)):
            try:
                attempt()
                print("open")
            except OSError as error:
                print("refused")
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM):
            os.kill(1, number)
        print("alive")
    """)
    assert text(finished).split() == ["refused"] * 3 + ["alive"]


def test_nothing_is_inherited_but_the_three_streams(script: Script, tmp_path: Path) -> None:
    with (tmp_path / "open").open("wb") as stream:
        os.set_inheritable(stream.fileno(), True)
        finished = script("import os; print(*sorted(map(int, os.listdir('/proc/self/fd'))))")
    assert text(finished).split() == ["0", "1", "2", "3"]  # the last is the listing's own


def test_stdin_is_closed(script: Script) -> None:
    assert text(script("import sys; print(repr(sys.stdin.read()))")) == "''\n"


@pytest.mark.parametrize("module", ["socket", "ctypes"])
def test_a_listener_on_the_host_hears_nothing(script: Script, module: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        direct = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5)"
        raw = f"""
            import ctypes, struct
            libc = ctypes.CDLL(None, use_errno=True)
            address = struct.pack("!4s", bytes([127, 0, 0, 1]))
            sockaddr = struct.pack("=H", 2) + struct.pack("!H", {port}) + address + bytes(8)
            descriptor = libc.socket(2, 1, 0)
            assert descriptor >= 0 and libc.connect(descriptor, sockaddr, 16) == 0
        """
        finished = script(direct if module == "socket" else raw)
        assert finished.exit_code == 1
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


def test_names_are_not_resolved(script: Script) -> None:
    finished = script("import socket; socket.getaddrinfo('example.org', 80)")
    assert finished.exit_code == 1


def test_sockets_of_every_family_are_refused(script: Script) -> None:
    finished = script("""
        import socket
        for family in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG"):
            try:
                socket.socket(getattr(socket, family), socket.SOCK_STREAM)
                print(family)
            except PermissionError:
                pass
        try:
            socket.socketpair()
            print("pair")
        except PermissionError:
            pass
    """)
    assert text(finished) == ""


def test_a_unix_socket_of_the_host_is_out_of_reach(script: Script, tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        finished = script(f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})")
    assert finished.exit_code == 1


def test_privileges_are_gone(script: Script) -> None:
    finished = script("""
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
        print(status["CapPrm"], status["CapEff"], status["CapAmb"], status["NoNewPrivs"], status["Seccomp"])
        import os
        print(os.getuid(), os.getgroups())
        try:
            os.setuid(0)
            print("root")
        except OSError:
            pass
    """)
    capabilities, identity = text(finished).splitlines()
    assert capabilities.split() == ["0" * 16] * 3 + ["1", "2"]
    assert not identity.startswith("0 ")


REFUSED = {
    "unshare": "libc.unshare(0x10000000)",
    "clone with a namespace": "libc.syscall(56 if x86 else 220, 0x10000011, 0, 0, 0, 0)",
    "mount": "libc.mount(b'none', b'/sandbox', b'tmpfs', 0, 0)",
    "chroot": "libc.chroot(b'/sandbox')",
    "ptrace": "libc.ptrace(0, 0, 0, 0)",
    "keyctl": "libc.syscall(250 if x86 else 219, 0, -3, 0, 0, 0)",
    "io_uring": "libc.syscall(425, 1, 0)",
    "memfd": "libc.memfd_create(b'x', 0)",
    "shmget": "libc.shmget(0, 4096, 0o1600)",
    "bpf": "libc.syscall(321 if x86 else 280, 0, 0, 0)",
    "perf": "libc.syscall(298 if x86 else 241, 0, 0, -1, -1, 0)",
    "userfaultfd": "libc.syscall(323 if x86 else 282, 0)",
    "process_vm_readv": "libc.process_vm_readv(1, 0, 0, 0, 0, 0)",
    "the terminal's input": "libc.ioctl(0, 0x5412, b'x')",
    "priority": "libc.setpriority(0, 0, 5)",
    "scheduling": "libc.sched_setscheduler(0, 5, ctypes.byref(ctypes.c_int(0)))",
    "scheduling, by attributes": "libc.syscall(314 if x86 else 274, 0, bytes(48), 0)",
    "priority at the disk": "libc.syscall(251 if x86 else 30, 1, 0, 0x6000)",
    "processors of the first process": "libc.sched_setaffinity(1, 8, bytes([1] + [0] * 7))",
    "limits of another": "libc.prlimit(1, 7, ctypes.byref((ctypes.c_ulong * 2)(1, 1)), 0)",
}


@pytest.mark.parametrize("call", REFUSED)
def test_dangerous_system_calls_are_refused(script: Script, call: str) -> None:
    finished = script(f"""
        import ctypes, platform
        x86 = platform.machine() == "x86_64"
        libc = ctypes.CDLL(None, use_errno=True)
        print({REFUSED[call]}, ctypes.get_errno())
    """)
    assert text(finished).split() == ["-1", "1"]


def test_processors_can_be_chosen_for_oneself(script: Script) -> None:
    assert text(script("import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); print('ok')")) == "ok\n"


def test_calls_of_a_foreign_architecture_do_not_exist(script: Script) -> None:
    finished = script("""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.syscall(0x40000000 + 41, 2, 1, 0), ctypes.get_errno())
    """)
    assert text(finished).split() == ["-1", "38"]
