"""First process of the sandbox: starts the script, watches its limits, ends everything, reports.

Runs as PID 1 on the domain's own Python (`-I -S`). As PID 1 it cannot be killed or stopped by the script, and
when it ends the kernel kills whatever else is left. It speaks to the runner through descriptors the script
never has: a task (JSON) comes in, `started` and one report (JSON) go out, and the end of the control pipe
means "stop now". It reads nothing the script wrote, only sizes and whether a known name exists.
"""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH101, PTH103, PTH108, PTH123, SIM105

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

sys.path.insert(0, "/run/toolgate")  # `-I` keeps even a script's own place off the path

from pytest_toolgate.sandbox.inside.measure import Watch
from pytest_toolgate.sandbox.inside.remove import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TICK = 0.1  # seconds between samples
_FAILED = 3  # the descriptor on which the copy that becomes the script says why it could not
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24


class Fault(Exception):  # noqa: N818
    """The sandbox could not be prepared; said in one sentence."""


def main() -> None:
    """Run the task whose descriptor and pipes are named on the command line."""
    task_fd, control, report, out, err = map(int, sys.argv[1:6])
    for number in (control, report, out, err):
        os.set_inheritable(number, False)
    # PID 1 receives only the signals it has handlers for, and Python has one for SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(task_fd, "rb") as stream:
        task = json.loads(stream.read().decode("utf-8"))
    try:
        become_nobody(task["unused_id"])
        prepare(task)
        wake = wake_on_child()
        child = start(task, out, err)
    except Fault as fault:
        tell(report, {"fault": str(fault)})
        return
    os.close(out)
    os.close(err)
    begun = time.monotonic()
    tell(report, {"started": True})
    watch = Watch(task)
    status, limit = wait(child, begun + task["wall"], control, wake, watch)
    ended = time.monotonic()
    end_everything()
    watch.measure_disk()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The kernel's own peak sees what happened between two samples.
    peak = max(watch.peak_memory, usage.ru_maxrss * 1024)
    if limit is None or limit == "timeout":
        if peak > task["memory"]:
            limit = "memory-limit"
        elif watch.peak_disk > task["disk"]:
            limit = "disk-limit"
    tell(
        report,
        {
            "limit": limit,
            "status": status,
            "wall": ended - begun,
            "cpu": usage.ru_utime + usage.ru_stime,
            "peak_memory": peak,
            "disk_used": watch.peak_disk,
            "used": [name for name in task["watch"] if os.path.lexists(f"{task['used']}/{name}")],
        },
    )


def tell(report: int, message: dict[str, Any]) -> None:
    """Send the runner one line."""
    os.write(report, json.dumps(message).encode("utf-8") + b"\n")


def become_nobody(unused_id: int | None) -> None:
    """Give up every privilege bubblewrap's root left us, and hide our memory, environment and descriptors."""
    libc = ctypes.CDLL(None, use_errno=True)
    if unused_id is not None:
        capability = 0
        while libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
        os.setgroups([])
        os.setresgid(unused_id, unused_id, unused_id)
        os.setresuid(unused_id, unused_id, unused_id)
    # A change of identity clears it; bubblewrap had set it.
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise Fault("the kernel refused PR_SET_PDEATHSIG.")
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise Fault("the kernel refused PR_SET_DUMPABLE.")
    if os.getpid() != 1 or (unused_id is not None and os.getresuid() != (unused_id,) * 3):
        raise Fault("the sandbox has no process space of its own, or privileges were not given up.")


def prepare(task: dict[str, Any]) -> None:
    """Make the writable directories and put the job's files into the working directory."""
    os.umask(0o022)
    try:
        for path in task["directories"]:
            os.makedirs(path, mode=0o700, exist_ok=True)
        os.chmod(task["work"], 0o700)  # an earlier run may have locked its own workspace
        os.chdir(task["work"])
        for name, content in task["files"].items():
            put(name, base64.b64decode(content))
    except OSError as error:
        raise Fault(f"the files of the job could not be put into the working directory: {error}.") from error


def put(name: str, content: bytes) -> None:
    """Write a new file in the working directory, whatever an earlier run left there under that name."""
    try:
        os.unlink(name)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):
        remove_tree(name)
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as stream:
        stream.write(content)


def wake_on_child() -> int:
    """A descriptor that becomes readable whenever a child ended."""
    wake, notify = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(notify, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    return wake


def start(task: dict[str, Any], out: int, err: int) -> int:
    """Fork the script and return its process id once it is the script, not our copy any more."""
    failure, failed = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            become_script(task, out, err, failed)
        except BaseException as error:  # noqa: BLE001
            os.write(_FAILED, str(error).encode("utf-8", "replace")[:1000])
        finally:
            os._exit(127)  # the copy must never return into the supervisor's code
    os.close(failed)
    with os.fdopen(failure, "rb") as stream:
        reason = stream.read()
    if reason:
        os.waitpid(child, 0)
        if b"Permission denied" in reason and task["unused_id"] is not None:
            reason += b"; root's scripts run under an id of their own, to which it must be readable"
        raise Fault(f"{task['command'][0]} could not be started: {reason.decode('utf-8', 'replace')}.")
    return child


def become_script(task: dict[str, Any], out: int, err: int, failed: int) -> None:
    """Turn the forked copy into the script: streams, limits and environment of its own."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    # Our /proc entries are root's while we are not dumpable, and execve makes the script dumpable anyway.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(failed, _FAILED, inheritable=False)
    os.closerange(_FAILED + 1, 65536)
    for name, limit in task["rlimits"].items():
        set_limit(getattr(resource, name), limit)
    os.execve(task["command"][0], task["command"], task["env"])


def set_limit(kind: int, limit: int) -> None:
    """Set a limit for good, or leave the host's where that is lower."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, limit))


def wait(child: int, deadline: float, control: int, wake: int, watch: Watch) -> tuple[int | None, str | None]:
    """Wait for the script: its wait status and None, or None and the limit that was hit or `stopped`."""
    poll = select.poll()
    poll.register(control, select.POLLIN | select.POLLHUP)
    poll.register(wake, select.POLLIN)
    sample = time.monotonic() + _TICK
    while True:
        pause = max(0.0, min(sample, deadline) - time.monotonic())
        ready = {number for number, _ in poll.poll(pause * 1000)}
        now = time.monotonic()
        if wake in ready:
            os.read(wake, 4096)
            status = reap(child)
            if status is not None:
                # It may have ended late, while a slow sample was taken.
                return (status, None) if now <= deadline else (None, "timeout")
        if control in ready:
            return None, "stopped"
        if now >= sample or now >= deadline:
            try:
                limit = watch.sample()
            except OSError:
                limit = None  # what is looked at may go or change meanwhile; the last look is at something still
            if limit is not None:
                return None, limit
            sample = time.monotonic() + _TICK
        if now >= deadline:
            return None, "timeout"


def reap(child: int) -> int | None:
    """Collect every child that ended, orphans included; the wait status of the script if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            # What others write from here on does not count, so they end before anything else is done.
            kill_all()
            found = status


def kill_all() -> None:
    """Kill every process of the sandbox but this one."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_everything() -> None:
    """Kill and collect until nobody is left; what cannot die in time dies with us."""
    give_up = time.monotonic() + 5
    while time.monotonic() < give_up:
        kill_all()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


if __name__ == "__main__":
    main()
