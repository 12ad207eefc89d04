"""What of the host a script sees: the trees that are bound, and the holes that are made in them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .job import Interpreter, SandboxError

# Directories of installed packages. An empty one in the place of a package could still be imported, and an empty one in
# the place of its metadata still names it: there a hidden entry has to be missing.
_PACKAGES: Final = ("site-packages", "dist-packages")
# Every entry beside a missing one is a mount, and the time that bubblewrap takes for them grows with their square:
# 0.05 s for 130, some seconds for so many.
_MOST_ENTRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class View:
    """A part of the host's file system, by path.

    Attributes:
        prefixes: Trees of the interpreter that have to be bound beside those that every script sees.
        masks: Directories inside all these trees in whose place an empty one is shown.
        missing: Files and directories inside them that are not there at all.
        thinned: The directories of these -> the entries that are left.
        links: Links, with what they say, on the way to the executable, that no tree holds.
    """

    prefixes: tuple[Path, ...]
    masks: tuple[Path, ...]
    missing: tuple[Path, ...]
    thinned: Mapping[Path, tuple[Path, ...]]
    links: tuple[tuple[Path, Path], ...]


def view(interpreter: Interpreter, hidden: Sequence[Path], system: Sequence[str]) -> View:
    """Decide what is bound and what is masked, so that the interpreter works and nothing hidden is seen.

    Raises:
        SandboxError: Something hidden cannot be told from what the interpreter needs.
    """
    shown = frozenset(map(Path, system))
    needed = shown | set(interpreter.prefixes)
    unseen = frozenset(place for path in hidden for place in _places(path))
    if both := sorted(needed & unseen):
        raise SandboxError(
            f"Scripts need all of {both[0]} to run {interpreter.python}, and must not see what is kept there; "
            f"make the environment in a directory of its own, for example {both[0] / '.venv'}."
        )

    def is_seen(path: Path) -> bool:
        """Whether the nearest tree or hidden directory above is a tree."""
        return next((above in needed for above in path.parents if above in needed or above in unseen), False)

    holes = sorted(filter(is_seen, unseen))
    missing = sorted({_first_missing(path) for path in holes if path.parent.name in _PACKAGES or not path.is_dir()})
    return View(
        prefixes=tuple(path for path in interpreter.prefixes if path not in shown and not is_seen(path)),
        masks=tuple(path for path in holes if path.is_dir() and path not in missing),
        missing=tuple(missing),
        thinned={folder: _rest(folder, missing) for folder in sorted({path.parent for path in missing})},
        links=tuple(
            (link, target) for link, target in _links(interpreter.python) if link not in needed and not is_seen(link)
        ),
    )


def _places(path: Path) -> Iterator[Path]:
    """Where something lies and, if it is an installed package, the link by which it is found."""
    yield _resolved(path)
    if path.is_symlink() and path.parent.name in _PACKAGES:
        yield _resolved(path.parent) / path.name


def _first_missing(path: Path) -> Path:
    """The path itself, or what has to be missing above it for one that may still be made."""
    while not path.parent.exists():
        path = path.parent
    return path


def _rest(folder: Path, missing: Collection[Path]) -> tuple[Path, ...]:
    """The entries of a directory but for those that must not be seen."""
    try:
        rest = tuple(path for path in sorted(folder.iterdir()) if path not in missing)
    except OSError as error:
        raise SandboxError(f"{folder}, of which scripts must not see all, cannot be read: {error.strerror}.") from error
    if len(rest) > _MOST_ENTRIES:
        raise SandboxError(
            f"{folder} holds more than {_MOST_ENTRIES} entries, so single ones cannot be hidden from scripts; "
            f"keep them elsewhere, as packages in an environment of their own."
        )
    return rest


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise SandboxError(
            f"The path {path}, which must be hidden from scripts, cannot be resolved: {error}."
        ) from error


def _links(path: Path) -> Iterator[tuple[Path, Path]]:
    """Every symbolic link met when `path` is resolved, with what it says."""
    seen: set[Path] = set()
    waiting = [path.absolute()]
    while waiting:
        current = Path("/")
        parts = waiting.pop().parts[1:]
        for index, part in enumerate(parts):
            current = current.parent if part == ".." else current / part
            if current in seen or not current.is_symlink():
                continue
            seen.add(current)
            target = current.readlink()
            yield current, target
            waiting.append(current.parent.joinpath(target, *parts[index + 1 :]))
            break
