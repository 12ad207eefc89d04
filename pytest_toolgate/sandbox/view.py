"""What of the host a script sees: the trees that are bound, and the holes that are made in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .job import Interpreter, SandboxError


@dataclass(frozen=True, slots=True)
class View:
    """A part of the host's file system, by path.

    Attributes:
        prefixes: Trees of the interpreter that have to be bound beside those that every script sees.
        masks: Directories inside all these trees in whose place an empty one is shown.
        links: Links, with what they say, on the way to the executable, that no tree holds.
    """

    prefixes: tuple[Path, ...]
    masks: tuple[Path, ...]
    links: tuple[tuple[Path, Path], ...]


def view(interpreter: Interpreter, hidden: Sequence[Path], system: Sequence[str]) -> View:
    """Decide what is bound and what is masked, so that the interpreter works and nothing hidden is seen.

    Raises:
        SandboxError: Something hidden cannot be told from what the interpreter needs.
    """
    shown = frozenset(map(Path, system))
    needed = shown | set(interpreter.prefixes)
    unseen = frozenset(_resolved(path) for path in hidden)
    if both := sorted(needed & unseen):
        raise SandboxError(
            f"Scripts need all of {both[0]} to run {interpreter.python}, and must not see what is kept there; "
            f"make the environment in a directory of its own, for example {both[0] / '.venv'}."
        )

    def is_seen(path: Path) -> bool:
        """Whether the nearest tree or hidden directory above is a tree."""
        return next((above in needed for above in path.parents if above in needed or above in unseen), False)

    masks = tuple(sorted(filter(is_seen, unseen)))
    for mask in masks:
        if not mask.is_dir():
            raise SandboxError(
                f"{mask} must not be seen by scripts, but lies within what they see and is no directory that could be "
                f"hidden from them; keep it in a directory of its own."
            )
    return View(
        prefixes=tuple(path for path in interpreter.prefixes if path not in shown and not is_seen(path)),
        masks=masks,
        links=tuple(
            (link, target) for link, target in _links(interpreter.python) if link not in needed and not is_seen(link)
        ),
    )


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
