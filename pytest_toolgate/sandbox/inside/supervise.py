"""First process of the sandbox: starts the script, watches its limits, ends everything, reports.

Runs as PID 1 on the domain's own Python (`-I -S`). As PID 1 it cannot be killed or stopped by the script, and
when it ends the kernel kills whatever else is left. Without namespaces it is any process, and ends its descendants
itself (see `tree`). It speaks to the runner through descriptors the script never has: a task comes in, `started` and
one report (JSON) go out, and the end of the control pipe means "stop now". It reads nothing the script wrote, only
sizes and whether a known name exists.
"""
# Every run pays for what is imported here: pathlib, contextlib, json, signal (`_signal` is its better part) would each
# cost it milliseconds, more than all that is done with them.
# ruff: noqa: PTH101, PTH103, PTH108, PTH123

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import ctypes
import marshal
import os
import resource
import select
import sys
import time

sys.path.insert(0, __file__.partition("/pytest_toolgate/")[0])  # `-I` keeps even a script's own place off the path

from pytest_toolgate.sandbox.inside import capabilities, tree
from pytest_toolgate.sandbox.inside.measure import Watch
from pytest_toolgate.sandbox.inside.remove import remove_tree
from pytest_toolgate.sandbox.inside.report import tell
from pytest_toolgate.sandbox.inside.script_process import FAILED, PR_SET_DUMPABLE, become_script, execute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_TICK = 0.1  # seconds between samples


class Fault(Exception):  # noqa: N818
    """The sandbox could not be prepared; said in one sentence."""


def main() -> None:
    """Run the task whose descriptor and pipes are named on the command line."""
    task_fd, control, report, out, err = map(int, sys.argv[1:6])
    for number in (control, report, out, err):
        os.set_inheritable(number, False)
    # PID 1 receives only the signals it has handlers for, and Python has one for SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    oversee(read_task(task_fd), control, report, out, err, execute)
    os._exit(0)  # there is nothing to take apart


def read_task(descriptor: int) -> dict[str, Any]:
    """The task, whose descriptor is closed then."""
    with os.fdopen(descriptor, "rb") as stream:
        task: dict[str, Any] = marshal.loads(stream.read())
    return task


def oversee(
    task: dict[str, Any], control: int, report: int, out: int, err: int, begin: Callable[[dict[str, Any], int], object]
) -> None:
    """Run one task from its preparation to its report; `begin` turns a prepared process into the script, for good."""
    try:
        become_nobody(task["unused_id"], own_space=task["own_space"])
        prepare(task)
        wake = wake_on_child()
        if task["door"] is not None:
            open_door(*task["door"])
        watch = Watch(task)  # before the script can make anything: what is there now is not the script's
        child = start(task, out, err, begin)
    except Fault as fault:
        report_back(task, report, {"fault": str(fault)})
        return
    os.close(out)
    os.close(err)
    begun = time.monotonic()
    tell(report, {"started": True})
    status, limit = wait(child, begun + task["wall"], control, wake, watch)
    ended = time.monotonic()
    end_everything()
    watch.measure_disk()
    watch.forget()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The kernel's own peak sees what happened between two samples.
    peak = max(watch.peak_memory, usage.ru_maxrss * 1024)
    if limit is None or limit == "timeout":
        if peak > task["memory"]:
            limit = "memory-limit"
        elif watch.overfull():
            limit = "disk-limit"
    report_back(
        task,
        report,
        {
            "limit": limit,
            "status": status,
            "wall": ended - begun,
            "cpu": usage.ru_utime + usage.ru_stime,
            "peak_memory": peak,
            "disk_used": watch.peak_disk,
            "files_made": watch.peak_entries,
            "excess": watch.excess,
            "used": [name for name in task["watch"] if os.path.lexists(f"{task['used']}/{name}")],
            "called": [name for name in task["watch"] if os.path.lexists(f"{task['used']}/{name}.called")],
        },
    )


def report_back(task: dict[str, Any], report: int, message: dict[str, Any]) -> None:
    """Send the last message, and remove what the run leaves on the host: who listens may be killed at any moment."""
    tell(report, message)
    if task["room"] is not None:
        remove_tree(task["room"])


def become_nobody(unused_id: int | None, *, own_space: bool) -> None:
    """Give up root's privileges, let nobody outlive us, and hide our memory, environment and descriptors."""
    if tree.own_space() != own_space:
        raise Fault("the sandbox has no process space of its own, or has one where none is expected.")
    libc = ctypes.CDLL(None, use_errno=True)
    if unused_id is not None:
        capabilities.bound()
        try:
            os.setgroups([])
            os.setresgid(unused_id, unused_id, unused_id)
            os.setresuid(unused_id, unused_id, unused_id)
            capabilities.give_up()
        except OSError as error:
            raise Fault(f"root may not become another user here, under whose id scripts are run: {error}.") from error
    try:
        tree.hold_together()  # a change of identity clears what bubblewrap had set
    except OSError as error:
        raise Fault(f"{error}.") from error
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise Fault("the kernel refused PR_SET_DUMPABLE.")
    if unused_id is not None and os.getresuid() != (unused_id,) * 3:
        raise Fault("privileges were not given up.")


def prepare(task: dict[str, Any]) -> None:
    """Make the writable directories and put the job's files into the working directory."""
    os.umask(0o022)
    try:
        for path in task["directories"]:
            os.makedirs(path, mode=0o700, exist_ok=True)
        os.chmod(task["work"], 0o700)  # an earlier run may have locked its own workspace
        os.chdir(task["work"])
        for name, content in task["files"].items():
            put(name, content)
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


def open_door(channel: int, address: str, port: int) -> None:
    """Listen in the network of the sandbox, and hand the socket to those outside."""
    import _socket  # only agents need it

    try:
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind((address, port))
        listener.listen(64)
        outside = _socket.socket(fileno=channel)
        number = listener.fileno().to_bytes(4, sys.byteorder)
        outside.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number)])
        outside.close()
        listener.close()
    except OSError as error:
        raise Fault(f"the sandbox has no network of its own to be reached by: {error}.") from error


def wake_on_child() -> int:
    """A descriptor that becomes readable whenever a child ended."""
    wake, notify = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(notify, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    return wake


def start(task: dict[str, Any], out: int, err: int, begin: Callable[[dict[str, Any], int], object]) -> int:
    """Fork the script and return its process id once it is the script, not our copy any more."""
    failure, failed = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            if not task["own_space"]:
                tree.end_with_parent(parent)
            become_script(task, out, err, failed)
            begin(task, FAILED)
        except BaseException as error:  # noqa: BLE001
            os.write(FAILED, str(error).encode("utf-8", "replace")[:1000])
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
            tree.kill_all()
            found = status


def end_everything() -> None:
    """Kill and collect until nobody is left; what cannot die in time dies with us."""
    give_up = time.monotonic() + 5
    while time.monotonic() < give_up:
        tree.kill_all()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


if __name__ == "__main__":
    main()
