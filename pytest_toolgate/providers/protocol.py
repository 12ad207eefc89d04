"""What a provider is asked and what it answers.

Whatever goes wrong with one call is a `Response` whose status says so, never an exception: it has to be
recorded. `ProviderError` is for a provider that cannot be used at all.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

Status = Literal["complete", "empty", "truncated", "refused", "failed"]


class ProviderError(Exception):
    """A provider that cannot be used, as one sentence: no key, no model file, a server that does not start."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call. A setting that is None is not sent.

    Attributes:
        model: Model name as the provider knows it.
        messages: The conversation so far.
        reasoning: Reasoning effort.
        max_output_tokens: Cap on the reply.
        deadline: Seconds until the caller stops waiting, over all retries; None leaves it to the provider's own
            timeout per request.
    """

    model: str
    messages: tuple[Message, ...]
    reasoning: str | None = None
    max_output_tokens: int | None = None
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call used; None where the server did not say."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None

    def __add__(self, other: "Tokens") -> "Tokens":
        """Both together; a count that either does not know stays unknown."""

        def both(left: int | None, right: int | None) -> int | None:
            return None if left is None or right is None else left + right

        return Tokens(
            both(self.input, other.input),
            both(self.cached, other.cached),
            both(self.output, other.output),
            both(self.reasoning, other.reasoning),
        )


NO_TOKENS = Tokens(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Response:
    """What came back.

    Attributes:
        status: `complete` only for a whole reply with text in it.
        text: The reply's text, as far as there is one.
        error: Why there is no whole reply, in words.
        quota: The account is exhausted: asking again is useless for every call of the run.
        refused: The server refuses the key, the model or a setting: every call like this one would fail.
        model_served: Model that answered, as the server names it.
        tokens: What was used.
        latency: Seconds from the first request to the end, waits included.
        requests: Requests made.
        waited: Seconds of the latency in which our own limits held the call back.
    """

    status: Status
    text: str = ""
    error: str = ""
    quota: bool = False
    refused: bool = False
    model_served: str | None = None
    tokens: Tokens = field(default_factory=Tokens)
    latency: float = 0.0
    requests: int = 1
    waited: float = 0.0


class Provider(Protocol):
    """An open connection to models. One per process, asked from several threads at once."""

    @property
    def base_url(self) -> str:
        """Address of the server."""
        ...

    def ask(self, request: Request) -> Response:
        """Make one call, retried as configured, and say how it ended."""
        ...


@runtime_checkable
class ListsModels(Provider, Protocol):
    """A provider that can say which models it has, which costs nothing and proves the key.

    Only such a provider is tested before the first call of a run.
    """

    def models(self) -> "ModelList":
        """Ask for the list; one request, never retried for long."""
        ...


@dataclass(frozen=True, slots=True)
class ModelList:
    """What a server says of its models.

    Attributes:
        names: The models; empty where it does not say.
        error: Why it refuses to say, in words; only a refused key is an error, many servers have no list.
    """

    names: tuple[str, ...] = ()
    error: str = ""
