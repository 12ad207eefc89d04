"""What a run is configured to do. Every class is frozen: settings are part of the record."""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..candidate.presentation import Scheme
from .generator import GenerateSettings
from .provider import ProviderSettings
from .solver import SolveSettings, plain_types

Mode = Literal["choices-only", "question-only"]
Tier = Literal["bubblewrap", "landlock", "none"]
"""What keeps a script from the rest of the machine: namespaces, the kernel's Landlock without any, or nothing."""
Severity = Literal["reject", "flag", "off"]
"""What a finding of an extra check comes to; `off` leaves the check out."""
GATES = ("lint", "verify", "screen", "solve")
Accept = Literal["any", "all"] | int
"""How many solvers must solve a candidate."""


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """Gate 1. Times in seconds, sizes in bytes.

    Attributes:
        time_limit: Wall time of one run of the script.
        repeats: Runs per candidate, each with other letters, hash seed, thread count and working directory.
        memory: Of the whole process tree.
        disk: All that the script writes.
        warm: Start scripts as copies of a process that has the domain's software loaded.
    """

    time_limit: float = 300.0
    repeats: int = 2
    memory: int = 4 * 1024**3
    disk: int = 1024**3
    warm: bool = False


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
        python: The interpreter that has the target software; None is the domain's own, else the one pytest runs with.
    """

    python: Path | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything in `toolgate.yaml`."""

    domain: str | None = None
    sandbox: Tier = "bubblewrap"
    domains: Mapping[str, DomainSettings] = field(default_factory=dict)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    verify: VerifySettings = field(default_factory=VerifySettings)
    checks: Mapping[str, Severity] = field(default_factory=dict)
    screens: tuple[ScreenSettings, ...] = ()
    solve: tuple[SolveSettings, ...] = ()
    accept: Accept = "any"
    generate: GenerateSettings | None = None
    budget: Budget = field(default_factory=Budget)

    @property
    def verdict_screens(self) -> tuple[ScreenSettings, ...]:
        """The screens that decide, in order."""
        return tuple(screen for screen in self.screens if screen.mode is None)

    @property
    def cue_screens(self) -> tuple[ScreenSettings, ...]:
        """The screens that are reported only, in order."""
        return tuple(screen for screen in self.screens if screen.mode is not None)

    @property
    def needed_solvers(self) -> int:
        """How many solvers must solve a candidate."""
        return {"any": 1, "all": len(self.solve)}[self.accept] if isinstance(self.accept, str) else self.accept

    def providers_of(self, gates: Collection[str]) -> set[str]:
        """Names of the providers whose models these gates ask."""
        used = {screen.provider for screen in self.screens if "screen" in gates}
        return used | {solver.provider for solver in self.solve if "solve" in gates}

    def configured_gates(self) -> tuple[str, ...]:
        """The gates this configuration can run, in order."""
        present = {
            "lint": True,
            "verify": True,
            "screen": bool(self.verdict_screens),
            "solve": bool(self.solve),
        }
        return tuple(gate for gate in GATES if present[gate])

    def plain(self) -> dict[str, Any]:
        """The settings as JSON types, for the record. They hold names of keys, never keys."""
        plain: dict[str, Any] = plain_types(dataclasses.asdict(self))
        return plain
