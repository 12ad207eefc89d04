"""A repository whose candidates are audited, and models that know some of the answers."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from exchange import Asked
from scripted_server import Reply, ScriptedServer, avoiding, choosing, computing, saying

from .pool import VALUE, Pool, Started

PROVIDER = """
    domain: scipy
    providers:
      fake: {api: chat, base_url: "<url>", api_key_env: CANARY_KEY, timeout: 20, retries: {attempts: 1}}
    verify: {time_limit: 20, repeats: 1}
"""
SCREENS = """
    screens:
      - {name: light, provider: fake, model: light-model}
      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}
      - {name: cue, provider: fake, model: cue-model, samples: 1, reject_at: 1, mode: choices-only}
"""
SOLVERS = """
    solve:
      - {name: quick, agent: builtin, provider: fake, model: quick-model, time_limit: 20, max_turns: 3}
      - {name: slow, agent: builtin, provider: fake, model: slow-model, time_limit: 20, max_turns: 3}
    accept: all
"""
_COMMAND = (sys.executable, "-c", "import sys; from pytest_toolgate.cli.main import main; sys.exit(main())")


class Models:
    """Screens answer what they know, and solvers all but what they do not.

    Attributes:
        known: Model -> names that stand in the questions that it answers.
        unsolved: Model of a solver -> names that stand in the questions that it gives up.
        broken: Models that answer nothing.
    """

    def __init__(self) -> None:
        self.known: dict[str, set[str]] = {}
        self.unsolved: dict[str, set[str]] = {}
        self.broken: set[str] = set()

    def __call__(self, asked: Asked) -> Reply:
        if asked.model in self.broken:
            return Reply(status=500, error={"message": "out of order"})
        if asked.model in ("quick-model", "slow-model"):
            lost = any(name in asked.prompt for name in self.unsolved.get(asked.model, ()))
            return (saying("I give up.") if lost else computing(VALUE))(asked)
        knows = any(f"of {name}?" in asked.prompt for name in self.known.get(asked.model, ()))
        return (choosing(VALUE) if knows else avoiding(VALUE))(asked)


class Audited:
    """The repository."""

    def __init__(self, pool: Pool, server: ScriptedServer) -> None:
        self.pool = pool
        self.server = server
        self.models = Models()
        server.script = self.models

    def configure(self, *parts: str) -> None:
        """Write the configuration."""
        self.pool.configure(PROVIDER, *parts, url=self.server.base_url)

    def loop(self, *names: str) -> None:
        """Judge candidates of these names in the loop, by lint and verify alone."""
        for name in names:
            self.pool.add(name)
        self.pool.run("--toolgate-gates=lint,verify")

    def toolgate(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return subprocess.run(
            [*_COMMAND, *arguments], cwd=self.pool.root, capture_output=True, text=True, timeout=200, check=False
        )

    def rescreen(self, *arguments: str, code: int = 0) -> Mapping[str, Any]:
        """What an audit says as JSON."""
        done = self.toolgate("rescreen", *arguments, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        told: Mapping[str, Any] = json.loads(done.stdout)
        return told

    def table(self, *audits: str, code: int = 0) -> list[list[Any]]:
        """The rows of the reported pool: stage, in, removed, out, no verdict."""
        more = ["--audits", ",".join(audits)] if audits else []
        done = self.toolgate("report", "--pool", *more, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        stages = json.loads(done.stdout)["stages"]
        return [[stage[key] for key in ("stage", "in", "removed", "out", "no_verdict")] for stage in stages]

    @contextmanager
    def started(self, *arguments: str) -> Iterator[Started]:
        """Start a command in a process group of its own, to be signalled on its way."""
        output = self.pool.root / "output.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*_COMMAND, *arguments],
                cwd=self.pool.root, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        run = Started(process, output)
        try:
            yield run
        finally:
            run.kill_group()

    def in_loop(self) -> dict[str, list[dict[str, Any]]]:
        """Every row of the database that belongs to no audit, byte for byte."""
        return rows_of(self.pool, "audit IS NULL")

    def ended(self, audit: str) -> dict[str, str]:
        """Name of each candidate -> its newest outcome in an audit: `outcome gate reason`."""
        rows = self.pool.rows(
            "SELECT attempts.candidate_id AS name, outcome, gate, reason FROM outcomes "
            "JOIN attempts ON attempts.id = attempt_id JOIN runs ON runs.id = run_id WHERE audit = ? "
            "ORDER BY outcomes.time",
            [audit],
        )
        return {row["name"]: " ".join(filter(None, (row["outcome"], row["gate"], row["reason"]))) for row in rows}

    def asked(self) -> list[str]:
        """The models that were asked, preflights aside."""
        return [asked.model for asked in self.server.requests]


TABLES_OF_ATTEMPTS: Sequence[str] = (
    *("gates", "script_runs", "replies", "cues", "agent_runs", "agent_replies", "uses", "outcomes", "checks"),
)
TABLES_OF_RUNS: Sequence[str] = ("attempts", "run_events", "preflights", "rounds", "proposals")


def rows_of(pool: Pool, where: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of all runs of a kind: table -> rows, by key."""
    runs = f"SELECT id FROM runs WHERE {where}"
    found = {"runs": pool.rows(f"SELECT * FROM runs WHERE {where} ORDER BY id")}
    for table in TABLES_OF_RUNS:
        found[table] = pool.rows(f"SELECT * FROM {table} WHERE run_id IN ({runs}) ORDER BY id")
    for table in TABLES_OF_ATTEMPTS:
        found[table] = pool.rows(
            f"SELECT * FROM {table} WHERE attempt_id IN (SELECT id FROM attempts WHERE run_id IN ({runs})) ORDER BY id"
        )
    found["candidates"] = pool.rows(
        f"SELECT * FROM candidates WHERE id IN (SELECT content_id FROM attempts WHERE run_id IN ({runs})) ORDER BY id"
    )
    return found
