"""What does not work here is said with the one thing to type, from what bubblewrap prints and what machine it is."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import probe
from pytest_toolgate.sandbox.identity import is_root
from pytest_toolgate.sandbox.probe import Machine, remedy, remedy_of_landlock, this_machine

from .elsewhere import WHO, somebody

NO_PERMISSION = (
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
    "namespaces. See <https://deb.li/bubblewrap> or <file:///usr/share/doc/bubblewrap/README.Debian.gz>."
)
NO_MORE = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)"
NO_KERNEL = (
    "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.  bwrap must be "
    "installed setuid on such systems."
)
NOT_PERMITTED = "bwrap: Creating new namespace failed: Operation not permitted"
UID_MAP = "bwrap: setting up uid map: Permission denied"
LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
PROC = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
SLAVE = "bwrap: Failed to make / slave: Permission denied"
CAPABILITIES = "bwrap: Unexpected capabilities but not setuid, old file caps config?"
OPTION = "bwrap: Unknown option --disable-userns"

UBUNTU = {"kernel/apparmor_restrict_unprivileged_userns": "1", "user/max_user_namespaces": "127000"}
DEBIAN = {"kernel/unprivileged_userns_clone": "0", "user/max_user_namespaces": "127000"}
RED_HAT = {"user/max_user_namespaces": "0"}
FEDORA = {"user/max_user_namespaces": "127000"}

SYSCTL = "type: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
PROFILE = "type: sudo apt-get install apparmor-profiles && sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns"
DOCKER = "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths="
DOCKER_ROOT = "docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN"


@pytest.mark.parametrize(
    ("complaint", "machine", "advice"),
    [
        pytest.param(UID_MAP, Machine(sysctls=UBUNTU), PROFILE, id="Ubuntu 24.04"),
        pytest.param(LOOPBACK, Machine(sysctls=UBUNTU), PROFILE, id="Ubuntu 24.04, with a profile that is too strict"),
        pytest.param(UID_MAP, Machine(github=True, sysctls=UBUNTU), SYSCTL, id="a runner of GitHub"),
        pytest.param(
            UID_MAP,
            Machine(container=True, sysctls=UBUNTU),
            "type, on the host of this container: sudo sysctl -w kernel.apparmor",
            id="a container on Ubuntu 24.04",
        ),
        pytest.param(NO_PERMISSION, Machine(container=True, sysctls=UBUNTU), DOCKER, id="Docker on Ubuntu"),
        pytest.param(NO_PERMISSION, Machine(container=True, sysctls=FEDORA), DOCKER, id="Docker"),
        pytest.param(PROC, Machine(container=True), DOCKER, id="Docker with masked paths"),
        pytest.param(SLAVE, Machine(container=True), DOCKER, id="Docker with its AppArmor profile"),
        pytest.param(NOT_PERMITTED, Machine(root=True, container=True), DOCKER_ROOT, id="Docker as root"),
        pytest.param(NOT_PERMITTED, Machine(root=True), "SYS_ADMIN and NET_ADMIN", id="root without capabilities"),
        pytest.param(
            NO_PERMISSION,
            Machine(sysctls=DEBIAN),
            "type: sudo sysctl -w kernel.unprivileged_userns_clone=1",
            id="Debian 10, Arch with linux-hardened",
        ),
        pytest.param(
            NO_MORE, Machine(sysctls=RED_HAT), "type: sudo sysctl -w user.max_user_namespaces=15000", id="Red Hat 7"
        ),
        pytest.param(NO_MORE, Machine(sysctls=FEDORA), "user.max_user_namespaces=15000", id="all in use"),
        pytest.param(NO_MORE, Machine(container=True), "user.max_user_namespaces=15000", id="none left in a container"),
        pytest.param(NO_KERNEL, Machine(), "CONFIG_USER_NS", id="a kernel without user namespaces"),
        pytest.param(NO_PERMISSION, Machine(sysctls=FEDORA), "must be permitted for this user", id="SELinux"),
        pytest.param(CAPABILITIES, Machine(), "setpriv --ambient-caps -all", id="ambient capabilities"),
        pytest.param(OPTION, Machine(), "bubblewrap 0.8 or newer", id="an old bubblewrap"),
        pytest.param("", Machine(), "it gave no reason", id="silence"),
    ],
)
def test_the_remedy_for_what_is_printed(complaint: str, machine: Machine, advice: str) -> None:
    sentence = remedy(f"some warning\n{complaint}\n" if complaint else "", machine)
    assert advice in sentence
    assert complaint.removesuffix(".") in sentence
    assert "\n" not in sentence
    assert sentence.endswith("or, with less isolation, set `sandbox: landlock` or `sandbox: none`")


ASK = """
from pytest_toolgate.sandbox import SandboxError, probe
try:
    probe()
except SandboxError as error:
    print(error)
"""


def test_namespaces_really_run_out() -> None:
    around = ("unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh")
    with somebody("self") as user:
        command = [*around, sys.executable, "-c", ASK]
        done = subprocess.run(command, env=user.environment(), stdout=subprocess.PIPE, check=True, timeout=60)
    sentence = done.stdout.decode()
    assert "(ENOSPC)); type: sudo sysctl -w user.max_user_namespaces=15000; or," in sentence


@pytest.mark.parametrize("who", WHO)
def test_namespaces_are_really_refused(who: str) -> None:
    with somebody(who) as user:
        command = user.command(sys.executable, "-c", ASK)
        done = subprocess.run(command, env=user.environment(), stdout=subprocess.PIPE, check=True, timeout=60)
    # Distributions word it differently.
    assert "new namespace" in done.stdout.decode()
    assert "; or, with less isolation, set `sandbox: landlock`" in done.stdout.decode()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_capabilities_really_in_the_way() -> None:
    source = "import os, sys; from sandbox import deprived; deprived.open_up(); os.execvp(sys.argv[1], sys.argv[1:])"
    keep = ("setpriv", "--inh-caps", "+chown", "--ambient-caps", "+chown", "--reuid", "65533", "--clear-groups")
    with somebody("65533") as user:
        environment = dict(user.environment())
        environment["PYTHONPATH"] += f":{Path(__file__).parents[1]}"
        command = [sys.executable, "-c", source, *keep, sys.executable, "-c", ASK]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=60)
    assert "Unexpected capabilities" in done.stdout.decode()
    assert "setpriv --ambient-caps -all" in done.stdout.decode()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_masked_paths_of_a_container_are_really_in_the_way() -> None:
    """Docker covers parts of /proc, and the kernel then gives a user namespace no fresh one."""
    mask = 'mount -t tmpfs none /proc/fs; exec setpriv --reuid 65533 --clear-groups "$@"'
    with somebody("65533") as user:
        bubblewrap = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", mask, "sh", *bubblewrap],
            env=user.environment(),
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr.decode().strip() == PROC


def test_an_option_that_bubblewrap_does_not_know() -> None:
    done = subprocess.run(["bwrap", "--no-such", "true"], stderr=subprocess.PIPE, check=False)
    assert "bubblewrap 0.8 or newer" in remedy(done.stderr.decode(), Machine())


def test_a_missing_bubblewrap_is_installed_by_what_the_system_has(tmp_path: Path) -> None:
    source = """
import json
from pathlib import Path
from pytest_toolgate.sandbox import SandboxError
import sys, pytest_toolgate.sandbox.probe
module = sys.modules["pytest_toolgate.sandbox.probe"]  # the package has a function of that name
module._SYSTEM_COPY = Path("/nowhere/bwrap")
try:
    module.probe()
except SandboxError as error:
    print(json.dumps(str(error)))
"""
    for tool, install in {"dnf": "dnf install", "pacman": "pacman -S", "apk": "apk add", "": "apt-get install"}.items():
        folder = tmp_path / (tool or "none")
        folder.mkdir()
        if tool:
            (folder / tool).write_text("#!/bin/sh\n")
            (folder / tool).chmod(0o755)
        environment = {"PATH": str(folder), "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run([sys.executable, "-c", source], env=environment, stdout=subprocess.PIPE, check=True)
        sentence = json.loads(done.stdout)
        assert f"which is not installed; type: sudo {install} bubblewrap; or, with less isolation" in sentence


def test_this_machine_is_described() -> None:
    machine = this_machine()
    assert machine.root == is_root()
    assert all(value.isdigit() for value in machine.sysctls.values())


def test_none_needs_nothing() -> None:
    probe("none")


@pytest.mark.parametrize(
    ("abi", "says"),
    [
        (5, "it has version 5"),
        (-errno.ENOSYS, "it has none"),
        (-errno.EOPNOTSUPP, "boot with `landlock` in the kernel's parameter `lsm=`"),
        (-errno.EPERM, "does a container forbid it"),
    ],
)
def test_what_landlock_lacks_is_said_in_one_sentence(abi: int, says: str) -> None:
    sentence = remedy_of_landlock(abi)
    assert sentence is not None
    assert says in sentence
    assert "came with Linux 6.12" in sentence


def test_landlock_with_all_that_is_needed() -> None:
    assert remedy_of_landlock(6) is None
    assert remedy_of_landlock(9) is None


def test_a_kernel_that_hides_landlock_is_really_told() -> None:
    """The system call answers ENOSYS, as under a container's older filter."""
    source = """
import ctypes, struct
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50000 | 38), (6, 0, 0, 0x7FFF0000)]
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(Program(4, b"".join(struct.pack("<HBBI", *s) for s in code))), 0, 0) == 0
from pytest_toolgate.sandbox import SandboxError, probe
try:
    probe("landlock")
except SandboxError as error:
    print(error)
"""
    with somebody("self") as user:
        done = subprocess.run(
            [sys.executable, "-c", source], env=user.environment(), stdout=subprocess.PIPE, check=True
        )
    assert done.stdout.startswith(b"The tier `landlock` needs version 6 of the kernel's Landlock")
