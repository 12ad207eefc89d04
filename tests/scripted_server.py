"""A model behind a real HTTP server on loopback, in a thread of the test process, that follows a script.

It speaks as much of OpenAI's Responses and Chat Completions protocols as a client needs. A script is a
function from the request to a `Reply`; `saying`, `choosing` and the other functions below make the usual
ones. Every request is kept, so that tests can count what would have been paid for.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from exchange import Asked, Reply
from loopback import Loopback
from wire_shapes import SHAPES, Shape, body_of

__all__ = [
    "EMPTY", "FILTERED", "GARBAGE", "HTML", "KEY", "QUOTA", "REFUSED", "RESET", "SERVER_ERROR", "STALL", "TRUNCATED",
    "Asked", "Reply", "Script", "ScriptedServer",
    "always", "avoiding", "by_model", "by_question", "choosing", "computing", "in_turn", "rate_limited", "running",
    "saying",
]  # fmt: skip

KEY = "sk-canary-5b1f0f6b2c"

Script = Callable[[Asked], Reply]

# --- replies ----------------------------------------------------------------------------------------------

EMPTY = Reply("")
GARBAGE = Reply("\N{SNOWMAN} lorem ipsum dolor sit amet")
TRUNCATED = Reply("ANSWER: ", ended="length")
REFUSED = Reply(refusal="I cannot help with that.")
FILTERED = Reply("ANSWER: ", ended="filter")
SERVER_ERROR = Reply(status=500, error={"message": "the server had an error", "type": "server_error"})
QUOTA = Reply(
    status=429,
    error={
        "message": "You exceeded your current quota",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    },
)
HTML = Reply(raw=b"<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"})
STALL = Reply(stall=True)
RESET = Reply(reset=True)


def rate_limited(retry_after: float | str | None = None) -> Reply:
    """A 429, with or without the seconds or the date to wait for."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after}"}
    return Reply(status=429, error={"message": "slow down", "code": "rate_limit_exceeded"}, headers=headers)


# --- scripts ----------------------------------------------------------------------------------------------


def always(reply: Reply) -> Script:
    """The same reply to everything."""
    return lambda asked: reply


def saying(text: str, model: str | None = None) -> Script:
    """The same words to everything, perhaps as another model."""
    return always(Reply(text, model=model))


def choosing(value: str) -> Script:
    """The letter under which the value stands in the prompt."""
    return lambda asked: Reply(f"ANSWER: {asked.letter_of(value)}")


def avoiding(value: str) -> Script:
    """A letter under which the value does not stand."""
    return lambda asked: Reply(f"ANSWER: {next(k for k, text in asked.options.items() if text != value)}")


def in_turn(scripts: Iterable[Script]) -> Script:
    """One script per request, in order; the last one goes on for ever."""
    left = list(scripts)
    lock = threading.Lock()

    def script(asked: Asked) -> Reply:
        with lock:
            following = left[0] if len(left) == 1 else left.pop(0)
        return following(asked)

    return script


def by_question(scripts: Mapping[str, Script], otherwise: Script) -> Script:
    """The script of the first name that stands in the prompt."""

    def script(asked: Asked) -> Reply:
        named = (script for name, script in scripts.items() if name in asked.prompt)
        return next(named, otherwise)(asked)

    return script


def by_model(scripts: Mapping[str, Script]) -> Script:
    """The script of the model that is asked."""
    return lambda asked: scripts[asked.model](asked)


def running(code: str, then: str = "") -> Script:
    """An agent's model that first runs some Python, and then says something."""
    return lambda asked: Reply(then if asked.turn else f"```python\n{code}\n```")


def computing(value: str) -> Script:
    """An agent's model that prints a value with SciPy and answers with its letter."""

    def script(asked: Asked) -> Reply:
        if asked.turn:
            return Reply(f"ANSWER: {asked.letter_of(value)}")
        return Reply(f"```python\nimport scipy.special as s\ns.j0(1.0)\nprint('RESULT:', '{value}')\n```")

    return script


# --- the server -------------------------------------------------------------------------------------------

_NO_KEY = Reply(status=401, error={"message": "Incorrect API key provided.", "code": "invalid_api_key"})
_NO_LIST = Reply(status=404, error={"message": "Not Found"})


class ScriptedServer(Loopback):
    """The server, running from `with` to its end.

    Attributes:
        script: What it does, garbage at first; may be exchanged at any time.
        preflight: What it does when it is only tried out.
        shape: How it shapes its bodies.
        models: The models it lists; None for a server without a list.
        key: The only key it takes; None takes any.
        requests: Every request for a reply, in order of arrival.
        preflights: Those that only try it out, which are not among the former.
        listed: Requests for the list of models.
    """

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.script: Script = always(GARBAGE)
        self.preflight: Script = saying("OK")
        self.shape: Shape = SHAPES["openai"]
        self.models: Sequence[str] | None = ()
        self.key: str | None = None
        self.requests: list[Asked] = []
        self.preflights: list[Asked] = []
        self.listed: list[Asked] = []
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        """Requests so far."""
        return len(self.requests)

    def forget(self) -> None:
        """Count from zero again."""
        with self._lock:
            for kept in (self.requests, self.preflights, self.listed):
                kept.clear()

    def _answer(self, method: str, asked: Asked) -> tuple[Reply, bytes]:
        listing = method == "GET"
        trying = not listing and asked.is_preflight
        with self._lock:
            (self.listed if listing else self.preflights if trying else self.requests).append(asked)
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            reply = _NO_KEY
        elif listing:
            reply = _NO_LIST if self.models is None else _list(self.models)
        else:
            reply = (self.preflight if trying else self.script)(asked)
        return reply, body_of(asked, reply, self.shape)


def _list(models: Sequence[str]) -> Reply:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in models]
    return Reply(raw=json.dumps({"object": "list", "data": data}).encode())
