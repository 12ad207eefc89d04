"""From a pytest item to an attempt and back to a report. Runs in the workers, or in the only process there is."""

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import options
from .collection import CandidateItem

if TYPE_CHECKING:
    from .checks import CheckTask
    from .config import Settings
    from .gates import Attempt, Run, Workbench
    from .gates.ahead import Ahead

_ATTEMPT = pytest.StashKey["Attempt"]()
_AHEAD = pytest.StashKey["Ahead | None"]()
_BENCH = pytest.StashKey["Workbench"]()
RUN = pytest.StashKey["Run"]()
_GRACE = 600.0
# Markers of items whose turn may never come.
_MAY_NOT_RUN = ("skip", "skipif", "xfail")
# What an interrupted session waits for replies that are just coming in.
_LAST_SECONDS = 2.0


class NotAccepted(Exception):  # noqa: N818 - an outcome, not an error
    """A verdict against the candidate, or the solver's failure."""


class NoVerdict(Exception):  # noqa: N818 - an outcome, not an error
    """Machinery failed; nothing is known about the candidate."""


def load_settings(config: pytest.Config) -> "Settings":
    """The configuration of the session.

    Raises:
        pytest.UsageError: It cannot be used.
    """
    from .agents import agent_names
    from .checks import check_names
    from .config import ConfigError, Settings, read_settings
    from .domains import domain_names
    from .providers import provider_kinds

    file = options.config_file(config)
    if file is None:
        return Settings()
    try:
        settings = read_settings(file, kinds=provider_kinds(), agents=agent_names(), checks=check_names())
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None
    for name, domain in settings.domains.items():
        if name not in domain_names():
            known = ", ".join(sorted(domain_names()))
            raise pytest.UsageError(f"{file}: `domains.{name}` is not a known domain; known are {known}")
        if domain.python is not None and not (domain.python.is_file() and os.access(domain.python, os.X_OK)):
            raise pytest.UsageError(f"{file}: `domains.{name}.python` {domain.python} is not a program that can be run")
    return settings


def chosen_gates(config: pytest.Config, settings: "Settings") -> tuple[str, ...]:
    """The gates of the session, in order; lint is always among them, since it reads the file.

    Raises:
        pytest.UsageError: A gate is unknown or not configured.
    """
    from .config import GATES

    configured = settings.configured_gates()
    named = [name.strip() for name in options.text(config, "gates").split(",") if name.strip()]
    for name in named:
        if name not in GATES:
            raise pytest.UsageError(f"--toolgate-gates: `{name}` is not a gate; the gates are {', '.join(GATES)}")
        if name not in configured:
            missing = "`screens`" if name == "screen" else f"`{name}`"
            raise pytest.UsageError(f"--toolgate-gates: the gate `{name}` needs {missing} in the configuration")
    return tuple(gate for gate in configured if not named or gate in named or gate == "lint")


def audit_name(config: pytest.Config) -> str | None:
    """The name of the audit that the session is, or None.

    Raises:
        pytest.UsageError: No audit can have this name.
    """
    name = options.text(config, "audit")
    if not name:
        return None
    from .audit.names import AuditError, check_name

    try:
        return check_name(name)
    except AuditError as error:
        raise pytest.UsageError(f"--toolgate-audit: {error}") from None


def prepare(config: pytest.Config, items: list[CandidateItem]) -> None:
    """Before the first item: tell the run what was collected, and give every item pytest-timeout's backstop.

    Gates keep their own deadlines. The backstop is for a fault of ours, and later than all of them together.
    """
    controller = config.pluginmanager.get_plugin("toolgate-controller")
    if controller is not None:
        controller.start()
    run = _run_of(config)
    from .gates.twins import note_collected

    note_collected(run.directory, {item.nodeid: str(item.path) for item in items})
    if not config.pluginmanager.has_plugin("timeout"):
        return
    settings = load_settings(config)
    verify = 2 * settings.verify.time_limit * settings.verify.repeats  # each may run again, alone
    screens = sum(
        screen.samples
        * settings.providers[screen.provider].timeout
        * settings.providers[screen.provider].retries.attempts
        + screen.samples
        * settings.providers[screen.provider].retries.max_wait
        * settings.providers[screen.provider].retries.attempts
        for screen in settings.screens
    )
    agent_runs = [solver.time_limit for solver in settings.solve for _ in range(2 if solver.control else 1)]
    from .gates.check_runs import MOST_RUNS, PATIENCE
    from .gates.workbench import SLOT_WAIT

    checks = 2 * PATIENCE * settings.verify.time_limit * MOST_RUNS
    waits = (2 + max(1, len(agent_runs))) * SLOT_WAIT
    longest = verify + checks + screens + sum(agent_runs) + waits + _GRACE
    backstop = pytest.mark.timeout(longest, method="signal", func_only=True)
    for item in items:
        item.add_marker(backstop)


def run(item: CandidateItem) -> None:
    """Judge the item's candidate.

    Raises:
        NotAccepted: A verdict against it, or not solved.
        NoVerdict: Machinery failed.
    """
    attempt = item.stash[_ATTEMPT] = _judge(item)
    if attempt.outcome in ("rejected", "review"):
        raise NotAccepted(attempt.headline)
    if attempt.outcome == "error":
        raise NoVerdict(attempt.headline)


def _judge(item: CandidateItem) -> "Attempt":
    from .gates import judge

    config = item.config
    if _AHEAD not in config.stash:
        config.stash[_AHEAD] = _look_ahead(item.session)
    ahead = config.stash[_AHEAD]
    return judge(item.path, _workbench(item.session)) if ahead is None else ahead.attempt(item.path)


def _look_ahead(session: pytest.Session) -> "Ahead | None":
    """Judge further candidates while the first ones wait; not where the session may end before their turn."""
    from .gates.ahead import Ahead, threads_ahead

    config = session.config
    bench = _workbench(session)
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    threads = threads_ahead(bench.settings, bench.run.gates)
    # Without workers a budget is spent in the order of the files.
    in_order = processes == 1 and bench.settings.budget.capped
    if not threads or in_order or config.option.maxfail or getattr(config.option, "stepwise", False):
        return None
    paths = [
        item.path
        for item in session.items
        if isinstance(item, CandidateItem) and not any(map(item.get_closest_marker, _MAY_NOT_RUN))
    ]
    ahead = Ahead(bench, paths, threads)
    config.pluginmanager.register(_Finisher(ahead))
    return ahead


class _Finisher:
    """Ends what was begun before its turn."""

    def __init__(self, ahead: "Ahead") -> None:
        self._ahead = ahead

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._ahead.finish(_LAST_SECONDS if exitstatus == pytest.ExitCode.INTERRUPTED else None)


def failure_text(item: CandidateItem, problem: BaseException) -> str:
    """What a report says of an item that did not pass; the first line has the fixed form."""
    attempt = _attempt_of(item, problem)
    more = attempt.sentence.splitlines()[1:]
    evidence = [f"warning: {warning}" for warning in attempt.warnings]
    return "\n".join([attempt.headline, *more, *evidence])


def complete_report(item: CandidateItem, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Carry the attempt from the worker to the controlling process, as one JSON string."""
    if call.when != "call" and not (call.excinfo and call.when == "setup"):
        return
    if call.excinfo is not None and isinstance(call.excinfo.value, pytest.skip.Exception | pytest.xfail.Exception):
        return
    attempt = _attempt_of(item, call.excinfo.value if call.excinfo else None)
    if attempt.seconds:
        report.duration = attempt.seconds  # it may have been judged before its turn
    item.user_properties.extend(properties(attempt, _run_of(item.config)).items())
    report.user_properties = list(item.user_properties)
    report.toolgate = attempt.to_json()  # type: ignore[attr-defined]  # pytest carries it along
    if attempt.outcome == "error":
        # JUnit and the terminal then show an error instead of a failure; `--lf` runs it again all the same.
        report.when = "setup"


def properties(attempt: "Attempt", run: "Run") -> dict[str, str]:
    """What JUnit says of an attempt."""
    return {
        "toolgate.outcome": attempt.outcome,
        "toolgate.gate": attempt.gate,
        "toolgate.reason": attempt.reason,
        "toolgate.fingerprint": attempt.fingerprint,
        "toolgate.run": run.id,
        "toolgate.reused": str(attempt.reused),
    }


def _attempt_of(item: CandidateItem, problem: BaseException | None) -> "Attempt":
    from .gates import Attempt

    attempt = item.stash.get(_ATTEMPT, None)
    expected = problem is None or isinstance(problem, NotAccepted | NoVerdict)
    if attempt is not None and expected:
        return attempt
    from .gates.result import fault

    shown = _run_of(item.config).shown(item.path)
    sentence = fault(problem) if problem else "the item ended without a result"
    return Attempt(id=attempt.id if attempt else "", outcome="error", gate=attempt.gate if attempt else "lint",
                   reason="internal", sentence=sentence, path=shown)  # fmt: skip


def _run_of(config: pytest.Config) -> "Run":
    """The run of this session: made by the controlling process, handed to its workers."""
    from .gates import Run

    if RUN not in config.stash:
        config.stash[RUN] = run_from_json(config.workerinput["toolgate"], Run)  # type: ignore[attr-defined]
    return config.stash[RUN]


def run_to_json(run: "Run") -> str:
    """A run as one JSON string, for the workers."""
    return json.dumps(dataclasses.asdict(run), default=str)


def run_from_json(text: str, cls: "type[Run]") -> "Run":
    """The run that `run_to_json` wrote."""
    values: dict[str, Any] = json.loads(text)
    for name in ("directory", "root", "database", "accepted"):
        values[name] = Path(values[name])
    return cls(**{**values, "gates": tuple(values["gates"])})


def _workbench(session: pytest.Session) -> "Workbench":
    config = session.config
    if _BENCH not in config.stash:
        from .gates import Workbench
        from .store import Store

        run = _run_of(config)
        # A worker outlives a killed session by what it has in hand, and must buy nothing more.
        parent = os.getppid() if hasattr(config, "workerinput") else None
        store = Store(run.database)
        config.stash[_BENCH] = Workbench(
            run, load_settings(config), store, Path(sys.executable), parent, _check_hook(session)
        )
    return config.stash[_BENCH]


def _check_hook(session: pytest.Session) -> "Callable[[CheckTask], Sequence[object]] | None":
    """What calls the session's own checks, those that hold where a candidate lies; None where nobody has added one."""
    if not session.config.hook.pytest_toolgate_check.get_hookimpls():
        return None

    def call(task: "CheckTask") -> Sequence[object]:
        hook = session.gethookproxy(task.candidate.path).pytest_toolgate_check
        results: list[object] = hook(candidate=task.candidate, domain=task.domain, run_script=task.run_script)
        return results

    return call
