"""One request to a model server and what the server does with it."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What a run asks before its first paid call.
PREFLIGHT = "Reply with the word OK."
INPUT_TOKENS = 100
OUTPUT_TOKENS = 10
_OPTION = re.compile(r"^([A-D])\) (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        path: The part of the address behind the host.
        headers: Its headers, names in lower case.
        body: Its JSON; empty for a list of models.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def api(self) -> str:
        """Which protocol it speaks."""
        return {"completions": "chat", "messages": "messages"}.get(self.path.rpartition("/")[2], "responses")

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, whatever the protocol calls it; over Responses calls and their results are among it."""
        messages: list[dict[str, Any]] = self.body["input" if self.api == "responses" else "messages"]
        return messages

    @property
    def prompt(self) -> str:
        """The first user message: question and options."""
        return next(str(message["content"]) for message in self.messages if message.get("role") == "user")

    @property
    def is_preflight(self) -> bool:
        """Whether it only finds out if the model can be asked."""
        return any(message.get("role") == "user" and message.get("content") == PREFLIGHT for message in self.messages)

    @property
    def last(self) -> str:
        """The last message, or the result of the last call."""
        message = self.messages[-1]
        return str(message.get("content", message.get("output")))

    @property
    def turn(self) -> int:
        """How often the model has spoken before."""
        own = [
            message.get("role") == "assistant" or message.get("type") == "function_call" for message in self.messages
        ]
        return sum(now and not before for before, now in itertools.pairwise([False, *own]))

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered."""
        return [tool.get("function", tool)["name"] for tool in self.body.get("tools", [])]

    @property
    def options(self) -> dict[str, str]:
        """The options as they stand in the prompt."""
        return dict(_OPTION.findall(self.prompt))

    @property
    def effort(self) -> str | None:
        """The reasoning effort asked for."""
        effort = self.body.get("reasoning_effort") or self.body.get("reasoning", {}).get("effort")
        return None if effort is None else str(effort)

    @property
    def cap(self) -> int | None:
        """The cap on output tokens."""
        names = ("max_output_tokens", "max_completion_tokens", "max_tokens")
        return next((int(self.body[name]) for name in names if name in self.body), None)

    def letter_of(self, value: str) -> str:
        """The letter under which an option stands in the prompt."""
        return next(letter for letter, text in self.options.items() if text == value)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request.

    Attributes:
        text: The model's words.
        refusal: Its words of refusal, which stand in another place.
        calls: The tools it calls, each with its arguments as text.
        ended: How it ended: `stop`, `length` or `filter`.
        model: The model that answers, None for the one asked.
        thought: Its reasoning, where a server shows it.
        reasoning: Tokens of its reasoning.
        output: Tokens of its words.
        status: HTTP status; anything but 200 sends `error` instead of words.
        error: The `error` object of a failed request.
        headers: Further headers.
        raw: A whole body to send instead of a well-formed one.
        delay: Seconds before anything is sent.
        stall: Keep the client waiting until the server is closed.
        reset: Break the connection instead of answering.
        cut: End the connection in order, but too early.
        after: How many bytes of the body come before it stalls, is reset or is cut; None: not even a status line.
        pause: Seconds between any two bytes of the body.
        endless: Never end the body.
    """

    text: str = ""
    refusal: str = ""
    calls: Sequence[tuple[str, str]] = ()
    ended: str = "stop"
    model: str | None = None
    thought: str = ""
    reasoning: int = 0
    output: int = OUTPUT_TOKENS
    status: int = 200
    error: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay: float = 0.0
    stall: bool = False
    reset: bool = False
    cut: bool = False
    after: int | None = None
    pause: float = 0.0
    endless: bool = False
