"""The controlling process of a run: it begins and ends the run, and alone writes accepted items."""

import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

import pytest

from . import __version__, options
from .file_names import SUFFIXES
from .judging import RUN, audit_name, chosen_gates, load_settings, properties, run_to_json

if TYPE_CHECKING:
    from .companions import Companion
    from .gates import Attempt
    from .progress import Progress
    from .store import Store
    from .store.accepted import AcceptedItems


class Controller:
    """Owns a run from its first candidate to its last report."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._judged: dict[str, str] = {}
        self._pairs: dict[str, list[tuple[str, object]]] = {}
        self.problems: list[str] = []
        self.removed: list[str] = []
        self.not_run: list[str] = []
        self._store: Store | None = None
        self._lock: IO[str] | None = None
        self._items: AcceptedItems | None = None
        self._reported: set[str] = set()
        self._companions: list[Companion] = []
        self._collected: list[str] = []
        self._progress: Progress | None = None
        self._old_handler: Any = None

    # --- beginning ----------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Under xdist begin before the workers do; a configuration that cannot be used ends the session in one line."""
        if self.config.getoption("tx", None) and not self.config.option.collectonly:
            if self.config.option.maxschedchunk is None:
                # Items take minutes, and a worker must not hoard the ones behind a slow one.
                self.config.option.maxschedchunk = 1
            self.start()

    def start(self) -> None:
        """Begin the run, once.

        Raises:
            pytest.UsageError: The configuration or the database cannot be used.
        """
        if self._store is not None:
            return
        from .gates import Run
        from .store import StoreError, new_id

        settings, audit = load_settings(self.config), audit_name(self.config)
        run = Run(
            id=new_id(),
            seed=options.seed(self.config),
            directory=Path(tempfile.mkdtemp(prefix="toolgate-run-")),
            root=self.config.rootpath,
            gates=chosen_gates(self.config, settings),
            database=options.path(self.config, "db"),
            accepted=options.path(self.config, "accepted"),
            fresh=options.flag(self.config, "fresh"),
            all_screens=options.flag(self.config, "all-screens"),
            seal=secrets.token_hex(16),
            audit=audit,
        )
        from .companions import companions

        try:
            from .run_directory import open_run

            self._store, self._lock = open_run(run, settings)
        except StoreError as error:
            raise pytest.UsageError(str(error)) from None
        self.config.stash[RUN] = run
        from .store.accepted import AcceptedItems

        self._items = AcceptedItems(run.accepted)
        self._old_handler = signal.signal(signal.SIGTERM, _interrupt)
        self._companions = companions(settings, run)
        for companion in self._companions:
            companion.start()
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        # Without workers pytest itself shows which item it is at.
        if terminal is not None and self.config.get_verbosity() > 0 and self.config.getoption("tx", None):
            from .progress import Progress

            self._progress = Progress(terminal, run)
            self._progress.start()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - xdist's worker controller
        """Tell a worker which run it belongs to, and a replacement which items the run has."""
        if self._store is not None:
            node.workerinput["toolgate"] = run_to_json(self.config.stash[RUN])
            if self._collected:
                node.workerinput["toolgate_ids"] = self._collected

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Remember what was collected: a file that appears later must not shift the list."""
        self._collected = self._collected or list(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The same without xdist."""
        self._collected = self._collected or [item.nodeid for item in session.items]

    def pytest_report_header(self) -> str:
        """One line that says what the session will do."""
        settings = load_settings(self.config)
        gates = ", ".join(chosen_gates(self.config, settings))
        file = options.config_file(self.config)
        source = os.path.relpath(file, self.config.invocation_params.dir) if file else "no configuration file"
        line = f"toolgate {__version__}: gates {gates}; {source}; database {options.text(self.config, 'db')}"
        if audit := options.text(self.config, "audit"):
            line += f"; audit {audit}"
        from .summary import isolation

        return "; ".join(filter(None, (line, isolation(settings.sandbox))))

    # --- recording ----------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make xdist's report of a dead worker one of ours, so that the candidate ends like any other error."""
        if not self._is_candidate(crashitem):
            return
        sentence = "the worker process died while it judged this candidate"
        try:
            attempt = self._unfinished(crashitem, "interrupted", sentence)
        except Exception as error:  # noqa: BLE001 - as below
            self.problems.append(f"{crashitem}: {type(error).__name__}: {error}")
            return
        # JUnit writes the properties of a report of this phase only.
        report.when = "teardown"
        report.longrepr = attempt.headline
        report.user_properties = list(properties(attempt, self.config.stash[RUN]).items())
        report.toolgate = attempt.to_json()  # type: ignore[attr-defined]  # as workers do

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one report. Whatever goes wrong here must not end the run: it is told at its end."""
        self._reported.add(report.nodeid)
        try:
            if self._is_candidate(report.nodeid):
                self._share(report)
            if (text := getattr(report, "toolgate", None)) is not None:
                self._take(report.nodeid, text)
        except Exception as error:  # noqa: BLE001 - see above
            self.problems.append(f"{report.nodeid}: {type(error).__name__}: {error}")

    def _take(self, nodeid: str, text: str) -> None:
        from .gates import Attempt
        from .store.record import read_record

        attempt = Attempt.from_json(text)
        self._judged[nodeid] = text
        run = self.config.stash[RUN]
        if self._store is None or self._items is None:
            return
        if run.audit is not None and attempt.outcome != "error":
            return  # which leaves the accepted items of the loop as they are
        if attempt.outcome == "accepted":
            self._items.write(attempt.candidate_id, attempt.path, read_record(self._store, attempt.id))
        elif attempt.outcome in ("rejected", "review"):
            self.removed.extend(run.shown(item) for item in self._items.remove(attempt.path))
        elif attempt.outcome == "error":
            self._close(attempt)

    def _share(self, report: pytest.TestReport) -> None:
        """Give the reports of a candidate the same properties in one copy: pytest keeps all reports of a run."""
        pairs: list[tuple[str, object]] = [
            (sys.intern(str(name)), sys.intern(value) if type(value) is str else value)
            for name, value in report.user_properties
        ]
        earlier = self._pairs.pop(report.nodeid, None)
        report.user_properties = list(earlier) if earlier == pairs else pairs
        if report.when != "teardown":
            self._pairs[report.nodeid] = pairs

    def _unfinished(self, nodeid: str, reason: str, sentence: str) -> "Attempt":
        """An attempt that its worker could not end, as far as it had come."""
        from .gates import Attempt
        from .gates.twins import read_collected

        run = self.config.stash[RUN]
        path = run.shown(Path(read_collected(run.directory).get(nodeid, nodeid.split("::")[0])))
        begun: list[dict[str, Any]] = [] if self._store is None else self._store.query(
            "SELECT attempts.*, gates.gate FROM attempts LEFT JOIN gates ON gates.attempt_id = attempts.id "
            "WHERE run_id = ? AND path = ? AND attempts.id NOT IN (SELECT attempt_id FROM outcomes) "
            "ORDER BY attempts.time DESC, gates.time DESC LIMIT 1",
            [run.id, path],
        )  # fmt: skip
        if not begun:
            return Attempt("", "error", "lint", reason, sentence, path)
        row = begun[0]
        names = row["candidate_id"] or "", row["fingerprint"] or ""
        return Attempt(row["id"], "error", row["gate"] or "lint", reason, sentence, path, *names)

    def _close(self, attempt: "Attempt") -> None:
        """Record the outcome of an attempt that its worker could not record itself."""
        assert self._store is not None
        if attempt.id and self._store.query("SELECT 1 FROM outcomes WHERE attempt_id = ?", [attempt.id]):
            return
        run_id = self.config.stash[RUN].id
        attempt_id = attempt.id or self._store.append("attempts", {"run_id": run_id, "path": attempt.path})
        self._store.append("outcomes", {
            "attempt_id": attempt_id,
            "outcome": attempt.outcome,
            "gate": attempt.gate,
            "reason": attempt.reason,
            "sentence": attempt.sentence,
            "warnings": [],
            "reused": 0,
        })  # fmt: skip

    def _is_candidate(self, nodeid: str) -> bool:
        return nodeid.split("::")[0].endswith(SUFFIXES)

    @property
    def attempts(self) -> list["Attempt"]:
        """How each candidate fared, by path; kept as the strings that pytest keeps with its reports."""
        from .gates import Attempt

        return sorted(map(Attempt.from_json, self._judged.values()), key=lambda attempt: attempt.path)

    # --- ending -------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the run with an event; items that never ran are named in it."""
        if self._progress is not None:
            self._progress.stop()
        if self._store is None:
            return
        from .gates.twins import read_collected

        missing = [
            nodeid for nodeid in read_collected(self.config.stash[RUN].directory) if nodeid not in self._reported
        ]
        try:
            self._store.append("run_events", {
                "run_id": self.config.stash[RUN].id,
                "kind": "closed",
                "detail": {"judged": len(self._judged), "not_run": missing},
            })  # fmt: skip
        except Exception as error:  # noqa: BLE001 - told in the summary
            self.problems.append(str(error))
        self.not_run = missing
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The funnel, and one line per candidate that was not accepted."""
        if self._store is None or not (self._judged or self.problems):
            return
        from .summary import write

        write(terminalreporter, self, self._store, self.config.stash[RUN], load_settings(self.config).sandbox)

    def pytest_unconfigure(self) -> None:
        """Stop what was started, whatever happened."""
        for companion in self._companions:
            companion.stop()
        if self._store is not None and self._lock is not None:
            from .run_directory import close_run

            close_run(self.config.stash[RUN], self._store, self._lock)
            signal.signal(signal.SIGTERM, self._old_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends a run like Ctrl-C: reports and JUnit are written, children are ended."""
    raise KeyboardInterrupt
