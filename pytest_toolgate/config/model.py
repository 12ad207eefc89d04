"""What a run is configured to do. Every class is frozen: settings are part of the record."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..candidate.presentation import Scheme

EMBEDDED = "llama-cpp"
"""The kind of provider whose model runs in this project's own server."""
Mode = Literal["choices-only", "question-only"]
GATES = ("lint", "verify", "screen", "solve")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call that failed on the wire is made again.

    Attributes:
        attempts: Requests per call at most, the first included.
        max_wait: Longest single wait between two of them, in seconds. A server that asks for a longer one
            fails the call at once.
    """

    attempts: int = 5
    max_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of one model in USD per million tokens; None is unknown, which is not free."""

    input: float | None = None
    cached: float | None = None
    output: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Where and how to reach models.

    Attributes:
        name: The name screens and solvers refer to.
        kind: `openai` (any server that speaks its protocols) or the name of another registered provider.
        api: Which of the two protocols, `responses` or `chat`.
        base_url: Address of the server; None is the SDK's own default.
        api_key_env: Environment variable that holds the key. Keys are named, never written.
        max_concurrency: Calls, and agents at work, at once over all workers of a run; None is 8, and 1 for the
            embedded model, which answers one question after the other.
        requests_per_minute: Requests at most, over all workers of a run, evenly spaced; None is no limit.
        tokens_per_minute: Input and output tokens at most, over all workers of a run; None is no limit.
        timeout: Deadline for one whole reply, in seconds.
        retries: What to do when a call fails on the wire.
        any_model: Accept replies served by another model than the one asked.
        prices: Model name -> prices.
    """

    name: str
    kind: str = "openai"
    api: Literal["responses", "chat"] = "responses"
    base_url: str | None = None
    api_key_env: str | None = None
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 120.0
    retries: Retries = field(default_factory=Retries)
    any_model: bool = False
    prices: Mapping[str, Prices] = field(default_factory=dict)

    def server(self) -> dict[str, Any]:
        """What a reply depends on besides the model: which server answers, over which protocol."""
        return {"kind": self.kind, "api": self.api, "base_url": self.base_url, "any_model": self.any_model}

    @property
    def concurrency(self) -> int:
        """`max_concurrency` with its default."""
        return self.max_concurrency or (1 if self.kind == EMBEDDED else 8)


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """Gate 1. Times in seconds, sizes in bytes.

    Attributes:
        time_limit: Wall time of one run of the script.
        repeats: Runs per candidate, each with other letters and another hash seed.
        memory: Of the whole process tree.
        disk: All that the script writes.
    """

    time_limit: float = 300.0
    repeats: int = 2
    memory: int = 4 * 1024**3
    disk: int = 1024**3


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """One model at one setting, without tools. A setting left out (None) is not sent.

    Attributes:
        name: Name of the screen, unique in a configuration.
        provider: Name of the provider.
        model: Model name as the provider knows it.
        reasoning: Reasoning effort.
        samples: Calls per candidate, *n*.
        reject_at: Correct replies that reject, *k*.
        presentations: How the orders of the options are drawn.
        max_output_tokens: Cap on a reply, hidden reasoning included.
        mode: What is left out of the prompt, to see what the rest gives away: a cue screen, which is reported and
            never a verdict. None shows question and options.
    """

    name: str
    provider: str
    model: str
    reasoning: str | None = None
    samples: int = 3
    reject_at: int = 2
    presentations: Scheme = "independent"
    max_output_tokens: int | None = None
    mode: Mode | None = None

    def asked(self) -> dict[str, Any]:
        """The settings a reply depends on, for the record and for finding replies that can be reused."""
        return {
            "provider": self.provider,
            "model": self.model,
            "reasoning": self.reasoning,
            "presentations": self.presentations,
            "max_output_tokens": self.max_output_tokens,
            "mode": self.mode,
        }


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """Gate 3.

    Attributes:
        agent: Name of a registered agent.
        provider: Name of the provider of its model.
        model: Model name as the provider knows it.
        reasoning: Reasoning effort, not sent when None.
        time_limit: Wall time for the whole solve, in seconds.
        max_turns: Model calls at most.
        max_output_tokens: Cap on one reply.
        hints: Tell the agent what the domain's expert notes on its installation say.
    """

    agent: str = "builtin"
    provider: str = ""
    model: str = ""
    reasoning: str | None = None
    time_limit: float = 300.0
    max_turns: int = 12
    max_output_tokens: int | None = None
    hints: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps in USD, checked before each call; None is no cap."""

    usd: float | None = None
    usd_per_candidate: float | None = None

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return self.usd is not None or self.usd_per_candidate is not None


@dataclass(frozen=True, slots=True)
class DomainSettings:
    """What a user sets for a domain.

    Attributes:
        python: The interpreter that has the target software; None is the one pytest runs with.
    """

    python: Path | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything in `toolgate.yaml`."""

    domain: str | None = None
    domains: Mapping[str, DomainSettings] = field(default_factory=dict)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    verify: VerifySettings = field(default_factory=VerifySettings)
    screens: tuple[ScreenSettings, ...] = ()
    solve: SolveSettings | None = None
    budget: Budget = field(default_factory=Budget)

    @property
    def verdict_screens(self) -> tuple[ScreenSettings, ...]:
        """The screens that decide, in order."""
        return tuple(screen for screen in self.screens if screen.mode is None)

    @property
    def cue_screens(self) -> tuple[ScreenSettings, ...]:
        """The screens that are reported only, in order."""
        return tuple(screen for screen in self.screens if screen.mode is not None)

    def configured_gates(self) -> tuple[str, ...]:
        """The gates this configuration can run, in order."""
        present = {
            "lint": True,
            "verify": True,
            "screen": bool(self.verdict_screens),
            "solve": self.solve is not None,
        }
        return tuple(gate for gate in GATES if present[gate])

    def plain(self) -> dict[str, Any]:
        """The settings as JSON types, for the record. They hold names of keys, never keys."""
        plain: dict[str, Any] = _plain(dataclasses.asdict(self))
        return plain


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(child) for child in value]
    return str(value) if isinstance(value, Path) else value
