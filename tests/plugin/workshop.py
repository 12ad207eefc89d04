"""A repository in which candidates are generated, and a model that proposes them."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from scripted_server import Asked, Reply, ScriptedServer, avoiding, computing

from .pool import OPTIONS, VALUE, Pool, Started

PROVIDER = """
    domain: scipy
    providers:
      fake: {api: chat, base_url: "<url>", api_key_env: CANARY_KEY, timeout: 20, retries: {attempts: 1}}
"""
VERIFY = "verify: {time_limit: 20, repeats: 1}\n"
GATES = """
    screens:
      - {name: light, provider: fake, model: screen-model, samples: 1, reject_at: 1}
    solve: {agent: builtin, provider: fake, model: agent-model, time_limit: 20, max_turns: 3}
"""
GENERATE = "generate: {agent: builtin, provider: fake, model: generator-model, time_limit: 20, max_turns: 4<more>}\n"
_COMMAND = (sys.executable, "-c", "import sys; from pytest_toolgate.cli.main import main; sys.exit(main())", "generate")


def candidate(seed: int, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a candidate may hold
    """A candidate that is right but for what is said here, and like no other."""
    words = _words(seed)
    content: dict[str, Any] = {
        "tags": ["special"],
        "question": f"What is the value of {' '.join(words)}?",
        "options": dict(OPTIONS),
        "answer": "B",
        "distractors": {"A": "one mistake", "C": "another mistake", "D": "a third mistake"},
        "solution": f'import scipy\n# {" ".join(reversed(words))}\nprint("ANSWER: {VALUE}")\n',
        **keys,
    }
    return {key: value for key, value in content.items() if value is not None}


def _words(seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(20)]


def block(content: Mapping[str, Any]) -> str:
    """A reply that holds the file."""
    return f"Here it is.\n```yaml\n{json.dumps(content, indent=1)}\n```\n"


class Models:
    """The generator, a screen that is always wrong and an agent that is always right, and what the generator was told.

    The generator's replies come in turn; the last one stays.
    """

    def __init__(self, *replies: str | Reply) -> None:
        self.told: list[str] = []
        self.screen: Callable[[Asked], Reply] = avoiding(VALUE)
        self.agent: Callable[[Asked], Reply] = computing(VALUE)
        self._replies = list(replies)
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        if asked.is_preflight:
            return Reply("OK")
        if asked.model == "screen-model":
            return self.screen(asked)
        if asked.model == "agent-model":
            return self.agent(asked)
        with self._lock:
            if asked.turn == 0:
                self.told.append(asked.prompt)
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return Reply(reply) if isinstance(reply, str) else reply


@dataclass(frozen=True, slots=True)
class Generated:
    """One run of `toolgate generate`."""

    code: int
    out: str
    err: str


class Workshop:
    """The repository."""

    def __init__(self, pool: Pool, server: ScriptedServer) -> None:
        self.pool = pool
        self.server = server

    def configure(self, *parts: str, more: str = "") -> None:
        """Write the configuration: the gates named, and the generator with more settings."""
        generate = GENERATE.replace("<more>", f", {more}" if more else "")
        self.pool.configure(PROVIDER, VERIFY, *parts, generate, url=self.server.base_url)

    def play(self, *replies: str | Reply) -> Models:
        """Let the server play the models."""
        models = Models(*replies)
        self.server.script = self.server.preflight = models
        return models

    def generate(self, *arguments: str | float) -> Generated:
        """Run the command to its end."""
        done = subprocess.run(
            [*_COMMAND, *map(str, arguments)],
            cwd=self.pool.root,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        return Generated(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def started(self, *arguments: str | float) -> Iterator[Started]:
        """Start it in a process group of its own, to be signalled on its way."""
        output = self.pool.root / "output.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*_COMMAND, *map(str, arguments)],
                cwd=self.pool.root, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        run = Started(process, output)
        try:
            yield run
        finally:
            run.kill_group()

    def rounds(self) -> list[str]:
        """How each round has ended, by number: `outcome gate reason`; `open` for one that has not."""
        rows = self.pool.rows(
            "SELECT rounds.number, outcome, gate, reason FROM rounds "
            "LEFT JOIN attempts ON attempts.round_id = rounds.id "
            "LEFT JOIN outcomes ON outcomes.attempt_id = attempts.id AND outcome <> 'error' "
            "ORDER BY number, outcomes.time IS NULL"
        )
        found: dict[int, str] = {}
        for row in rows:
            ended = " ".join(filter(None, (row["outcome"], row["gate"] if row["reason"] else "", row["reason"])))
            found.setdefault(row["number"], ended or "open")
        return list(found.values())

    def file(self, number: int) -> Any:  # noqa: ANN401 - what a stranger wrote
        """What was proposed in a round."""
        return yaml.safe_load((self.pool.root / "generated" / f"scipy-{number:04}.yaml").read_text("utf-8"))

    def accepted(self) -> Sequence[Path]:
        """The accepted items."""
        return sorted((self.pool.root / "accepted").glob("*.json"))
