"""The one file that a generator leaves, or why there is none."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..agents import AgentRun
from ..candidate.document import MAX_BYTES

Ended = Literal["candidate", "nothing", "timeout", "error"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of a generator's work.

    Attributes:
        ended: `candidate` if there is a file to judge; `nothing` or `timeout` if there is none, which is an attempt
            like any other; `error` if machinery failed.
        text: The file; None if there is none.
        reason: Of an error: as in `outcomes`.
        sentence: Why there is no file.
    """

    ended: Ended
    text: str | None = None
    reason: str = ""
    sentence: str = ""


def read_proposal(path: Path, run: AgentRun) -> Proposal:
    """What an agent has left: a regular file of UTF-8 text, of the size that a candidate may have at most.

    Args:
        path: Where it should be.
        run: How the agent ended.
    """
    why = f": {run.note}" if run.note else ""
    try:
        # Not followed if it is a link, and not waited for if it is a FIFO.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if run.ended == "timeout":
            return Proposal("timeout", sentence=f"the generator left no {path.name} before its time was over")
        return Proposal("nothing", sentence=f"the generator left no {path.name}{why}")
    except OSError:
        return Proposal("nothing", sentence=f"{path.name} is not a regular file that can be read")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return Proposal("nothing", sentence=f"{path.name} is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return Proposal("nothing", sentence=f"{path.name} is larger than {MAX_BYTES // 1024} KiB")
    try:
        return Proposal("candidate", data.decode("utf-8"))
    except UnicodeDecodeError:
        return Proposal("nothing", sentence=f"{path.name} is not UTF-8 text")
