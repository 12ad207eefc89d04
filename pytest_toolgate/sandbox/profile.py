"""What a sandboxed script can see and touch: the whole profile as data, turned into bubblewrap's arguments.

Read top-down it is the file system, the environment and the identity of a script. What is not named here does
not exist inside: no home, no /etc but the named files, no process but its own, no network.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .identity import Identity
from .job import Interpreter, KiB, MiB
from .view import View, view

# Where things are inside. ROOM is the one large writable place; PRIVATE holds our own read-only files.
ROOM: Final = "/sandbox"
WORK: Final = f"{ROOM}/work"
HOME: Final = f"{ROOM}/home"
TEMP: Final = f"{ROOM}/tmp"  # noqa: S108
PRIVATE: Final = "/run/toolgate"
INSIDE: Final = f"{PRIVATE}/pytest_toolgate/sandbox/inside"
SUPERVISOR: Final = f"{INSIDE}/supervise.py"
SITE: Final = f"{PRIVATE}/site"
# In it the record of the packages used has a name of its own in each run: a script cannot have it written in.
USED: Final = "/run/used"

# Made before the script starts, so that every cache has its place.
DIRECTORIES: Final = (WORK, HOME, TEMP, f"{HOME}/.cache", f"{HOME}/.config", f"{HOME}/.local/share")

# Writable tmpfs mounts and the largest size of each; the disk limit lowers them and bounds their sum.
WRITABLE: Final[Mapping[str, int | None]] = {
    ROOM: None,
    "/tmp": 256 * MiB,  # noqa: S108 - the sandbox's own
    "/dev/shm": 64 * MiB,  # noqa: S108 - MPI needs it
}

# System directories: bound read-only, or repeated as the link they are on the host (merged /usr).
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

# Read-only where the host has them: the linker's cache, clock, compiler links, fonts, processor topology.
_FILES: Final = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/fonts",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "HOME": HOME,
    "TMPDIR": TEMP,
    "USER": "sandbox",
    "LOGNAME": "sandbox",
    "LANG": "C.UTF-8",
    "XDG_CACHE_HOME": f"{HOME}/.cache",
    "XDG_CONFIG_HOME": f"{HOME}/.config",
    "XDG_DATA_HOME": f"{HOME}/.local/share",
    "MPLCONFIGDIR": f"{HOME}/.config/matplotlib",
    "NUMBA_CACHE_DIR": f"{HOME}/.cache/numba",
    # One thread each: more workers times more threads than cores only makes time limits depend on the load.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    # UCX and hwloc look for hardware that is not shown, and UCX says so on *stdout*.
    "UCX_TLS": "self",
    "UCX_LOG_LEVEL": "fatal",
    "HWLOC_HIDE_ERRORS": "2",
    "MPLBACKEND": "Agg",
    "PYVISTA_OFF_SCREEN": "true",
}

# The user namespace of an ordinary user. Root needs none: the supervisor drops to an unused uid instead.
_AS_USER: Final = ("--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000")
_AS_ROOT: Final = (
    "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP",
)  # fmt: skip
_ISOLATION: Final = (
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",
    "--die-with-parent",
    "--as-pid-1",
    "--clearenv",
    "--hostname",
    "sandbox",
)


def environment(interpreter: Interpreter, *, watching: bool, additions: Mapping[str, str]) -> dict[str, str]:
    """The script's environment: nothing of the caller's is in it."""
    values = dict(_ENVIRONMENT)
    values["PATH"] = f"{interpreter.python.parent}:/usr/local/bin:/usr/bin:/bin"
    values |= additions
    if watching:
        values["PYTHONPATH"] = ":".join(filter(None, (SITE, values.get("PYTHONPATH"))))
    return values


def arguments(
    interpreter: Interpreter,
    identity: Identity,
    *,
    disk: int,
    workspace: Path | None,
    hidden: Sequence[Path],
    record: str,
    data: Mapping[str, int],
    seccomp: int,
) -> list[str]:
    """Bubblewrap's arguments, in the order in which it carries them out.

    Args:
        interpreter: What must be visible for the script's Python.
        identity: Who the script is.
        disk: Bytes; the largest size of any writable mount.
        workspace: Host directory to bind as the working directory, or None.
        hidden: Host directories that must not be seen.
        record: Directory inside for the names of the packages that were used.
        data: Path inside -> descriptor its read-only content is read from.
        seccomp: Descriptor of the compiled filter.
    """
    args = [*_ISOLATION, *(_AS_USER if identity.unused_id is None else _AS_ROOT)]
    args += ["--proc", "/proc", "--dev", "/dev"]
    for place, most in WRITABLE.items():
        args += [
            "--perms",
            "1777",
            "--size",
            str(disk if most is None else min(disk, most)),
            "--tmpfs",
            place,
        ]
    args += ["--perms", "0311", "--size", str(64 * KiB), "--tmpfs", USED, "--perms", "0733", "--dir", record]
    for path in _SYSTEM:
        args += _as_on_host(Path(path))
    for path in _FILES:
        args += [*_parents(Path(path)), "--ro-bind-try", path, path]
    args += _interpreter(view(interpreter, hidden, (*_SYSTEM, *_FILES)))
    for path, descriptor in data.items():
        args += [*_parents(Path(path)), "--perms", "0444", "--ro-bind-data", str(descriptor), path]
    if workspace is not None:
        args += ["--bind", str(workspace), WORK]
    # Both are otherwise writable tmpfs of half the machine's memory.
    args += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*args, "--seccomp", str(seccomp)]


def _as_on_host(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind-try", str(path), str(path)]


def _interpreter(seen: View) -> list[str]:
    """Bind the prefixes, cover what is hidden, and repeat the links on the way to the executable."""
    sealed = sorted({top for prefix in seen.prefixes if (top := _top_of_writable(prefix)) not in (None, prefix)})
    args = [arg for top in sealed for arg in ("--tmpfs", str(top))]
    for place in sorted({*seen.prefixes, *seen.masks}):  # what holds another comes before it
        if place in seen.masks:
            args += ["--perms", "0755", "--tmpfs", str(place)]
        else:
            args += [*_parents(place), "--ro-bind", str(place), str(place)]
    for link, target in seen.links:
        args += [*_parents(link), "--symlink", str(target), str(link)]
    # Otherwise a script could write where nobody counts, or rename a prefix's parent and put its own tree there.
    return args + [arg for place in (*sealed, *seen.masks) for arg in ("--remount-ro", str(place))]


def _top_of_writable(path: Path) -> Path | None:
    """The entry of a writable mount that `path` is or lies in, if it does."""
    for place in WRITABLE:
        if path.is_relative_to(place):
            return Path(place, path.relative_to(place).parts[0])
    return None


def _parents(path: Path) -> list[str]:
    """Make the parents, or bubblewrap makes them as private as on the host: closed to the script's id."""
    made = reversed(path.parents[:-1])
    return [arg for parent in made for arg in ("--perms", "0755", "--dir", str(parent))]
