"""Who a script is: alone in a user namespace, or, run by root, under an id that nobody else has."""

import itertools
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from .job import SandboxError

# One id per run, so that the kernel counts processes per sandbox. They end below 2**31.
_FIRST_UNUSED_ID: Final = 1 << 30
_LAST_UNUSED_ID: Final = (1 << 31) - 1
_run_number = itertools.count()


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the script is. `unused_id` is the uid and gid root drops to; None for an ordinary user."""

    unused_id: int | None

    @property
    def visible_id(self) -> int:
        """The uid and gid the script sees itself as."""
        return 1000 if self.unused_id is None else self.unused_id

    def passwd(self, home: str) -> bytes:
        """The sandbox's /etc/passwd."""
        own = f"sandbox:x:{self.visible_id}:{self.visible_id}::{home}:/bin/sh"
        return f"root:x:0:0:root:/:/usr/sbin/nologin\n{own}\n".encode()

    def group(self) -> bytes:
        """The sandbox's /etc/group."""
        return f"root:x:0:\nsandbox:x:{self.visible_id}:\n".encode()


@cache
def is_root() -> bool:
    """Whether we can become anybody; root of a user namespace (rootless containers) is an ordinary user."""
    if os.geteuid() != 0:
        return False
    return all(
        any(
            int(first) <= _FIRST_UNUSED_ID and int(first) + int(count) > _LAST_UNUSED_ID
            for first, _, count in map(str.split, Path(f"/proc/self/{kind}_map").read_text("ascii").splitlines())
        )
        for kind in ("uid", "gid")
    )


def choose(workspace: Path | None, *, own: bool = True) -> Identity:
    """The identity of the next run; a workspace keeps the one of its first run, which owns what it wrote.

    Args:
        workspace: The run's, which is given to it.
        own: Whether root's script gets an identity of its own; False leaves it with the caller's.

    Raises:
        SandboxError: The workspace is no directory or cannot be given to the script.
    """
    number = _FIRST_UNUSED_ID + (os.getpid() % (1 << 22)) * 256 + next(_run_number) % 256
    if workspace is not None:
        try:
            if not workspace.is_dir():
                raise SandboxError(f"The workspace {workspace} is not a directory.")
            owner = workspace.stat().st_uid
            if not own:
                return Identity(None)
            if is_root() and _FIRST_UNUSED_ID <= owner <= _LAST_UNUSED_ID:
                return Identity(owner)
            if is_root():
                os.chown(workspace, number, number)
        except OSError as error:
            raise SandboxError(f"The workspace {workspace} cannot be used: {error.strerror}.") from error
    return Identity(number if own and is_root() else None)
