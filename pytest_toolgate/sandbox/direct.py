"""What a run needs without namespaces: a private directory of the host in place of mounts, and a way into it.

The places of `profile` keep their names and lie below this directory: `/sandbox/work` is `DIRECTORY/sandbox/work`.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from . import profile, seccomp
from .identity import Identity
from .inside.remove import remove_tree
from .job import Job, SandboxError

_PLACES: Final = ("/tmp", "/var/tmp")  # noqa: S108 - looked at, and used through mkdtemp
# The kernel counts all processes of an ordinary user together, with whatever else the user runs meanwhile. So its limit
# is for the worst only, some scripts at once, and the one that the supervisor counts is the script's.
_SCRIPTS_AT_ONCE: Final = 16


def make_room(identity: Identity, ours: ExitStack) -> Path:
    """Make the private directory; `ours` removes it.

    Raises:
        SandboxError: There is no place for it.
    """
    root = Path(tempfile.mkdtemp(prefix="toolgate-room-", dir=_place(identity)))
    ours.callback(remove_tree, root)
    return root


def furnish(root: Path, files: Mapping[str, bytes], record: str, identity: Identity) -> None:
    """Put the places and our own read-only files into the directory, and give it to the script's id.

    Args:
        root: The directory.
        files: Path in the sandbox -> content; those that replace the host's are left out.
        record: Directory for the names of the packages that were used.
        identity: Who the script is.
    """
    for place in (profile.ROOM, record):
        Path(f"{root}{place}").mkdir(parents=True)
    for path, content in files.items():
        if path.startswith(profile.PRIVATE):
            file = Path(f"{root}{path}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o444)
    if identity.unused_id is not None:
        # All of it, so that it can remove it; Landlock lets its script write in one part only.
        for folder, _, names in os.walk(root):
            for name in (folder, *(f"{folder}/{name}" for name in names)):
                os.chown(name, identity.unused_id, identity.unused_id)


def task(task: Mapping[str, Any], job: Job, root: Path, record: str) -> dict[str, Any]:
    """The supervisor's task with its places below `root`, and with the confinement of the job's tier."""
    workspace = None if job.workspace is None else job.workspace.absolute()

    def moved(value: str) -> str:
        own = (profile.ROOM, profile.PRIVATE, profile.USED)
        return ":".join(f"{root}{part}" if part.startswith(own) else part for part in value.split(":"))

    confined = job.tier == "landlock"
    work = moved(task["work"]) if workspace is None else str(workspace)
    limits = dict(task["rlimits"])
    if task["unused_id"] is None:
        limits["RLIMIT_NPROC"] = _own_threads() + _SCRIPTS_AT_ONCE * job.limits.processes
    return {
        **task,
        "own_space": False,
        "room": str(root),
        "directories": [work, *(place for place in map(moved, task["directories"]) if place != moved(task["work"]))],
        "work": work,
        "env": {name: moved(value) for name, value in task["env"].items()},
        "used": moved(record),
        "writable": [],
        "walked": [moved(profile.ROOM), *([] if workspace is None else [str(workspace)])],
        "rlimits": limits,
        "grants": profile.grants(
            job.interpreter, base=root, workspace=workspace, hidden=job.hidden, record=moved(record)
        )
        if confined
        else None,
        "refused": seccomp.program(on_the_host=True) if confined else b"",
    }


def check_reach(job: Job, identity: Identity) -> None:
    """Root's scripts run under an id of their own, which must be able to go where the run needs it to.

    Raises:
        SandboxError: A directory on the way is closed; says which, and how it is opened.
    """
    if identity.unused_id is None:
        return
    needed = [job.interpreter.python, *(prefix / "lib" for prefix in job.interpreter.prefixes)]
    if job.workspace is not None:
        needed.append(job.workspace.absolute())
    if (closed := _closed(needed)) is not None:
        raise SandboxError(
            f"Root's scripts run under an id of their own, which without namespaces needs a way to "
            f"{job.interpreter.python} and to the working directory; type: chmod o+x {closed}"
        )


def _place(identity: Identity) -> Path:
    """A directory for temporary ones that the script can reach, and run what it compiles in."""
    places = list(map(Path, dict.fromkeys((tempfile.gettempdir(), *_PLACES))))
    for place in places:
        within = identity.unused_id is None or _closed([place / "x"]) is None
        if place.is_dir() and os.access(place, os.W_OK) and within and not os.statvfs(place).f_flag & os.ST_NOEXEC:
            return place
    raise SandboxError(
        f"Scripts need a temporary directory in which they can run what they compile, and "
        f"{', '.join(map(str, places))} are closed to them or mounted `noexec`; name another in TMPDIR."
    )


def _closed(paths: Iterable[Path]) -> Path | None:
    """The first directory on the way to one of the paths, links resolved, that others may not go through."""
    for path in paths:
        for folder in (*reversed(path.resolve().parents), *reversed(path.parents)):
            try:
                if not folder.stat().st_mode & stat.S_IXOTH:
                    return folder
            except OSError:
                continue
    return None


def _own_threads() -> int:
    """How many threads this user runs now."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.getuid():
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue  # it has ended
    return count
