"""What a sandboxed script can see and touch: the whole profile as data, turned into bubblewrap's arguments.

Read top-down it is the file system, the environment and the identity of a script. What is not named here does
not exist inside: no home, no /etc but the named files, no process but its own, no network. The tier `landlock` is made
from the same tables (`grants`); there what is not named exists and cannot be opened.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .identity import Identity
from .job import Interpreter, KiB, MiB, Program, SandboxError
from .view import View, view

# Where things are inside. ROOM is the one large writable place; PRIVATE holds our own read-only files.
ROOM: Final = "/sandbox"
HOME: Final = f"{ROOM}/home"
TEMP: Final = f"{ROOM}/tmp"  # noqa: S108
PRIVATE: Final = "/run/toolgate"
INSIDE: Final = f"{PRIVATE}/pytest_toolgate/sandbox/inside"
SITE: Final = f"{PRIVATE}/site"
# In it the record of the packages used has a name of its own in each run: a script cannot have it written in.
USED: Final = "/run/used"
# Where a job's own file from its last run stands, and what it adds to it (warm runs only).
KEPT: Final = "/run/kept"
KEPT_MOST: Final = 32 * MiB

# Where a program finds the one that answers it (see `Program`), in a network of the sandbox's own.
DOOR: Final = ("127.0.0.1", 8080)

# Made before the script starts, so that every cache has its place.
DIRECTORIES: Final = (HOME, TEMP, f"{HOME}/.cache", f"{HOME}/.config", f"{HOME}/.local/share")

# Writable tmpfs mounts and the largest size of each; the disk limit lowers them and bounds their sum.
WRITABLE: Final[Mapping[str, int | None]] = {
    ROOM: None,
    "/tmp": 256 * MiB,  # noqa: S108 - the sandbox's own
    "/dev/shm": 64 * MiB,  # noqa: S108 - MPI needs it
}

# System directories: bound read-only, or repeated as the link they are on the host (merged /usr).
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

# Read-only where the host has them: the linker's cache, clock, compiler links, fonts, processor topology.
_FILES: Final = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/fonts",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)

# Bubblewrap makes a /proc and a /dev of the sandbox's own. Landlock can only grant some of the host's: of /proc what
# describes the machine, and the script's own entry, not its children's.
_PROC: Final = (
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/shmmax",
    "/proc/sys/vm/overcommit_memory",
)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108

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
    # UCX and hwloc look for hardware that is not shown, and UCX says so on *stdout*.
    "UCX_TLS": "self",
    "UCX_LOG_LEVEL": "fatal",
    # For such hardware it would also patch functions of the C library, and spin for 5 ms over each of them.
    "UCX_MEM_EVENTS": "n",
    "HWLOC_HIDE_ERRORS": "2",
    "HWLOC_COMPONENTS": "no_os,stop",
    "MPLBACKEND": "Agg",
    "PYVISTA_OFF_SCREEN": "true",
}

# More workers times more threads than cores only makes time limits depend on the load, so all are told how many.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# The user namespace of an ordinary user. Root needs none: the supervisor drops to an unused uid instead.
_AS_USER: Final = ("--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000")
_AS_ROOT: Final = (
    "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP",
)  # fmt: skip
# A warm process makes namespaces of its own for every script: as root by this capability, as an ordinary user by
# a user namespace each. The scripts have neither; what they may call is filtered as ever.
_TO_MAKE_MORE: Final = ("--cap-add", "CAP_SYS_ADMIN")
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


def work(directory: str) -> str:
    """Path of the working directory of that name."""
    return f"{ROOM}/{directory}"


def environment(
    interpreter: Interpreter, *, threads: int, watching: bool, additions: Mapping[str, str]
) -> dict[str, str]:
    """The script's environment: nothing of the caller's is in it."""
    values = {**_ENVIRONMENT, **dict.fromkeys(_THREADS, str(threads))}
    values["PATH"] = f"{interpreter.python.parent}:/usr/local/bin:/usr/bin:/bin"
    values |= additions
    if watching:
        values["PYTHONPATH"] = ":".join(filter(None, (SITE, values.get("PYTHONPATH"))))
    return values


def rooms(disk: int, *, kept: bool = False) -> list[tuple[str, str, int]]:
    """The writable mounts: path, mode (octal), largest size in bytes; `kept` adds the place for a job's own file."""
    writable = [(place, "1777", disk if most is None else min(disk, most)) for place, most in WRITABLE.items()]
    return [*writable, (USED, "0311", 64 * KiB), *([(KEPT, "1777", KEPT_MOST)] if kept else [])]


def folders(record: str) -> dict[str, str]:
    """Directories in them, with their modes: a script can add to its record, and not list the place."""
    return {record: "0733"}


def arguments(
    interpreter: Interpreter,
    identity: Identity,
    *,
    places: Sequence[tuple[str, str, int]],
    made: Mapping[str, str],
    work: str,
    workspace: Path | None,
    hidden: Sequence[Path],
    data: Mapping[str, int],
    seccomp: int | None,
    program: Program | None = None,
) -> list[str]:
    """Bubblewrap's arguments, in the order in which it carries them out.

    Args:
        interpreter: What must be visible for the script's Python.
        identity: Who the script is.
        places: The writable mounts, from `rooms`.
        made: Directories in them, from `folders`.
        work: The working directory inside.
        workspace: Host directory to bind as the working directory, or None.
        hidden: Host directories that must not be seen.
        data: Path inside -> descriptor its read-only content is read from.
        seccomp: Descriptor of the compiled filter; None for a warm process, which filters every copy instead.
        program: What is started instead of a script, if anything.
    """
    divisible = seccomp is None or (program is not None and program.nested)
    args = [*_ISOLATION, *_identity(identity, warm=seccomp is None, divisible=divisible)]
    args += ["--proc", "/proc", "--dev", "/dev"]
    for place, mode, size in places:
        args += ["--perms", mode, "--size", str(size), "--tmpfs", place]
    for path, mode in made.items():
        args += ["--perms", mode, "--dir", path]
    for path in SYSTEM:
        args += _as_on_host(Path(path))
    for path in _FILES:
        args += [*_parents(Path(path)), "--ro-bind-try", path, path]
    args += _interpreter(view(interpreter, hidden, (*SYSTEM, *_FILES)))
    for shown in program.shown if program else ():
        args += [*_parents(shown), "--ro-bind", str(shown), str(shown)]
    for path, descriptor in data.items():
        args += [*_parents(Path(path)), "--perms", "0444", "--file", str(descriptor), path]
    if workspace is not None:
        args += ["--bind", str(workspace), work]
    # Both are otherwise writable tmpfs of half the machine's memory.
    args += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return args if seccomp is None else [*args, "--seccomp", str(seccomp)]


def _identity(identity: Identity, *, warm: bool, divisible: bool) -> list[str]:
    """Who is inside, and whether they may make namespaces of their own."""
    if identity.unused_id is None:
        return [arg for arg in _AS_USER if not (divisible and arg == "--disable-userns")]
    return [*_AS_ROOT, *(_TO_MAKE_MORE if warm else ())]


def grants(
    interpreter: Interpreter, *, base: Path, workspace: Path | None, hidden: Sequence[Path], record: str
) -> dict[str, list[str]]:
    """What Landlock allows: kind of access -> paths of the host; nothing else can be opened.

    Args:
        interpreter: What must be visible for the script's Python.
        base: Where on the host the places above are.
        workspace: A further directory to write in, or None.
        hidden: Host directories that must not be seen.
        record: Directory for the names of the packages that were used.

    Raises:
        SandboxError: Something hidden lies within what must be seen, of which Landlock can hide no part.
    """
    seen = view(interpreter, hidden, (*SYSTEM, *_FILES))
    if holes := sorted({*seen.masks, *seen.missing}):
        raise SandboxError(
            f"{holes[0]} must not be seen by scripts, but lies within what they see, of which the tier `landlock` "
            f"can hide no part; keep it elsewhere, or use `sandbox: bubblewrap`."
        )
    return {
        "read": [*SYSTEM, *_FILES, *map(str, seen.prefixes), *_PROC, f"{base}{PRIVATE}"],
        "device": [*_DEVICES],
        "write": [f"{base}{ROOM}", *([] if workspace is None else [str(workspace)])],
        "share": [_SHARED_MEMORY],
        "note": [record],
    }


def _as_on_host(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind-try", str(path), str(path)]


def _interpreter(seen: View) -> list[str]:
    """Bind the prefixes, cover what is hidden, and repeat the links on the way to the executable."""
    sealed = sorted({top for prefix in seen.prefixes if (top := _top_of_writable(prefix)) not in (None, prefix)})
    args = [arg for top in sealed for arg in ("--tmpfs", str(top))]
    covered = (*seen.masks, *seen.thinned)
    for place in sorted({*seen.prefixes, *covered}):  # what holds another comes before it
        if place in seen.prefixes:
            args += [*_parents(place), "--ro-bind", str(place), str(place)]
        if place in covered:
            args += ["--perms", "0755", "--tmpfs", str(place)]
            args += [arg for entry in seen.thinned.get(place, ()) for arg in _as_on_host(entry)]
    for link, target in seen.links:
        args += [*_parents(link), "--symlink", str(target), str(link)]
    # Otherwise a script could write where nobody counts, or rename a prefix's parent and put its own tree there.
    return args + [arg for place in (*sealed, *covered) for arg in ("--remount-ro", str(place))]


def shown_in_rooms(interpreter: Interpreter) -> list[str]:
    """Entries of writable places in which the interpreter lives, or by which it is named, as one in /tmp."""
    paths = (*interpreter.prefixes, interpreter.python)
    return sorted({str(top) for path in paths if (top := _top_of_writable(path)) is not None})


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
