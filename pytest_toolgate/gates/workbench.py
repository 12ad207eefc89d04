"""What the gates work with: settings, the run they belong to, and the things outside that they may touch."""

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from ..candidate import Candidate
from ..config import DomainSettings, Settings
from ..domains import Domain
from ..file_names import in_utf8
from ..providers import Provider, open_provider
from ..sandbox import Interpreter, Slots, inspect_interpreter
from ..store import Store
from .result import GateResult, error, escaped

# A place is free again after one script or one call, which takes long only where few requests per minute are allowed.
SLOT_WAIT = 24 * 3600.0
STOPPED = "stopped.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One run, as all its processes know it.

    Attributes:
        id: Its key in the database.
        seed: Seed of every permutation.
        directory: Private directory of the run, shared by its processes and removed at its end.
        root: Directory that paths are shown relative to.
        gates: The gates to pass, in order.
        database: The database file.
        accepted: Directory of accepted items.
        fresh: Reuse no recorded reply or agent run.
        all_screens: Go on after a screen has rejected.
    """

    id: str
    seed: int
    directory: Path
    root: Path
    gates: tuple[str, ...]
    database: Path
    accepted: Path
    fresh: bool = False
    all_screens: bool = False

    def shown(self, path: Path) -> str:
        """A path as people see it: relative to the root where it lies below."""
        readable = in_utf8(path)
        return os.path.relpath(readable, self.root) if path.is_relative_to(self.root) else str(readable)


@dataclass(slots=True)
class Workbench:
    """Everything a gate may use. One per process, shared by its threads.

    Attributes:
        run: The run.
        settings: The configuration.
        store: The database.
        default_python: Interpreter of a domain for which none is configured.
        parent: The process that this one works for, None if it works for itself. When it is gone, so is the run.
    """

    run: Run
    settings: Settings
    store: Store
    default_python: Path
    parent: int | None = None
    _providers: dict[str, Provider] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def interpreter(self, domain: Domain) -> Interpreter:
        """The interpreter that has the domain's software.

        Raises:
            SandboxError: It does not run.
        """
        python = self.settings.domains.get(domain.name, DomainSettings()).python or self.default_python
        return inspect_interpreter(python, domain.distributions)

    def provider(self, name: str) -> Provider:
        """An open provider by its configured name.

        Raises:
            ProviderError: It cannot be used.
        """
        with self._opening:
            if name not in self._providers:
                self._providers[name] = open_provider(self.settings.providers[name], self.run.directory)
            return self._providers[name]

    def hidden(self, candidate: Candidate) -> tuple[Path, ...]:
        """What no script and no agent may see, wherever the interpreter happens to be installed."""
        run = self.run
        paths = (run.root, candidate.path.parent, run.database.parent, run.accepted, run.directory)
        return tuple(path for path in paths if path.is_dir())

    def cpu_slots(self) -> Slots:
        """Places for running scripts: one per core, so that a time limit does not measure the load."""
        return Slots(self.run.directory / "cpu", len(os.sched_getaffinity(0)), SLOT_WAIT)

    def call_slots(self, provider: str) -> Slots:
        """Places for calls under way to one provider."""
        return self._provider_slots("calls", provider)

    def agent_slots(self, provider: str) -> Slots:
        """Places for agents at work with one provider: one that waits for its model would lose its time to others."""
        return self._provider_slots("agents", provider)

    def _provider_slots(self, what: str, provider: str) -> Slots:
        count = self.settings.providers[provider].concurrency
        return Slots(self.run.directory / f"{what}-{provider}", count, SLOT_WAIT)

    # --- once an account is exhausted, the whole run stops paying ---------------------------------------------

    def end(self) -> None:
        """The session is over: what this process has under way begins nothing more."""
        self._over.set()

    @property
    def ended(self) -> bool:
        """Whether the session is over: ended, or killed with its controlling process."""
        return self._over.is_set() or (self.parent is not None and os.getppid() != self.parent)

    def stop_paid_work(self, sentence: str) -> None:
        """Make every later call of the run, in every process, end as `not-run`."""
        sentence = escaped(sentence)  # a server's words
        file = self.run.directory / STOPPED
        written = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        written.write_text(json.dumps(sentence), "utf-8")
        written.rename(file)

    def refusal(self) -> GateResult | None:
        """None while calls may be made, else what ends a gate that needs one."""
        stopped = "the session has ended" if self.ended else paid_work_stopped(self.run)
        return error("not-run", f"paid work of this run was stopped: {stopped}") if stopped else None


def paid_work_stopped(run: Run) -> str | None:
    """Why the paid work of a run was stopped, or None."""
    try:
        return str(json.loads((run.directory / STOPPED).read_text("utf-8")))
    except (OSError, ValueError):
        return None
