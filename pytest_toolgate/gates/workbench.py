"""What the gates work with: settings, the run they belong to, and the things outside that they may touch."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..candidate import Candidate
from ..config import DomainSettings, Settings
from ..domains import Domain
from ..file_names import in_utf8
from ..providers import Provider, open_provider
from ..sandbox import Interpreter, Keepsakes, Slots, WarmStart, inspect_interpreter
from ..store import Store
from ..whole_file import write_whole
from .result import GateResult, error, escaped

if TYPE_CHECKING:
    from ..checks import CheckTask

# A place is free again after one script or one call, which takes long only where few requests per minute are allowed.
SLOT_WAIT = 24 * 3600.0
STOPPED = "stopped.json"
WARM = "warm"
FORMS = "forms"


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
        seal: A string that lies about where no agent may come; whoever knows it has been there. Empty for none.
        audit: Name of the audit, if the run is one: what it finds out is for no generator, and makes no accepted item.
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
    seal: str = ""
    audit: str | None = None

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
        check_hook: What asks whoever has added a check to this session; each of the results is a `CheckResult` or None.
        private: Further directories that no script and no agent may see.
    """

    run: Run
    settings: Settings
    store: Store
    default_python: Path
    parent: int | None = None
    check_hook: "Callable[[CheckTask], Sequence[object]] | None" = None
    private: tuple[Path, ...] = ()
    _providers: dict[str, Provider] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def interpreter(self, domain: Domain) -> Interpreter:
        """The interpreter that has the domain's software.

        Raises:
            SandboxError: It does not run.
        """
        return inspect_interpreter(domain_python(domain, self.settings, self.default_python), domain.distributions)

    def provider(self, name: str) -> Provider:
        """An open provider by its configured name.

        Raises:
            ProviderError: It cannot be used.
        """
        with self._opening:
            if name not in self._providers:
                self._providers[name] = open_provider(self.settings.providers[name], self.run.directory)
            return self._providers[name]

    def hidden(self, domain: Domain, candidate: Candidate | None = None) -> tuple[Path, ...]:
        """What no script and no agent may see, wherever the interpreter happens to be installed."""
        run = self.run
        # Seeds hold scripts that solve questions of the same kind.
        beside = [*([domain.seeds] if domain.seeds else []), *([candidate.path.parent] if candidate else [])]
        paths = (run.root, *beside, run.database.parent, run.accepted, run.directory, *self.private)
        return tuple(path for path in paths if path.is_dir())

    def warm_start(self, domain: Domain) -> WarmStart | None:
        """Where scripts of the domain find a process to be copies of, None where they are started from nothing."""
        if not self.settings.verify.warm:
            return None
        return WarmStart(self.run.directory / WARM, domain.warm_start, domain.preload or domain.packages)

    def keepsakes(self) -> Keepsakes:
        """What warm runs leave for later runs of the same job."""
        return Keepsakes(self.run.database.parent / FORMS)

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
        write_whole(self.run.directory / STOPPED, json.dumps(sentence))

    def refusal(self) -> GateResult | None:
        """None while calls may be made, else what ends a gate that needs one."""
        stopped = "the session has ended" if self.ended else paid_work_stopped(self.run)
        return error("not-run", f"paid work of this run was stopped: {stopped}") if stopped else None


def domain_python(domain: Domain, settings: Settings, default: Path) -> Path:
    """The interpreter of a domain: what the user set, else what the domain names, else the default."""
    return settings.domains.get(domain.name, DomainSettings()).python or domain.python or default


def paid_work_stopped(run: Run) -> str | None:
    """Why the paid work of a run was stopped, or None."""
    try:
        return str(json.loads((run.directory / STOPPED).read_text("utf-8")))
    except (OSError, ValueError):
        return None
