"""What a provider is asked and what it answers.

Whatever goes wrong with one call is a `Response` whose status says so, never an exception: it has to be
recorded. `ProviderError` is for a provider that cannot be used at all.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Api = Literal["responses", "chat", "messages"]
"""Which protocol a model is asked in: one of OpenAI's two, or Anthropic's."""
Status = Literal["complete", "empty", "truncated", "refused", "failed"]


class ProviderError(Exception):
    """A provider that cannot be used, as one sentence: no key, no model file, a server that does not start."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    Attributes:
        name: Letters, digits and `_`.
        description: What it does, for the model.
        parameters: JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool, as the model wrote it: nothing says that there is such a tool.

    Attributes:
        id: By which its result names it.
        name: Of the tool.
        arguments: Meant to be a JSON object.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: Who speaks; `tool` is the result of a call.
        content: The words.
        calls: What the assistant calls.
        result_of: The `id` of the call whose result this is.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    result_of: str = ""


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
        tools: What the model may call. Without any, a reply that calls something is `failed`.
    """

    model: str
    messages: tuple[Message, ...]
    reasoning: str | None = None
    max_output_tokens: int | None = None
    deadline: float | None = None
    tools: tuple[Tool, ...] = ()


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
        status: `complete` only for a whole reply with text in it or, where tools were offered, a call.
        text: The reply's text, as far as there is one.
        error: Why there is no whole reply, in words.
        quota: The account is exhausted: asking again is useless for every call of the run.
        refused: The server refuses the key, the model or a setting: every call like this one would fail.
        model_served: Model that answered, as the server names it.
        tokens: What was used.
        latency: Seconds from the first request to the end, waits included.
        requests: Requests made.
        waited: Seconds of the latency in which our own limits held the call back.
        calls: The tools that the model calls, in its order.
        tools_refused: The server has no tools for this model: without them the same call may succeed.
        unheard: Requests that we stopped waiting for: the server may have worked, and be paid, for each.
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
    calls: tuple[ToolCall, ...] = ()
    tools_refused: bool = False
    unheard: int = 0

    @property
    def said(self) -> str:
        """All that the model said, its calls in brackets."""
        return "\n".join(filter(None, (self.text, *(f"[{call.name} {call.arguments}]" for call in self.calls))))


@dataclass(frozen=True, slots=True)
class Call:
    """One call that an agent's own program makes, to be passed on as it is.

    Attributes:
        api: The protocol it is made in.
        path: Below the address of the server, for example `chat/completions`.
        body: JSON.
        headers: Those of its headers that say how the body is to be read; no key.
        model: The model that it asks.
        deadline: Seconds until nobody waits any more, over all retries.
        holding_up: Entered while our own limits hold the call back, so that who keeps the time knows at once.
        given_up: Done once nobody waits any more, whatever the deadline; None for never.
    """

    api: Api
    path: str
    body: bytes
    headers: Mapping[str, str]
    model: str
    deadline: float
    holding_up: Callable[[], AbstractContextManager[None]] = nullcontext
    given_up: "Future[None] | None" = None


@dataclass(frozen=True, slots=True)
class Passed:
    """What came back for a call that was passed on.

    Attributes:
        response: What it says, for the record; `failed` for all that is no whole reply.
        status: HTTP status; None when there was no answer at all.
        content_type: Of the body.
        body: What the program gets.
    """

    response: Response
    status: int | None = None
    content_type: str = ""
    body: bytes = b""


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


@runtime_checkable
class PassesOn(Provider, Protocol):
    """A provider that can be asked by agents with a program of their own, in the words of their own protocol."""

    def pass_on(self, call: Call) -> Passed:
        """Make one call, retried as configured, and say how it ended."""
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
