"""What a run of some candidates would ask, at most, and what that would cost: known before anything is asked.

Only what is recorded and configured counts. Verify may reject more and a screen may decide earlier, so every number of
calls is an upper bound; the tokens of a call are the mean of those recorded, where there are any.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..agents import AgentError, agent_version
from ..candidate import Candidate
from ..config import EMBEDDED, ProviderSettings, ScreenSettings, SolveSettings
from ..domains import DomainError, load_domain
from ..providers import Tokens
from ..sandbox import SandboxError
from ..store import Store
from ..store.reuse import answered_replies, judged_agent_run
from .agent_runs import agent_run_key, runs_due
from .calls import ScreenCall, screen_calls
from .grading import Count, grade_again
from .money import cost
from .workbench import Workbench

# Of a text in English with numbers, where no recorded call to the model says better.
_CHARACTERS_PER_TOKEN = 4
# Tokens of a character of the messages, and of a reply; the length of the messages counts from schema 2 on.
_CALL = """
WITH known AS (
    SELECT input_tokens, output_tokens, (
        SELECT sum(length(json_extract(message.value, '$.content')))
        FROM json_each(replies.request, '$.messages') AS message
    ) AS characters
    FROM replies WHERE provider = ? AND model_asked = ? AND json_extract(settings, '$.reasoning') IS ?
)
SELECT avg(output_tokens) AS output, (
    SELECT total(input_tokens) / sum(characters) FROM known WHERE input_tokens IS NOT NULL AND characters > 0
) AS per_character FROM known
"""
_AGENT_RUN = """
SELECT avg(input_tokens) AS input, avg(cached_tokens) AS cached, avg(output_tokens) AS output
FROM agent_runs WHERE agent = ? AND outcome IN ('passed', 'review') AND json_extract(settings, '$.provider') = ?
    AND json_extract(settings, '$.model') = ? AND json_extract(settings, '$.reasoning') IS ?
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a screen of one candidate stands by what is recorded.

    Attributes:
        reused: Number of a call -> its recorded reply.
        missing: The calls that no recorded reply answers.
        count: The replies as they count.
        decides: Whether a rejection by this screen is a verdict; by a cue screen it is not.
    """

    reused: Mapping[int, Mapping[str, Any]]
    missing: tuple[ScreenCall, ...]
    count: Count
    decides: bool

    @property
    def decided(self) -> str | None:
        """`rejected` or `passed` where no call is made any more, else None."""
        return self.count.decided if self.reused else None


def standing(
    candidate: Candidate,
    settings: ScreenSettings,
    provider: ProviderSettings,
    seed: int,
    store: Store,
    *,
    fresh: bool = False,
) -> Standing:
    """What is recorded for one screen of a candidate; nothing where everything is to be asked afresh."""
    calls = screen_calls(candidate, settings, provider, seed)
    recorded = {} if fresh else answered_replies(store, [call.key for call in calls])
    replies = {
        call.index: reply
        for call in calls
        if call.key in recorded and (reply := grade_again(candidate, settings.mode, recorded[call.key])) is not None
    }
    reused = {call.index: recorded[call.key] for call in calls if call.index in replies}
    correct = sum(reply.correct is True for reply in replies.values())
    count = Count(correct, settings.samples - len(reused), settings.samples, settings.reject_at)
    return Standing(reused, tuple(call for call in calls if call.index not in reused), count, settings.mode is None)


@dataclass(frozen=True, slots=True)
class Due:
    """What one screen or solver has still to do for all candidates together.

    Attributes:
        name: What it is, as people read it.
        user: Its settings.
        provider: The settings of its provider.
        most: Calls, or agent runs, at most.
        reused: Recorded replies or agent runs that are used instead of new ones.
        tokens: Of all that is to be made; a count that nothing says is None.
    """

    name: str
    user: ScreenSettings | SolveSettings
    provider: ProviderSettings
    most: int
    reused: int
    tokens: Tokens

    @property
    def usd(self) -> float | None:
        """The cost of all of it; None is unknown, which is not 0."""
        return cost(self.provider, self.user.model, self.tokens) if self.most else 0.0

    @property
    def unknown(self) -> str:
        """Why the cost is unknown; empty where it is known."""
        if self.usd is not None:
            return ""
        prices = self.provider.prices.get(self.user.model)
        missing = [name for name in ("input", "output") if prices is None or getattr(prices, name) is None]
        if missing:
            which = "" if len(missing) == 2 else f"`{missing[0]}` "
            return f"no {which}price of `{self.user.model}` under providers.{self.provider.name}.prices"
        if isinstance(self.user, SolveSettings):
            return f"no recorded run of {self.name} with `{self.user.model}` says how many tokens one takes"
        return f"neither a recorded reply of `{self.user.model}` nor `max_output_tokens` says how long its replies are"

    def line(self) -> str:
        """All of it in one line."""
        made, recorded = ("run", "run") if isinstance(self.user, SolveSettings) else ("call", "reply")
        parts = [f"at most {_number(self.most, made)}", f"{_number(self.reused, recorded)} reused"]
        if self.most:
            parts += [_tokens(self.tokens), *filter(None, _money([self]))]
        return f"{self.name} ({self.provider.name}, {self.user.model}): {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would ask: each screen in order, then each solver with its control."""

    due: tuple[Due, ...]

    def lines(self) -> list[str]:
        """A line for each screen and solver, and one for all of them."""
        calls = sum(due.most for due in self.due if isinstance(due.user, ScreenSettings))
        runs = sum(due.most for due in self.due if isinstance(due.user, SolveSettings))
        proven = any(due.most and due.provider.kind != EMBEDDED for due in self.due)
        known, unknown = _money(self.due)
        parts = [
            f"in all at most {_number(calls, 'call')} and {_number(runs, 'agent run')}",
            known,
            "and one preflight request per model and setting" if proven else "",
            unknown,
        ]
        return [*(due.line() for due in self.due), ", ".join(filter(None, parts))]


def forecast(candidates: Sequence[Candidate], bench: Workbench) -> Forecast:
    """What a run of candidates without faults of form would ask. Nothing is asked or written for it."""
    settings, gates = bench.settings, bench.run.gates
    reached = [_reached(candidate, bench) for candidate in candidates]
    due = [
        _of_screen(screen, [standings[screen.name] for standings in reached if screen.name in standings], bench)
        for screen in (*settings.verdict_screens, *settings.cue_screens)
        if "screen" in gates
    ]
    if "solve" in gates:
        pairs = zip(candidates, reached, strict=True)
        asked = [_runs(candidate, bench) for candidate, standings in pairs if not _rejected(standings)]
        for solver in settings.solve:
            for control in (False, True) if solver.control else (False,):
                named = [runs[solver.name, control] for runs in asked if (solver.name, control) in runs]
                due.append(_of_agent(solver, named, bench, control=control))
    return Forecast(tuple(due))


def _runs(candidate: Candidate, bench: Workbench) -> dict[tuple[str, bool], bool]:
    """The agent runs that a candidate comes to at most: solver, and whether it is the control -> whether recorded."""
    due = runs_due(
        candidate,
        bench.settings,
        lambda solver, control: _recorded_run(candidate, solver, bench, control=control),
        all_solvers=bench.run.all_screens,
    )
    return {(solver.name, control): row is not None for solver, control, row in due}


def _reached(candidate: Candidate, bench: Workbench) -> dict[str, Standing]:
    """The screens that a candidate comes to at most, by name."""
    settings, run = bench.settings, bench.run
    standings: dict[str, Standing] = {}
    if "screen" not in run.gates:
        return standings
    for screen in (*settings.verdict_screens, *settings.cue_screens):
        # Cue screens are asked only about what has passed the others.
        if _rejected(standings) and (screen.mode is not None or not run.all_screens):
            break
        provider = settings.providers[screen.provider]
        standings[screen.name] = standing(candidate, screen, provider, run.seed, bench.store, fresh=run.fresh)
    return standings


def _rejected(standings: Mapping[str, Standing]) -> bool:
    """Whether recorded replies to the screens that decide reject the candidate."""
    return any(standing.decided == "rejected" and standing.decides for standing in standings.values())


def _of_screen(screen: ScreenSettings, standings: Sequence[Standing], bench: Workbench) -> Due:
    calls = [call for standing in standings if standing.decided is None for call in standing.missing]
    [mean] = bench.store.query(_CALL, [screen.provider, screen.model, screen.reasoning])
    per_character = mean["per_character"] or 1 / _CHARACTERS_PER_TOKEN
    sent = math.ceil(per_character * sum(_length(call) for call in calls))
    lengths = [length for length in (mean["output"], screen.max_output_tokens) if length is not None]
    return Due(
        name=f"{'cue ' if screen.mode else ''}screen `{screen.name}`",
        user=screen,
        provider=bench.settings.providers[screen.provider],
        most=len(calls),
        reused=sum(len(standing.reused) for standing in standings),
        tokens=Tokens(sent, None, round(min(lengths) * len(calls)) if lengths else None),
    )


def _of_agent(solver: SolveSettings, recorded: Sequence[bool], bench: Workbench, *, control: bool) -> Due:
    most = recorded.count(False)
    [mean] = bench.store.query(_AGENT_RUN, [solver.agent, solver.provider, solver.model, solver.reasoning])
    counts = (mean["input"], mean["cached"], mean["output"])
    return Due(
        name=f"control of {solver.title}" if control else solver.title,
        user=solver,
        provider=bench.settings.providers[solver.provider],
        most=most,
        reused=recorded.count(True),
        tokens=Tokens(*(None if count is None else round(count * most) for count in counts)),
    )


def _recorded_run(
    candidate: Candidate, solver: SolveSettings, bench: Workbench, *, control: bool
) -> dict[str, Any] | None:
    """The recorded run of a solver that would be reused."""
    if bench.run.fresh:
        return None
    try:
        packages = bench.interpreter(load_domain(candidate.domain)).packages
        version = agent_version(solver)
    except (AgentError, DomainError, SandboxError):
        return None  # the run itself will say so
    provider, tier = bench.settings.providers[solver.provider], bench.settings.sandbox
    key = agent_run_key(
        candidate, solver, provider, bench.run.seed, packages, tier, control=control, agent_version=version
    )
    return judged_agent_run(bench.store, key)


def _length(call: ScreenCall) -> int:
    return sum(len(message.content) for message in call.request.messages)


def _number(count: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{count} {what if count == 1 else plural}"


def _tokens(tokens: Tokens) -> str:
    counts = [("input", tokens.input), ("output", tokens.output)]
    known = [f"{_about(count)} {name}" for name, count in counts if count is not None]
    unknown = "".join(f", {name} tokens unknown" for name, count in counts if count is None)
    return f"about {' and '.join(known)} tokens{unknown}" if known else "tokens unknown"


def _money(due: Iterable[Due]) -> tuple[str, str]:
    """What is known of the cost of some work, and what is not, in words; a part is never taken for the whole."""
    costs = [(each.usd, each.unknown) for each in due]
    known = sum(usd for usd, _ in costs if usd is not None)
    unknown = "; ".join(dict.fromkeys(why for _, why in costs if why))
    if not unknown:
        return (f"about {_about(known)} USD" if known else "0 USD"), ""
    if not known:
        return "", f"cost unknown: {unknown}"
    return f"about {_about(known)} USD", f"not counting what is unknown: {unknown}"


def _about(value: float) -> str:
    """A number to three digits, which is more than an estimate is good for, without an exponent."""
    return format(Decimal(f"{value:.3g}"), ",f")
