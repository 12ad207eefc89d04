"""Find out, by running it, whether the chosen tier works here, and say what to type when it does not."""

import errno
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ..config.model import Tier
from .identity import is_root
from .inside.confine import landlock_abi
from .job import SandboxError

# The system's copy first: AppArmor profiles are tied to its path.
_SYSTEM_COPY: Final = Path("/usr/bin/bwrap")
_PATIENCE: Final = 60.0
_SYSCTLS: Final = Path("/proc/sys")
_APPARMOR: Final = "kernel/apparmor_restrict_unprivileged_userns"
_CLONE: Final = "kernel/unprivileged_userns_clone"
_MOST: Final = "user/max_user_namespaces"
_CONTAINER_MARKS: Final = (Path("/.dockerenv"), Path("/run/.containerenv"))
_INSTALLERS: Final = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
}
# Signals and abstract sockets are scoped from here on: without that, scripts that run at once reach each other.
_LEAST_ABI: Final = 6
_CHOICES: Final = "or, with less isolation, set `sandbox: landlock` or `sandbox: none`"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the remedy depends on.

    Attributes:
        root: Whether we are root and can become anybody.
        container: Whether this is a container.
        github: Whether this is a runner of GitHub Actions.
        sysctls: Path below /proc/sys -> value, for those that there are.
    """

    root: bool = False
    container: bool = False
    github: bool = False
    sysctls: Mapping[str, str] = MappingProxyType({})


def bubblewrap() -> Path:
    """Path of the bubblewrap to use.

    Raises:
        SandboxError: There is none; says how to install it.
    """
    found = _SYSTEM_COPY if os.access(_SYSTEM_COPY, os.X_OK) else shutil.which("bwrap")
    if found is None:
        installer = next((command for tool, command in _INSTALLERS.items() if shutil.which(tool)), "apt-get install")
        raise SandboxError(
            f"Scripts run in bubblewrap, which is not installed; type: sudo {installer} bubblewrap; {_CHOICES}"
        )
    return Path(found)


def probe(tier: Tier = "bubblewrap") -> None:
    """Try once what the tier needs; the outcome is remembered for the process.

    Raises:
        SandboxError: It is missing or refused here; the message holds the one command to type.
    """
    trouble: str | None = None
    if tier == "bubblewrap":
        trouble = _trouble_of_bubblewrap()
    elif tier == "landlock":
        trouble = _trouble_of_landlock()
    if trouble is not None:
        raise SandboxError(trouble)


@cache
def _trouble_of_bubblewrap() -> str | None:
    user = [] if is_root() else ["--unshare-user", "--disable-userns"]
    try:
        done = subprocess.run(
            [
                bubblewrap(), *user, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
                "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin"},
            timeout=_PATIENCE,
            check=False,
        )  # fmt: skip
    except SandboxError as error:
        return str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Bubblewrap could not be run: {error}."
    return None if done.returncode == 0 else remedy(done.stderr.decode("utf-8", "replace"), this_machine())


@cache
def _trouble_of_landlock() -> str | None:
    try:
        return remedy_of_landlock(landlock_abi())
    except OSError as error:
        return remedy_of_landlock(-(error.errno or errno.EPERM))


def this_machine() -> Machine:
    """The machine we are on."""
    values = {name: _sysctl(name) for name in (_APPARMOR, _CLONE, _MOST)}
    return Machine(
        root=is_root(),
        container=any(mark.exists() for mark in _CONTAINER_MARKS),
        github="GITHUB_ACTIONS" in os.environ,
        sysctls={name: value for name, value in values.items() if value is not None},
    )


def remedy(complaint: str, machine: Machine) -> str:
    """One sentence: what bubblewrap complained of last, what to do about it there, and what else can be chosen."""
    last = (complaint.strip().splitlines() or ["it gave no reason"])[-1]
    return f"Bubblewrap cannot build a sandbox here ({last.removesuffix('.')}); {_advice(last, machine)}; {_CHOICES}"


def _advice(last: str, machine: Machine) -> str:
    if "nknown option" in last:
        return "install bubblewrap 0.8 or newer, which Debian 12, Ubuntu 24.04 and Fedora 38 have"
    if "Unexpected capabilities" in last:
        return "give pytest no ambient capabilities; type: setpriv --ambient-caps -all --inh-caps -all pytest"
    if machine.root:
        return _advice_to_root(machine)
    if "ENOSPC" in last or machine.sysctls.get(_MOST) == "0":
        return "type: sudo sysctl -w user.max_user_namespaces=15000"
    if machine.sysctls.get(_CLONE) == "0":
        return "type: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    # A namespace that was made and gives no rights is AppArmor's doing, on the host of a container too.
    if machine.sysctls.get(_APPARMOR) == "1" and (not machine.container or _gives_no_rights(last)):
        if machine.github or machine.container:
            where = ", on the host of this container" if machine.container else ""
            return f"type{where}: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        return (
            "type: sudo apt-get install apparmor-profiles && sudo ln -s /usr/share/apparmor/extra-profiles/"
            "bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor"
        )
    if machine.container:
        return (
            "start the container with: docker run --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    if "does not support" in last or "not implemented" in last:
        return "a kernel with user namespaces (CONFIG_USER_NS) is needed"
    return "namespaces must be permitted for this user"


def _advice_to_root(machine: Machine) -> str:
    if machine.container:
        return (
            "start the container with: docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
        )
    return "root needs the capabilities SYS_ADMIN and NET_ADMIN for it, an ordinary user none"


def _gives_no_rights(last: str) -> bool:
    return any(words in last for words in ("uid map", "RTM_NEWADDR", "RTM_NEWLINK"))


def remedy_of_landlock(abi: int) -> str | None:
    """What is missing, in one sentence; None when nothing is.

    Args:
        abi: The kernel's version of Landlock, or the negative number of the error it gave instead.
    """
    if abi >= _LEAST_ABI:
        return None
    if abi == -errno.EOPNOTSUPP:
        missing = "it is switched off; boot with `landlock` in the kernel's parameter `lsm=`"
    elif abi == -errno.ENOSYS:
        missing = "it has none, or the container's seccomp profile hides it"
    elif abi < 0:
        missing = f"it answers {os.strerror(-abi)!r}; does a container forbid it?"
    else:
        missing = f"it has version {abi}"
    return (
        f"The tier `landlock` needs version {_LEAST_ABI} of the kernel's Landlock, which came with Linux 6.12, and in "
        f"{platform.release()} {missing}; use `sandbox: bubblewrap`, or `sandbox: none` where nothing can be lost"
    )


def _sysctl(name: str) -> str | None:
    try:
        return (_SYSCTLS / name).read_text("ascii").strip()
    except OSError:
        return None
