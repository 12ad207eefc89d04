"""`toolgate db explain`: what a run of a candidate would reuse, and why not the rest."""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..agents import AgentError, agent_version
from ..candidate import Candidate
from ..config import ProviderSettings, ScreenSettings, Settings, SolveSettings
from ..config.model import Mode
from ..config.solver import BUILTIN
from ..domains import DomainError, domain_names, load_domain
from ..file_names import in_utf8
from ..gates.agent_runs import agent_run_key, runs_due
from ..gates.calls import ScreenCall
from ..gates.forecast import standing
from ..gates.lint import describe, examine
from ..gates.result import escaped
from ..gates.workbench import domain_python
from ..sandbox import SandboxError, inspect_interpreter
from ..store import Store
from ..store.reuse import judged_agent_run
from . import configuration
from .errors import CommandError
from .explanation import Explanation, Row, changed, ended, equal, reused, was

# What was asked about this candidate: as it stands, or in this file whatever it held then.
_EARLIER = """
SELECT paid.*, candidates.content, candidates.presented, runs.version, runs.settings AS configuration
FROM {table} AS paid JOIN attempts ON attempts.id = paid.attempt_id
LEFT JOIN candidates ON candidates.id = attempts.content_id LEFT JOIN runs ON runs.id = paid.run_id
WHERE candidates.presented = :presented OR attempts.path = :path
    OR substr(:path, -length(attempts.path) - 1) = '/' || attempts.path
ORDER BY paid.time
"""
# What a prompt shows of a candidate.
_SHOWN: Mapping[Mode | None, tuple[str, ...]] = {
    None: ("question", "options"),
    "choices-only": ("options",),
    "question-only": ("question",),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the view needs besides `--db` and `--json`."""
    parser.add_argument("candidate", type=Path, metavar="CANDIDATE", help="a candidate file, as it stands now")
    parser.add_argument(
        "--seed",
        type=int,
        default=os.environ.get("TOOLGATE_SEED") or 0,
        help="the seed of the run (default: TOOLGATE_SEED, or 0)",
    )
    configuration.add_option(parser)


def execute(options: argparse.Namespace, store: Store) -> int:
    """Print what would be reused, and why not the rest.

    Raises:
        CommandError: The file is no candidate without fault, or nothing is configured that asks anything.
    """
    settings = configuration.read(options)
    if not settings.screens and not settings.solve:
        raise CommandError("the configuration has neither `screens` nor `solve`, so there is nothing to reuse")
    candidate = _read(options.candidate, settings)
    found = list(_Explainer(candidate, settings, options.seed, store).explanations())
    if options.json:
        print(json.dumps([dataclasses.asdict(each) for each in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(each.line() for each in found))
    return 0


def _read(path: Path, settings: Settings) -> Candidate:
    try:
        candidate, faults = examine(path, domain_names(), settings.domain)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    if faults or candidate is None:
        raise CommandError(escaped(f"nothing is asked about a candidate with faults: {describe(str(path), faults[0])}"))
    return candidate


class _Explainer:
    def __init__(self, candidate: Candidate, settings: Settings, seed: int, store: Store) -> None:
        self.candidate = candidate
        self.settings = settings
        self.seed = seed
        self.store = store

    def explanations(self) -> Iterator[Explanation]:
        """In the order in which a run asks: the screens that decide, the cue screens, the solvers."""
        replies = self._earlier("replies")
        for screen in (*self.settings.verdict_screens, *self.settings.cue_screens):
            yield from self._screen(screen, replies)
        if self.settings.solve:
            yield from self._solvers()

    def _earlier(self, table: str) -> Sequence[Row]:
        path = os.path.abspath(in_utf8(self.candidate.path))  # noqa: PTH100 - links stand as in the record
        return self.store.query(_EARLIER.format(table=table), {"presented": self.candidate.presented, "path": path})

    # --- the calls of a screen --------------------------------------------------------------------------------

    def _screen(self, screen: ScreenSettings, replies: Sequence[Row]) -> Iterator[Explanation]:
        provider = self.settings.providers[screen.provider]
        stands = standing(self.candidate, screen, provider, self.seed, self.store)
        missing = {call.index: call for call in stands.missing}
        for index in range(screen.samples):
            name = f"screen `{screen.name}`, call {index}"
            if (row := stands.reused.get(index)) is not None:
                yield reused(name, "reply", row, index)
                continue
            call = missing[index]
            state, why = self._why_not(call, screen, provider, replies)
            if stands.decided:
                why = "; ".join(filter(None, [f"the recorded replies decide already ({stands.count})", why]))
                state = "not needed"
            yield Explanation(name, state, why, index, call.key)

    def _why_not(
        self, call: ScreenCall, screen: ScreenSettings, provider: ProviderSettings, replies: Sequence[Row]
    ) -> tuple[str, str]:
        same = self.store.query("SELECT * FROM replies WHERE reuse_key = ? ORDER BY time", [call.key])
        if same:
            return "asked again", ended("reply", same, "status", "this request")
        asked = [row for row in replies if row["call_index"] == call.index]
        if own := [row for row in asked if row["screen"] == screen.name]:
            return "changed", changed(own[-1], self._reply_changes(call, screen, provider, own[-1]))
        named = {other.name for other in self.settings.screens}
        for row in reversed(asked):
            if row["screen"] not in named and not self._reply_changes(call, screen, provider, row):
                return "changed", changed(row, was("name of the screen", row["screen"], screen.name))
        return "never asked", ""

    def _reply_changes(
        self, call: ScreenCall, screen: ScreenSettings, provider: ProviderSettings, row: Row
    ) -> list[str]:
        """What was other when a recorded reply was asked for. The order of the options follows from the rest."""
        before = json.loads(row["settings"])
        changes = [*self._server(provider, row, row["provider"]), *was("seed", row["seed"], self.seed)]
        for name, now in screen.asked().items():
            if name != "provider":  # its name is no part of a request
                changes += was(name, before.get(name), now)
        changes += self._content(row, _SHOWN[screen.mode])
        request = json.loads(row["request"])
        if request and before.get("mode") == screen.mode:
            same = request["messages"][0]["content"] == call.request.messages[0].content
            changes += [] if same else ["instruction changed"]
        return changes

    def _content(self, row: Row, names: Sequence[str]) -> list[str]:
        content = json.loads(row["content"] or "{}")
        now = self.candidate.content()
        return [f"{name} changed" for name in names if name in content and not equal(content[name], now[name])]

    def _server(self, provider: ProviderSettings, row: Row, name: str) -> list[str]:
        before = json.loads(row["configuration"] or "{}").get("providers", {}).get(name, {})
        # A key that is not in the record says nothing.
        changes = [text for key, now in provider.server().items() for text in was(key, before.get(key, now), now)]
        return [f"server: {', '.join(changes)}"] if changes else []

    # --- the agent runs ---------------------------------------------------------------------------------------

    def _solvers(self) -> Iterator[Explanation]:
        runs = [(solver, control) for solver in self.settings.solve for control in (False, True)[: 1 + solver.control]]
        try:
            domain = load_domain(self.candidate.domain)
            python = domain_python(domain, self.settings, Path(sys.executable))
            packages = inspect_interpreter(python, domain.distributions).packages
            versions = {solver.name: agent_version(solver) for solver in self.settings.solve}
        except (AgentError, DomainError, SandboxError) as problem:
            yield from (Explanation(_run_name(*run), "not known", str(problem)) for run in runs)
            return

        def key(solver: SolveSettings, control: bool) -> str:
            provider, tier = self.settings.providers[solver.provider], self.settings.sandbox
            return agent_run_key(
                self.candidate,
                solver,
                provider,
                self.seed,
                packages,
                tier,
                control=control,
                agent_version=versions[solver.name],
            )

        recorded = runs_due(
            self.candidate, self.settings, lambda *run: judged_agent_run(self.store, key(*run)), all_solvers=False
        )
        due = {(solver.name, control): row for solver, control, row in recorded}
        earlier = self._earlier("agent_runs")
        for run in runs:
            if (run[0].name, run[1]) not in due:
                why = "the recorded agent runs decide already"
                yield Explanation(_run_name(*run), "not needed", why, reuse_key=key(*run))
            elif (row := due[run[0].name, run[1]]) is not None:
                yield reused(_run_name(*run), "agent run", row)
            else:
                yield self._run_why_not(*run, key(*run), packages, earlier)

    def _run_why_not(
        self,
        solver: SolveSettings,
        control: bool,
        key: str,
        packages: Mapping[str, str],
        earlier: Sequence[Row],
    ) -> Explanation:
        name = _run_name(solver, control)
        same = self.store.query("SELECT * FROM agent_runs WHERE reuse_key = ? ORDER BY time", [key])
        if same:
            return Explanation(name, "asked again", ended("agent run", same, "reason", "this key"), reuse_key=key)
        alike = [row for row in earlier if bool(row["control"]) == control]
        own = [row for row in alike if (row["solver"] or row["agent"]) == solver.name]
        named = {other.name for other in self.settings.solve}
        free = [row for row in alike if (row["solver"] or row["agent"]) not in named]
        if not (own or free):
            return Explanation(name, "never asked", "", reuse_key=key)
        last = (own or free)[-1]
        changes = self._run_changes(solver, self.settings.providers[solver.provider], packages, last)
        return Explanation(name, "changed", changed(last, changes), reuse_key=key)

    def _run_changes(
        self, solver: SolveSettings, provider: ProviderSettings, packages: Mapping[str, str], row: Row
    ) -> list[str]:
        """What was other when a recorded agent run was made."""
        before = json.loads(row["settings"])
        changes = [*self._server(provider, row, before.get("provider", "")), *was("seed", row["seed"], self.seed)]
        # What is not in the record was not set then.
        known = {field.name for field in dataclasses.fields(SolveSettings)}
        if before.get("agent", BUILTIN) == BUILTIN:
            before.setdefault("tools", "blocks")  # the only way there was
        was_set: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in before.items() if name in known
        }
        asked = SolveSettings(**was_set).asked()
        now = solver.at(provider).asked()
        for name in sorted({*asked, *now}, key=[field.name for field in dataclasses.fields(solver)].index):
            changes += was(name, asked.get(name), now.get(name))
        presented = ("question", "options") if row["presented"] != self.candidate.presented else ()
        changes += self._content(row, (*presented, "domain"))
        environment = json.loads(row["environment"])
        changes += was("sandbox", environment.get("sandbox", "bubblewrap"), self.settings.sandbox)
        installed = environment.get("packages", {})
        for package in sorted({*installed, *packages}):
            changes += was(package, installed.get(package), packages.get(package))
        return changes + was("pytest-toolgate", row["version"], __version__)


def _run_name(solver: SolveSettings, control: bool) -> str:
    return f"control of {solver.title}" if control else solver.title
