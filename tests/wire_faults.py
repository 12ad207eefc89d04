"""What can become of one request, as the server's part of it and what a client may make of it."""

import email.utils
import gzip
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from exchange import Asked, Reply
from scripted_server import (
    EMPTY,
    FILTERED,
    HTML,
    QUOTA,
    REFUSED,
    RESET,
    SERVER_ERROR,
    STALL,
    Script,
    always,
    rate_limited,
)
from wire_shapes import SHAPES, body_of

# Longer than any limit on a body.
LARGE = 9 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a request goes wrong.

    Attributes:
        script: What the server does.
        transient: Whether asking again may help.
        status: What the call comes to when it does not.
        says: Words that the error must hold.
    """

    script: Script
    transient: bool = False
    status: str = "failed"
    says: str = ""


def http_date(seconds: float) -> str:
    """The moment so many seconds from now, as a header has it."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def _refusing(status: int, code: str, message: str) -> Reply:
    return Reply(status=status, error={"message": message, "type": "invalid_request_error", "code": code})


def _broken(asked: Asked) -> Reply:
    whole = body_of(asked, Reply(f"ANSWER: {next(iter(asked.options), 'A')}"), SHAPES["openai"])
    return Reply(raw=whole[:-20])


def _unnamed(asked: Asked) -> Reply:
    whole = json.loads(body_of(asked, Reply("ANSWER: A"), SHAPES["openai"]))
    return Reply(raw=json.dumps({name: value for name, value in whole.items() if name != "model"}).encode())


_PAGE = {"Content-Type": "text/html"}
_ODD = {"message": ["it failed"], "type": {"kind": "server_error"}, "code": [500], "param": {"x": 1}}
_OVERLOADED = {"message": "Overloaded", "type": "overloaded_error"}
_LOADING = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
_PER_MINUTE = [{"error": {"code": 429, "message": "Quota exceeded per minute", "status": "RESOURCE_EXHAUSTED"}}]
_FAILED = {"status": "failed", "error": {"code": "server_error", "message": "it failed"}, "model": "m", "output": []}

# By what stands in their way: a moment's trouble, which is asked about again,
TRANSIENT: Mapping[str, Fault] = {
    "429": Fault(always(rate_limited()), True, says="429"),
    "429-a-moment": Fault(always(rate_limited(0.01)), True, says="429"),
    "429-date-past": Fault(lambda asked: rate_limited(http_date(-100)), True, says="429"),
    "429-in-a-list": Fault(always(Reply(status=429, raw=json.dumps(_PER_MINUTE).encode())), True, says="429"),
    "500": Fault(always(SERVER_ERROR), True, says="500"),
    "500-without-body": Fault(always(Reply(status=500, raw=b"")), True, says="500"),
    "500-odd": Fault(always(Reply(status=500, error=_ODD)), True, says="500"),
    "500-deep": Fault(always(Reply(status=500, raw=b'{"error": ' + b"[" * 100_000)), True, says="500"),
    "500-no-text": Fault(always(Reply(status=500, error={"message": "it failed \ud800"})), True, says="it failed"),
    "502-page": Fault(always(Reply(status=502, raw=b"<h1>Bad Gateway</h1>", headers=_PAGE)), True, says="502"),
    "503-loading": Fault(always(Reply(status=503, raw=json.dumps(_LOADING).encode())), True, says="Loading model"),
    "504": Fault(always(Reply(status=504, raw=b"timeout", headers=_PAGE)), True, says="504"),
    "529": Fault(always(Reply(status=529, error=_OVERLOADED)), True, says="Overloaded"),
    "reset": Fault(always(RESET), True, says="no connection"),
    "reset-after-head": Fault(always(Reply("ANSWER: A", reset=True, after=0)), True, says="no connection"),
    "reset-in-body": Fault(always(Reply("ANSWER: A", reset=True, after=60)), True, says="no connection"),
    "cut-before": Fault(always(Reply(cut=True)), True, says="no connection"),
    "cut-in-body": Fault(always(Reply("ANSWER: A", cut=True, after=60)), True, says="no connection"),
    "reset-in-error": Fault(always(Reply(status=500, reset=True, after=5)), True, says="no connection"),
    "no-gzip": Fault(always(Reply("ANSWER: A", headers={"Content-Encoding": "gzip"})), True, says="no connection"),
    "stall": Fault(always(STALL), True, says="no whole reply within"),
    "stall-in-body": Fault(always(Reply("ANSWER: A", stall=True, after=60)), True, says="no whole reply within"),
    "trickle": Fault(always(Reply("ANSWER: A", pause=0.1)), True, says="no whole reply within"),
}
# a server that will say the same the next time,
LASTING: Mapping[str, Fault] = {
    "429-in-5-minutes": Fault(always(rate_limited(300)), says="429"),
    "429-date-in-5-minutes": Fault(lambda asked: rate_limited(http_date(300)), says="429"),
    "400-too-long": Fault(always(_refusing(400, "context_length_exceeded", "too many tokens")), says="too many tokens"),
    "401": Fault(always(_refusing(401, "invalid_api_key", "Incorrect API key")), says="Incorrect API key"),
    "403": Fault(always(_refusing(403, "unsupported_country", "not here")), says="not here"),
    "404": Fault(always(_refusing(404, "model_not_found", "no such model")), says="no such model"),
    "404-page": Fault(always(Reply(status=404, raw=b"<h1>Not Found</h1>", headers=_PAGE)), says="404"),
    "200-page": Fault(always(HTML), says="without JSON"),
    "200-error-text": Fault(always(Reply(raw=b"upstream error: ANSWER: A")), says="without JSON"),
    "200-error-object": Fault(always(Reply(raw=b'{"error": {"message": "overloaded"}}')), says="overloaded"),
    "200-failed": Fault(always(Reply(raw=json.dumps(_FAILED).encode())), says="it failed"),
    "200-nothing": Fault(always(Reply(raw=b"")), says="without JSON"),
    "200-list": Fault(always(Reply(raw=b'["ANSWER: A"]')), says="not an object"),
    "200-other-object": Fault(always(Reply(raw=b'{"detail": "ANSWER: A"}'))),
    "200-stream": Fault(always(Reply(raw=b'data: {"choices": []}\n\ndata: [DONE]\n')), says="without JSON"),
    "broken-json": Fault(_broken, says="without JSON"),
    "400-odd": Fault(always(Reply(status=400, error=_ODD)), says="400"),
    "large-error": Fault(always(Reply(status=500, raw=b" " * LARGE)), says="more than 8 MiB"),
    "redirect": Fault(always(Reply(status=307, headers={"Location": "/v1/elsewhere"})), says="307"),
    "large": Fault(always(Reply(raw=b" " * LARGE)), says="more than 8 MiB"),
    "large-when-unpacked": Fault(
        always(Reply(raw=gzip.compress(b" " * LARGE), headers={"Content-Encoding": "gzip"})), says="more than 8 MiB"
    ),
    "other-model": Fault(always(Reply("ANSWER: A", model="another-model")), says="answered by `another-model`"),
    "smaller-model": Fault(lambda asked: Reply("ANSWER: A", model=f"{asked.model}-mini"), says="-mini`"),
    "unnamed-model": Fault(_unnamed, says="an unnamed model"),
}
# and a model that does not answer.
UNANSWERED: Mapping[str, Fault] = {
    "empty": Fault(always(EMPTY), status="empty"),
    "blank": Fault(always(Reply(" \n")), status="empty"),
    "refused": Fault(always(REFUSED), status="refused", says="I cannot help"),
    "filtered": Fault(always(FILTERED), status="refused", says="filtered"),
    "filtered-empty": Fault(always(Reply(ended="filter")), status="refused", says="filtered"),
    "cut": Fault(always(Reply("ANSWER: A", ended="length")), status="truncated", says="cap"),
    "reasoned-away": Fault(always(Reply(ended="length", reasoning=500, output=0)), status="truncated", says="cap"),
}
FAULTS: Mapping[str, Fault] = {**TRANSIENT, **LASTING, **UNANSWERED}
# An account without money is none of them: it ends the run.
EXHAUSTED: Mapping[str, Reply] = {
    "429": QUOTA,
    "429-type-only": Reply(status=429, error={"message": "no money", "type": "insufficient_quota", "code": "429"}),
    "402": Reply(status=402, error={"message": "Insufficient Balance", "code": "invalid_request_error"}),
    "200": Reply(raw=b'{"error": {"message": "no money", "code": "insufficient_quota"}}'),
}
