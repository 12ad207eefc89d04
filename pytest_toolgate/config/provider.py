"""Where models are reached, as the configuration says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

EMBEDDED = "llama-cpp"
"""The kind of provider whose model runs in this project's own server."""


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
        api: Which protocol: OpenAI's `responses` or `chat`, or Anthropic's `messages`, for agents that speak it.
        base_url: Address of the server; None is OpenAI's own or, for `messages`, Anthropic's.
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
    api: Literal["responses", "chat", "messages"] = "responses"
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
