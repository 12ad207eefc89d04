"""A real database with rows in every table: candidates of all fates, a generator's rounds, an audit, a review."""

import shutil
from pathlib import Path

from exchange import Asked
from scripted_server import Reply, ScriptedServer, avoiding, choosing, computing, saying

from pytest_toolgate.store import Store

from .audits import Audited
from .pool import VALUE, Pool
from .workshop import block, candidate

SETTINGS = """
    screens:
      - {name: light, provider: fake, model: light-model, samples: 2, reject_at: 2}
      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}
      - {name: cue, provider: fake, model: cue-model, samples: 1, reject_at: 1, mode: choices-only}
      - {name: blind, provider: fake, model: blind-model, samples: 1, reject_at: 1, mode: question-only}
    solve:
      - {name: quick, agent: builtin, provider: fake, model: quick-model, time_limit: 20, max_turns: 3, control: true}
      - {name: slow, agent: builtin, provider: fake, model: slow-model, time_limit: 20, max_turns: 3}
    accept: all
    checks: {perturb: flag}
    generate: {agent: builtin, provider: fake, model: generator-model, time_limit: 20, max_turns: 3}
"""


class Models:
    """Some know what they should not, some cannot do what they should, and one is out of order."""

    def __init__(self) -> None:
        self._proposals = [block(candidate(1)), "I have no idea."]

    def __call__(self, asked: Asked) -> Reply:
        model = asked.model
        if asked.is_preflight:
            return Reply("OK")
        if model == "generator-model":
            return Reply(self._proposals.pop(0) if len(self._proposals) > 1 else self._proposals[0])
        if model in ("quick-model", "slow-model"):
            lost = "unsolved" in asked.prompt and model == "slow-model"
            return (saying("I give up.") if lost else computing(VALUE))(asked)
        if model == "blind-model":
            return Reply("ANSWER: 17.5")
        if model == "light-model" and "mumbled" in asked.prompt:
            return Reply("Well.")
        if model == "light-model" and "failing" in asked.prompt:
            return Reply(status=500, error={"message": "out of order"})
        return (choosing(VALUE) if "easy" in asked.prompt else avoiding(VALUE))(asked)


def record(pool: Pool, server: ScriptedServer) -> Audited:
    """Make it, at the default place of a repository."""
    repo = Audited(pool, server)
    server.script = server.preflight = Models()
    repo.configure(SETTINGS)
    for name in ("good", "easy", "unsolved", "mumbled", "failing"):
        pool.add(name)
    pool.add("constant", f'import scipy\nx = 2.5\nprint("ANSWER: {VALUE}")\n', question="What is constant at 2.5?")
    pool.add("wrong", 'import scipy\nprint("ANSWER: 5")\n')
    pool.add("idle", f'print("ANSWER: {VALUE}")\n')
    pool.write("candidates/broken.yaml", "question: [\n")
    pool.run()
    pool.run("candidates/good.yaml")  # and again: all of it is reused
    repo.toolgate("generate", "--rounds", "2")
    repo.rescreen("--name", "strong", "--screens", "strong", "--seed", "3", code=0)
    store = Store(pool.database)
    [known] = store.query("SELECT id, fingerprint FROM candidates ORDER BY time LIMIT 1")
    store.append("reviews", {
        "candidate_id": known["id"], "fingerprint": known["fingerprint"], "verdict": "confirmed",
        "reviewer": "A. Smith", "note": "checked by hand",
    })  # fmt: skip
    store.close()
    return repo


_KEPT: dict[str, Path] = {}


def recorded_copy(pool: Pool, server: ScriptedServer, directory: Path) -> Path:
    """A copy of one such database, which is made once."""
    if "kept" not in _KEPT:
        record(pool, server)
        _KEPT["kept"] = directory / "kept.db"
        shutil.copy(pool.database, _KEPT["kept"])
    return _KEPT["kept"]
