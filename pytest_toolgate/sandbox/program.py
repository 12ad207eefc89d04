"""What a run needs to hold a program of somebody else's in place of a script: an agent that runs commands itself.

Such a program brings an interpreter of its own, starts threads, and asks a model all the time. So it has more room than
a script, and one address that leads out: a socket that the supervisor opens in the sandbox's own network and hands to
us, so that whoever connects to it inside is answered by us outside. There is no other way out.
"""

import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import PurePosixPath
from typing import Any, Final

from . import profile
from .job import Program

# What the runner may put the end off by is not known beforehand, so the supervisor keeps no time of its own.
_NO_HURRY: Final = 1e6
# JavaScript engines reserve much more address space than they use; memory that is used is watched all the same.
_NOT_FOR_PROGRAMS: Final = ("RLIMIT_AS",)
_OPEN_FILES: Final = 4096
RECORD: Final = "@toolgate-record@"
"""Stands in a program's arguments for the directory in which the packages used are noted, which is new in each run."""


def channel(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, int]:
    """Our end of the channel through which the socket comes, and the supervisor's."""
    outside, inside = socket.socketpair()
    ours.callback(outside.close)
    theirs.callback(inside.close)
    return outside, inside.fileno()


def task(task: Mapping[str, Any], program: Program, door: int) -> dict[str, Any]:
    """The supervisor's task with the program in place of the script.

    Args:
        task: As it is for a script.
        program: The program.
        door: The supervisor's end of the channel.
    """
    home = {f"{profile.HOME}/{name}": content for name, content in program.files.items()}
    folders = sorted({str(folder) for path in home for folder in PurePosixPath(path).parents if len(folder.parts) > 2})
    limits = {name: limit for name, limit in task["rlimits"].items() if name not in _NOT_FOR_PROGRAMS}
    return {
        **task,
        "directories": [*task["directories"], *folders],
        "files": {name: content for name, content in task["files"].items() if name != "solution.py"} | home,
        "command": [part.replace(RECORD, task["used"]) for part in program.command],
        "wall": _NO_HURRY,
        "nested": program.nested,
        "door": (door, *profile.DOOR),
        "rlimits": {**limits, "RLIMIT_NOFILE": _OPEN_FILES},
    }
