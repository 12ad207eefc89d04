"""Three requests of ten go wrong, in every way there is: what such a run decides is right, or it does not decide."""

import dataclasses
import itertools
import json
import random
import threading
import zlib
from collections import Counter
from collections.abc import Mapping

import pytest
from scripted_server import GARBAGE, Asked, Reply, Script, ScriptedServer, always
from wire_faults import FAULTS
from wire_shapes import SHAPES, body_of

from .pool import THREE_CALLS, VALUE, Pool

pytestmark = pytest.mark.slow

SHARE = 0.3
PROVIDER = """
    providers:
      fake:
        api: <api>
        base_url: "<url>"
        api_key_env: CANARY_KEY
        timeout: 2
        retries: {attempts: 3, max_wait: 0.05}
"""
GATES = "--toolgate-gates=lint,screen"
NAMES = [f"{kind}-{number}" for kind in ("easy", "even", "hard") for number in range(16)]
# How often the model knows the answer to each kind of question.
KNOWN = {"easy": 0.95, "even": 0.5, "hard": 0.05}


def answer(asked: Asked) -> Reply:
    """The model: it says the same to the same question and order, whenever it is asked."""
    kind = next(kind for kind in KNOWN if f"of {kind}-" in asked.prompt)
    drawn = random.Random(zlib.crc32(asked.prompt.encode()))
    value = VALUE if drawn.random() < KNOWN[kind] else drawn.choice([v for v in asked.options.values() if v != VALUE])
    return Reply(f"ANSWER: {asked.letter_of(value)}")


def contrary(asked: Asked) -> Reply:
    """Another answer than the model's: what a verdict would be wrong by."""
    return Reply(f"ANSWER: {next(letter for letter in asked.options if letter != answer(asked).text[-1])}")


# In the order in which they happen; those that come with an answer come first.
WAYS: Mapping[str, Script] = {
    "contrary-cut": lambda asked: dataclasses.replace(contrary(asked), ended="length"),
    "contrary-filtered": lambda asked: dataclasses.replace(contrary(asked), ended="filter"),
    "contrary-other-model": lambda asked: dataclasses.replace(contrary(asked), model="another-model"),
    "contrary-500": lambda asked: Reply(status=500, raw=body_of(asked, contrary(asked), SHAPES["openai"])),
    "contrary-as-text": lambda asked: Reply(raw=contrary(asked).text.encode()),
    "contrary-reasoning": lambda asked: Reply(raw=body_of(asked, Reply(thought=contrary(asked).text), SHAPES["vllm"])),
    "error-as-words": always(Reply("This model's maximum context length is 8192 tokens.")),
    "garbage": always(GARBAGE),
    **{name: fault.script for name, fault in FAULTS.items()},
}


class Injecting:
    """The same model behind a wire on which a fixed share of the requests goes wrong, each time in the next way."""

    def __init__(self) -> None:
        self.injected: Counter[str] = Counter()
        self._ways = itertools.cycle(WAYS)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        with self._lock:
            self._asked[asked.prompt] += 1
            # Drawn by question and turn: the order in which requests arrive changes nothing.
            wrong = random.Random(f"{asked.prompt} {self._asked[asked.prompt]}").random() < SHARE
            way = next(self._ways) if wrong else ""
            self.injected[way] += 1
        return WAYS[way](asked) if wrong else answer(asked)


@pytest.mark.parametrize(("workers", "api"), [(0, "responses"), (2, "chat")], ids=["n0-responses", "n2-chat"])
def test_no_verdict_is_wrong(pool: Pool, server: ScriptedServer, workers: int, api: str) -> None:
    for name in NAMES:
        pool.add(name)
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url, api=api)
    server.script = answer
    clean = pool.run(GATES, "--toolgate-db=clean.db").verdicts
    assert set(clean.values()) == {"provisional screen", "rejected screen too-easy"}
    server.forget()

    server.script = wire = Injecting()
    session = pool.run(GATES, workers=workers)
    assert set(session.verdicts) == set(NAMES)
    wrong = {
        name: verdict
        for name, verdict in session.verdicts.items()
        if verdict not in (clean[name], "error screen provider", "error screen inconclusive")
    }
    assert wrong == {}
    errors = sum(verdict.startswith("error") for verdict in session.verdicts.values())
    assert 0 < errors < len(NAMES) / 2

    right = wire.injected.pop("")
    injected = wire.injected.total()
    assert len(wire.injected) > len(WAYS) * 0.7
    assert 0.2 < injected / (injected + right) < 0.4

    replies = pool.rows("SELECT status, text, request, requests FROM replies")
    assert sum(row["requests"] for row in replies) == server.count == injected + right
    answered = [row for row in replies if row["status"] == "answered"]
    assert len(answered) > len(NAMES)
    for row in answered:
        asked = Asked("/v1/chat/completions", {}, json.loads(row["request"]))
        assert row["text"] == answer(asked).text

    # What went wrong is asked again, and then nothing is missing.
    server.forget()
    server.script = answer
    again = pool.run(GATES, workers=workers)
    assert again.verdicts == clean
    assert 0 < server.count <= len(replies) - len(answered) + errors * 2
