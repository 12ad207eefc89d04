"""`--toolgate-dry-run`: nothing is run, and the terminal says what a run would ask and what that would cost."""

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import options
from .collection import CandidateItem
from .judging import chosen_gates, load_settings

if TYPE_CHECKING:
    from .gates import Workbench
    from .store import Store


class DryRun:
    """Takes the place of every item of a session. It works in the controlling process, and starts no other."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._lines: list[str] = []
        # xdist looks at these when it is configured, which it leaves until all others are.
        config.option.dist, config.option.tx, config.option.numprocesses = "no", [], 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Forecast instead of running; what a run could not be begun with is an error here as well.

        Raises:
            pytest.UsageError: The configuration or the database cannot be used.
        """
        from .store import StoreError

        candidates = {item.nodeid: item.path for item in session.items if isinstance(item, CandidateItem)}
        try:
            with tempfile.TemporaryDirectory(prefix="toolgate-dry-run-") as directory:
                bench = _workbench(self._config, Path(directory))
                with closing(bench.store):
                    self._lines = _lines(candidates, bench)
        except StoreError as error:
            raise pytest.UsageError(str(error)) from None
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What a run would ask."""
        if self._lines:
            terminalreporter.section("toolgate")
        for line in self._lines:
            terminalreporter.write_line(line)


def _workbench(config: pytest.Config, directory: Path) -> "Workbench":
    """What the gates of a run would work with, but for a database that is only read."""
    from .gates import Run, Workbench

    settings = load_settings(config)
    database = options.path(config, "db")
    run = Run(
        id="",
        seed=options.seed(config),
        directory=directory,
        root=config.rootpath,
        gates=chosen_gates(config, settings),
        database=database,
        accepted=options.path(config, "accepted"),
        fresh=options.flag(config, "fresh"),
        all_screens=options.flag(config, "all-screens"),
    )
    return Workbench(run, settings, _recorded(database, directory), Path(sys.executable))


def _recorded(database: Path, directory: Path) -> "Store":
    """What is recorded so far. A database that a run would first make or bring up to date stays as it is.

    Raises:
        StoreError: It cannot be read.
    """
    from .store import Store, StoreError, schema

    copy = directory / "toolgate.db"
    if not database.is_file():
        return Store(copy)
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)) as source:
            if source.execute("PRAGMA user_version").fetchone()[0] >= schema.VERSION:
                return Store(database)
            with closing(sqlite3.connect(copy)) as target:
                source.backup(target)
    except sqlite3.Error as error:
        raise StoreError(f"the database {database} cannot be opened: {error}") from error
    return Store(copy)


def _lines(paths: dict[str, Path], bench: "Workbench") -> list[str]:
    from .gates.forecast import forecast
    from .gates.lint import lint
    from .gates.twins import note_collected

    note_collected(bench.run.directory, {nodeid: str(path) for nodeid, path in paths.items()})
    looked_at = [lint(path, bench) for path in paths.values()]
    sound = [candidate for candidate, result in looked_at if candidate is not None and result.verdict == "passed"]
    faulty = sum(result.verdict == "rejected" for _, result in looked_at)
    unreadable = sum(result.verdict == "error" for _, result in looked_at)
    head = f"dry run: {len(paths)} {'candidate' if len(paths) == 1 else 'candidates'}, {faulty} with faults of form"
    return [f"{head}, {unreadable} that cannot be read" if unreadable else head, *forecast(sound, bench).lines()]
