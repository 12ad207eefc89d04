"""What a job leaves for the next run of the very same job: opaque, bounded, shown to no other.

Compiled forms, above all. A script wrote it, so nobody outside a sandbox ever looks into it, and it goes to that script
alone, under the very same conditions: whoever poisons it poisons himself, as he could have done in the script's text.
"""

import json
import os
import platform
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from ..whole_file import write_whole
from .job import Finished, GiB, Job
from .profile import KEPT_MOST

_MOST_OF_ALL: Final = 1 * GiB


@cache
def _machine() -> list[str]:
    """What compiled code is made by and for: it is of no use, or worse, with another processor or compiler."""
    found = [platform.machine()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        found += [line for line in lines if line.startswith(("model name", "flags", "Features"))][:2]
    for name in ("cc", "gcc"):
        if path := shutil.which(name):
            about = Path(path).stat()
            found.append(f"{Path(path).resolve()} {about.st_size} {about.st_mtime_ns}")
    return found


@dataclass(frozen=True, slots=True)
class Keepsakes:
    """A directory of them, private to the user; it can be removed at any time."""

    directory: Path

    def of(self, job: Job) -> bytes:
        """What the job left, empty if nothing."""
        path = self._path(job)
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return b""
        return content

    def keep(self, job: Job, finished: Finished) -> None:
        """Add what a run left, if it came to its own end; a full disk is no fault of the job's."""
        content = job.kept + finished.kept
        if not finished.kept or finished.ended != "exited" or len(content) > KEPT_MOST:
            return
        with suppress(OSError):
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path(job), content)

    def prune(self) -> None:
        """Remove the ones that were not used for the longest time, until the rest is a gibibyte or less."""
        with suppress(OSError):
            found = sorted(
                ((entry.stat(), Path(entry)) for entry in os.scandir(self.directory)), key=lambda one: -one[0].st_mtime
            )
            total = 0
            for status, path in found:
                total += status.st_size
                if total > _MOST_OF_ALL:
                    path.unlink(missing_ok=True)

    def _path(self, job: Job) -> Path:
        files = {name: sha256(content).hexdigest() for name, content in job.files.items()}
        software = [str(job.interpreter.python), job.interpreter.version, dict(job.interpreter.packages)]
        hook = "" if job.warm is None else job.warm.hook
        conditions = [dict(job.env), job.threads, job.directory]
        same = [sha256(job.script).hexdigest(), files, conditions, software, hook, _machine()]
        return self.directory / sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
