"""Which files are candidates, and the pytest nodes they become. No file is read here."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import options
from .file_names import SUFFIXES, in_utf8

_LOOKED_AT = 64 * 1024
_QUESTION = re.compile(rb"""^[ \t]*+(?:\{\s*+)?+["']?question["']?[ \t]*+:""", re.MULTILINE)
_ROOTS = pytest.StashKey["Roots"]()


@dataclass(frozen=True, slots=True)
class Roots:
    """Where candidates are collected in a session.

    Attributes:
        directories: Every candidate file below them is collected.
        expected: Whether the session's arguments lead to any candidate; nothing at all is done otherwise.
    """

    directories: tuple[Path, ...]
    expected: bool

    def cover(self, path: Path) -> bool:
        """Whether a path lies in one of the directories."""
        return any(path.is_relative_to(directory) for directory in self.directories)


class CandidateFile(pytest.File):
    """One candidate file: one test item."""

    def collect(self) -> Iterable["CandidateItem"]:
        """The item, named so that `-k` and `--lf` work; the file itself is read when the item runs."""
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self.path.stem)
        item = CandidateItem.from_parent(self, name=name)
        item.add_marker("toolgate")  # already here, so that `-m toolgate` finds it
        yield item


class CandidateItem(pytest.Item):
    """One candidate on its way through the gates."""

    def runtest(self) -> None:
        """Pass the gates; raises what pytest is to report when they are not passed."""
        from .judging import run

        run(self)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The reason, its first line in the fixed form, and never a traceback."""
        from .judging import failure_text

        return failure_text(self, excinfo.value)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Path, line and name; without a line number skip markers break."""
        return in_utf8(self.path), 0, self.name


def candidate_file(path: Path, parent: pytest.Collector) -> CandidateFile:
    """The node of a candidate file."""
    shown = in_utf8(path)
    if shown == path:
        return CandidateFile.from_parent(parent, path=path)
    # Names and node ids travel between processes as UTF-8; one name in another encoding would end the session.
    nodeid = os.path.relpath(shown, parent.config.rootpath)
    return CandidateFile.from_parent(parent, path=path, name=shown.name, nodeid=nodeid)


def candidate_roots(config: pytest.Config) -> Roots:
    """Where the session collects candidates, worked out once."""
    roots = config.stash.get(_ROOTS, None)
    if roots is None:
        roots = config.stash[_ROOTS] = _find_roots(config)
    return roots


def is_candidate(path: Path, session: pytest.Session) -> bool:
    """Whether a file is to be collected as a candidate."""
    if path.suffix not in SUFFIXES:
        return False
    return candidate_roots(session.config).cover(path) or session.isinitpath(path)


def _find_roots(config: pytest.Config) -> Roots:
    named = options.candidate_directories(config)
    invoked = config.invocation_params.dir
    arguments = [_as_pytest_reads(invoked / argument.split("::")[0]) for argument in config.args]
    directories = {base / name for base in (config.rootpath, invoked) for name in named}
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        for argument in arguments:
            directories.update(_named_like(argument, named))
            if not _is_repository(argument, config) and _holds_candidates(argument):
                directories.add(argument)
    present = tuple(sorted(directory for directory in directories if directory.is_dir()))
    expected = any(
        (argument.suffix in SUFFIXES and argument.is_file())
        or any(argument.is_relative_to(root) or root.is_relative_to(argument) for root in present)
        for argument in arguments
    )
    return Roots(present, expected)


def _as_pytest_reads(path: Path) -> Path:
    """An absolute path without `..`, in which links stand as they were written."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links


def _named_like(argument: Path, named: list[Path]) -> Iterable[Path]:
    """The part of a path that ends like a configured directory: the same pool, elsewhere."""
    for place in (argument, *argument.parents):
        if any(not name.is_absolute() and place.parts[-len(name.parts) :] == name.parts for name in named):
            yield place


def _is_repository(argument: Path, config: pytest.Config) -> bool:
    """Whether a path is a repository's root or lies above it: that is no pool, whatever it holds.

    Without a file that configures pytest, the rootdir may be nothing but the directory that was named.
    """
    marked = config.inipath is not None or (argument / "pyproject.toml").exists() or (argument / ".git").exists()
    return marked and config.rootpath.is_relative_to(argument)


def _holds_candidates(argument: Path) -> bool:
    """Whether a directory named on the command line directly holds files with a `question`."""
    if not argument.is_dir():
        return False
    return any(path.suffix in SUFFIXES and path.is_file() and _asks(path) for path in argument.iterdir())


def _asks(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _QUESTION.search(file.read(_LOOKED_AT)) is not None
    except OSError:
        return False
