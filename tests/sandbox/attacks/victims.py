"""Processes of the host that attacks aim at, as the host sees them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_VICTIM = Path(__file__).with_name("victim.py")
_LIMITS_TAKEN = ("Max open files", "Max core file size")


@dataclass(frozen=True, slots=True)
class Victim:
    """A process of the host; `before` is its state when nobody had touched it."""

    process: subprocess.Popen[str]
    address: int
    length: int
    file: int
    before: Mapping[str, str]

    def touched(self) -> str:
        """What has been done to it, as far as it can be seen; empty if nothing."""
        if self.process.poll() is not None:
            return f"the victim was ended: {self.process.returncode}"
        now = state(self.pid)
        changed = {name: (self.before[name], now[name]) for name in now if self.before[name] != now[name]}
        return f"the victim was changed: {changed}" if changed else ""

    @property
    def pid(self) -> int:
        """Its number on the host."""
        return self.process.pid


def state(pid: int) -> dict[str, str]:
    """What others can do to a process: stop, signal, slow down, sacrifice or restrict it."""
    proc = Path(f"/proc/{pid}")
    status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines())
    limits = [line for line in (proc / "limits").read_text().splitlines() if line.startswith(_LIMITS_TAKEN)]
    return {
        "stopped": str(status["State"][0] in "Tt"),
        "signals": f"{status['SigPnd']} {status['ShdPnd']}",
        "processors": status["Cpus_allowed_list"],
        "priority": str(os.getpriority(os.PRIO_PROCESS, pid)),
        "scheduling": str(os.sched_getscheduler(pid)),
        "sacrifice": (proc / "oom_score_adj").read_text().strip(),
        "limits": " ".join(" ".join(limits).split()),
    }


@contextmanager
def victim(secret: str, directory: Path) -> Iterator[Victim]:
    """Start one that holds a secret, and end it.

    Args:
        secret: In its memory, its arguments, its environment and a file that it has open.
        directory: Its working directory.
    """
    command = [sys.executable, "-I", "-S", str(_VICTIM), secret]
    environment = {"PATH": "/usr/bin:/bin", "VICTIMS_KEY": secret}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=directory, env=environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address, length, file = map(int, process.stdout.readline().split())
            yield Victim(process, address, length, file, state(process.pid))
        finally:
            process.kill()
