"""`toolgate db explain`: what a run of a candidate would reuse, and why not the rest."""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..candidate import Candidate
from ..config import DomainSettings, ProviderSettings, ScreenSettings, Settings, SolveSettings
from ..config.model import Mode
from ..domains import DomainError, domain_names, load_domain
from ..file_names import in_utf8
from ..gates.calls import ScreenCall
from ..gates.forecast import standing
from ..gates.lint import describe, examine
from ..gates.result import escaped
from ..gates.solve import agent_run_key
from ..sandbox import SandboxError, inspect_interpreter
from ..store import Store
from ..store.reuse import judged_agent_run
from . import configuration
from .errors import CommandError

# What was asked about this candidate: as it stands, or in this file whatever it held then.
_EARLIER = """
SELECT paid.*, candidates.content, candidates.presented, runs.version, runs.settings AS configuration
FROM {table} AS paid JOIN attempts ON attempts.id = paid.attempt_id
LEFT JOIN candidates ON candidates.id = attempts.content_id LEFT JOIN runs ON runs.id = paid.run_id
WHERE candidates.presented = :presented OR attempts.path = :path
    OR substr(:path, -length(attempts.path) - 1) = '/' || attempts.path
ORDER BY paid.time
"""
_LONGEST = 600
# What a prompt shows of a candidate.
_SHOWN: Mapping[Mode | None, tuple[str, ...]] = {
    None: ("question", "options"),
    "choices-only": ("options",),
    "question-only": ("question",),
}
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of one call of a screen, or of the agent run.

    Attributes:
        name: Which it is, as people read it.
        state: `reused`; `asked again`, since no reply so far counts; `changed`, since it was asked in another way;
            `never asked`; `not needed`, since the recorded replies decide without it; or `not known`.
        sentence: Why.
        call: Its number; None for the agent run.
        reuse_key: Under which it is looked for; None where that cannot be said.
        reused: Key of the reply or agent run that is reused, else None.
        run: The run that paid for it.
        time: When it was recorded.
    """

    name: str
    state: str
    sentence: str
    call: int | None = None
    reuse_key: str | None = None
    reused: str | None = None
    run: str | None = None
    time: str | None = None

    def line(self) -> str:
        """All of it in one line."""
        text = f"{self.state}: {self.sentence}" if self.sentence else self.state
        return escaped(f"{self.name}: {text}".replace("\n", " "))


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
    if not settings.screens and settings.solve is None:
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
        """In the order in which a run asks: the screens that decide, the cue screens, the agent."""
        replies = self._earlier("replies")
        for screen in (*self.settings.verdict_screens, *self.settings.cue_screens):
            yield from self._screen(screen, replies)
        if self.settings.solve is not None:
            yield self._agent(self.settings.solve)

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
                yield _reused(name, "reply", row, index)
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
            return "asked again", _ended("reply", same, "status", "this request")
        asked = [row for row in replies if row["call_index"] == call.index]
        if own := [row for row in asked if row["screen"] == screen.name]:
            return "changed", _changes(own[-1], self._reply_changes(call, screen, provider, own[-1]))
        named = {other.name for other in self.settings.screens}
        for row in reversed(asked):
            if row["screen"] not in named and not self._reply_changes(call, screen, provider, row):
                return "changed", _changes(row, _was("name of the screen", row["screen"], screen.name))
        return "never asked", ""

    def _reply_changes(
        self, call: ScreenCall, screen: ScreenSettings, provider: ProviderSettings, row: Row
    ) -> list[str]:
        """What was other when a recorded reply was asked for. The order of the options follows from the rest."""
        before = json.loads(row["settings"])
        changes = [*self._server(provider, row, row["provider"]), *_was("seed", row["seed"], self.seed)]
        for name, now in screen.asked().items():
            if name != "provider":  # its name is no part of a request
                changes += _was(name, before.get(name), now)
        changes += self._content(row, _SHOWN[screen.mode])
        request = json.loads(row["request"])
        if request and before.get("mode") == screen.mode:
            same = request["messages"][0]["content"] == call.request.messages[0].content
            changes += [] if same else ["instruction changed"]
        return changes

    def _content(self, row: Row, names: Sequence[str]) -> list[str]:
        content = json.loads(row["content"] or "{}")
        now = self.candidate.content()
        return [f"{name} changed" for name in names if name in content and not _equal(content[name], now[name])]

    def _server(self, provider: ProviderSettings, row: Row, name: str) -> list[str]:
        before = json.loads(row["configuration"] or "{}").get("providers", {}).get(name, {})
        # A key that is not in the record says nothing.
        changes = [text for key, now in provider.server().items() for text in _was(key, before.get(key, now), now)]
        return [f"server: {', '.join(changes)}"] if changes else []

    # --- the agent run ----------------------------------------------------------------------------------------

    def _agent(self, solve: SolveSettings) -> Explanation:
        name = f"agent `{solve.agent}`"
        provider = self.settings.providers[solve.provider]
        try:
            domain = load_domain(self.candidate.domain)
            python = self.settings.domains.get(domain.name, DomainSettings()).python or Path(sys.executable)
            packages = inspect_interpreter(python, domain.distributions).packages
        except (DomainError, SandboxError) as problem:
            return Explanation(name, "not known", str(problem))
        key = agent_run_key(self.candidate, solve, provider, self.seed, packages)
        if (row := judged_agent_run(self.store, key)) is not None:
            return _reused(name, "agent run", row)
        same = self.store.query("SELECT * FROM agent_runs WHERE reuse_key = ? ORDER BY time", [key])
        if same:
            return Explanation(name, "asked again", _ended("agent run", same, "reason", "this key"), reuse_key=key)
        earlier = self._earlier("agent_runs")
        if not earlier:
            return Explanation(name, "never asked", "", reuse_key=key)
        last = ([row for row in earlier if row["agent"] == solve.agent] or earlier)[-1]
        changes = self._run_changes(solve, provider, packages, last)
        return Explanation(name, "changed", _changes(last, changes), reuse_key=key)

    def _run_changes(
        self, solve: SolveSettings, provider: ProviderSettings, packages: Mapping[str, str], row: Row
    ) -> list[str]:
        """What was other when a recorded agent run was made."""
        before = json.loads(row["settings"])
        changes = [*self._server(provider, row, before.get("provider", "")), *_was("seed", row["seed"], self.seed)]
        for name, now in dataclasses.asdict(solve).items():
            changes += _was(name, before.get(name), now)
        presented = ("question", "options") if row["presented"] != self.candidate.presented else ()
        changes += self._content(row, (*presented, "domain"))
        installed = json.loads(row["environment"]).get("packages", {})
        for package in sorted({*installed, *packages}):
            changes += _was(package, installed.get(package), packages.get(package))
        return changes + _was("pytest-toolgate", row["version"], __version__)


def _reused(name: str, what: str, row: Row, call: int | None = None) -> Explanation:
    sentence = f"{what} {row['id']} of run {row['run_id']}, {row['time']}"
    return Explanation(name, "reused", sentence, call, row["reuse_key"], row["id"], row["run_id"], row["time"])


def _ended(what: str, rows: Sequence[Row], column: str, under: str) -> str:
    last, count = rows[-1], len(rows)
    plural = "replies" if what == "reply" else f"{what}s"
    note = " ".join(last["note"].split())[:_LONGEST]
    which = f"the only {what}" if count == 1 else f"the last of {count} {plural}"
    return f"{which} under {under} ended as `{last[column]}`" + (f" ({note})" if note else "")


def _changes(row: Row, changes: Sequence[str]) -> str:
    # The key itself may have been made otherwise, by another version.
    what = "; ".join(changes) or f"nothing recorded says how; pytest-toolgate was {row['version']}"
    return f"{what} (asked {row['time']})"


def _was(name: str, before: object, now: object) -> list[str]:
    """What a setting was and is; empty where it is the same."""
    return [] if before == now else [f"{name}: was {_shown(before)}, now {_shown(now)}"]


def _shown(value: object) -> str:
    return "not set" if value is None else f"`{str(value)[:100]}`"


def _equal(before: object, now: object) -> bool:
    if isinstance(before, str) and isinstance(now, str):
        return before.strip() == now.strip()  # as a prompt shows it
    return before == now
