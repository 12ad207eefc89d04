"""Find out, by running it, whether bubblewrap works here, and say what to type when it does not."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from .identity import is_root
from .job import SandboxError

# The system's copy first: AppArmor profiles are tied to its path.
_SYSTEM_COPY: Final = Path("/usr/bin/bwrap")
_PATIENCE: Final = 60.0
_SYSCTLS: Final = Path("/proc/sys")
_CONTAINER_MARKS: Final = (Path("/.dockerenv"), Path("/run/.containerenv"))
_INSTALLERS: Final = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
}


def bubblewrap() -> Path:
    """Path of the bubblewrap to use.

    Raises:
        SandboxError: There is none; says how to install it.
    """
    found = _SYSTEM_COPY if os.access(_SYSTEM_COPY, os.X_OK) else shutil.which("bwrap")
    if found is None:
        installer = next((command for tool, command in _INSTALLERS.items() if shutil.which(tool)), "apt-get install")
        raise SandboxError(f"Scripts run in bubblewrap, which is not installed; type: sudo {installer} bubblewrap")
    return Path(found)


def probe() -> None:
    """Run bubblewrap once with the namespaces a script gets; the outcome is remembered for the process.

    Raises:
        SandboxError: It is missing or refused here; the message holds the one command to type.
    """
    if (trouble := _trouble()) is not None:
        raise SandboxError(trouble)


@cache
def _trouble() -> str | None:
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
    return None if done.returncode == 0 else remedy(done.stderr.decode("utf-8", "replace"))


def remedy(complaint: str) -> str:
    """One sentence: what bubblewrap complained of last, and what to do about it on this machine."""
    last = (complaint.strip().splitlines() or ["it gave no reason"])[-1]
    return f"Bubblewrap cannot build a sandbox here ({last}); {_advice(last)}"


def _advice(last: str) -> str:
    if "nknown option" in last:
        return "install bubblewrap 0.8 or newer."
    if _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
        if "GITHUB_ACTIONS" in os.environ:
            return "type: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        return (
            "type: sudo apt-get install apparmor-profiles && sudo ln -s /usr/share/apparmor/extra-profiles/"
            "bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor"
        )
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        return "type: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if _sysctl("user/max_user_namespaces") == "0":
        return "type: sudo sysctl -w user.max_user_namespaces=15000"
    if any(mark.exists() for mark in _CONTAINER_MARKS):
        return (
            "start the container with: docker run --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    return "namespaces must be permitted for this user."


def _sysctl(name: str) -> str | None:
    try:
        return (_SYSCTLS / name).read_text("ascii").strip()
    except OSError:
        return None
