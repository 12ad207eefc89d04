"""`--toolgate-dry-run`: what a run would ask at most, and nothing is run, asked or written for it."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from scripted_server import Reply, Script, ScriptedServer, avoiding, by_model, by_question, choosing, computing

from pytest_toolgate.store import Store

from .pool import PROVIDER, SOLVE, THREE_CALLS, VALUE, VERIFY, Pool, Session

DRY = "--toolgate-dry-run"
STRONG = "      - {name: strong, provider: fake, model: strong-model, samples: 2, reject_at: 2}\n"
WRONG, RIGHT = avoiding(VALUE), choosing(VALUE)


def totals(session: Session) -> tuple[int, int]:
    """Calls and agent runs, at most."""
    assert session.code == 0, session.out
    [found] = re.findall(r"^in all at most (\d+) calls? and (\d+) agent runs?,", session.summary, flags=re.MULTILINE)
    return int(found[0]), int(found[1])


def proven(script: Script) -> Script:
    """The preflight asks without options; anything else is up to the script."""
    return lambda asked: script(asked) if asked.options else Reply("OK")


def files(root: Path) -> dict[str, bytes]:
    """What stands in a directory but for what pytest and Python themselves leave."""
    own = (".pytest_cache", "junit.xml", "stdout", "stderr", "__pycache__")
    paths = (path for path in root.rglob("*") if path.is_file() and not {*own} & {*path.relative_to(root).parts})
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def dump(pool: Pool) -> list[str]:
    """Everything in the database."""
    with closing(sqlite3.connect(f"file:{pool.database}?mode=ro", uri=True)) as connection:
        return list(connection.iterdump())


def test_nothing_is_run_asked_or_written(pool: Pool, server: ScriptedServer, workers: int) -> None:
    for name in ("case-1", "case-2"):
        pool.add(name)
    pool.write("candidates/broken.yaml", "question: [")
    pool.add("copy", question="What is the value of case-1?")
    pool.write("test_code.py", "import pathlib\ndef test_it(): pathlib.Path('ran').touch()\n")
    pool.configure(PROVIDER, VERIFY, THREE_CALLS, SOLVE, url=server.base_url)
    before = files(pool.root)
    session = pool.run(DRY, "-v", workers=workers)
    assert totals(session) == (6, 2)
    assert "dry run: 4 candidates, 2 with faults of form" in session.summary
    assert "screen `light` (fake, screen-model): at most 6 calls, 0 replies reused" in session.summary
    assert "agent `builtin` (fake, agent-model): at most 2 runs, 0 runs reused" in session.summary
    assert "cost unknown: no price of `screen-model` under providers.fake.prices" in session.summary
    assert "and one preflight request per model and setting" in session.summary
    assert "workers" not in session.out
    assert not session.cases
    assert server.count == 0
    assert files(pool.root) == before
    assert not list(pool.temporary.glob("toolgate-*"))


def test_a_run_asks_no_more_than_was_said_and_then_nothing_is_left(
    pool: Pool, server: ScriptedServer, workers: int
) -> None:
    pool.add("hard")
    pool.add("easy")
    pool.configure(PROVIDER, VERIFY, THREE_CALLS + STRONG, SOLVE, url=server.base_url)
    unknowing = by_model({"screen-model": WRONG, "strong-model": WRONG, "agent-model": computing(VALUE)})
    server.script = proven(by_question({"easy": RIGHT}, unknowing))
    calls, runs = totals(pool.run(DRY, workers=workers))
    assert (calls, runs) == (10, 2)
    pool.run(workers=workers)
    [made] = pool.rows("SELECT (SELECT count(*) FROM replies) AS calls, (SELECT count(*) FROM agent_runs) AS runs")
    assert made == {"calls": 7, "runs": 1}
    before, asked = dump(pool), server.count

    after = pool.run(DRY, workers=workers)
    assert totals(after) == (0, 0)
    assert "at most 0 calls, 5 replies reused" in after.summary
    assert "at most 0 runs, 1 run reused" in after.summary
    assert "preflight" not in after.summary
    assert totals(pool.run(DRY, "--toolgate-fresh", workers=workers)) == (10, 2)
    assert totals(pool.run(DRY, "--toolgate-all-screens", workers=workers)) == (2, 0)
    assert server.count == asked
    assert dump(pool) == before


def test_the_options_of_a_run_count(pool: Pool, server: ScriptedServer) -> None:
    for name in ("case-1", "case-2", "case-3"):
        pool.add(name)
    pool.configure(PROVIDER, THREE_CALLS + STRONG, SOLVE, url=server.base_url)
    server.script = proven(WRONG)
    pool.run("--toolgate-gates=screen", "-k", "case-1")
    assert totals(pool.run(DRY)) == (10, 3)
    assert totals(pool.run(DRY, "--toolgate-seed=1")) == (15, 3)
    assert totals(pool.run(DRY, "--toolgate-gates=screen")) == (10, 0)
    assert totals(pool.run(DRY, "--toolgate-gates=lint,verify")) == (0, 0)
    assert totals(pool.run(DRY, "-k", "case-2")) == (5, 1)
    assert totals(pool.run(DRY, "--deselect", "candidates/case-2.yaml")) == (5, 2)
    assert totals(pool.run(DRY, "candidates/case-1.yaml")) == (0, 1)
    assert totals(pool.run(DRY, "--toolgate-db=other.db")) == (15, 3)
    assert not (pool.root / "other.db").exists()


def test_prices_make_a_cost_of_what_was_recorded(pool: Pool, server: ScriptedServer) -> None:
    """The server counts 100 tokens in and 10 out for every reply."""
    pool.add("case-1")
    pool.add("case-2")
    priced = PROVIDER + "        prices: {screen-model: {input: 100, output: 1000}}\n"
    pool.configure(priced, THREE_CALLS, url=server.base_url)
    server.script = proven(WRONG)
    pool.run("-k", "case-1", "--toolgate-gates=screen")
    session = pool.run(DRY)
    line = "at most 3 calls, 3 replies reused, about 300 input and 30 output tokens, about 0.06 USD"
    assert f"screen `light` (fake, screen-model): {line}" in session.summary
    assert "in all at most 3 calls and 0 agent runs, about 0.06 USD, and one preflight request" in session.summary


def test_a_database_of_an_earlier_version_stays_as_it_is(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = proven(WRONG)
    pool.run("--toolgate-gates=screen")
    with closing(Store(pool.database)) as store:
        store.query("ALTER TABLE replies DROP COLUMN request")
        store.query("ALTER TABLE uses DROP COLUMN correct")
        for column in ("alone", "files_made", "stdout_bytes", "stderr_bytes", "called"):
            store.query(f"ALTER TABLE script_runs DROP COLUMN {column}")
        for column in ("solver", "control", "agent_version", "called"):
            store.query(f"ALTER TABLE agent_runs DROP COLUMN {column}")
        for column in ("solver", "control"):
            store.query(f"ALTER TABLE agent_replies DROP COLUMN {column}")
        store.query("DROP INDEX attempts_by_round")
        store.query("ALTER TABLE attempts DROP COLUMN round_id")
        for column in ("seal", "audit"):
            store.query(f"ALTER TABLE runs DROP COLUMN {column}")
        store.query("PRAGMA user_version=1")
    before = pool.database.read_bytes()
    assert totals(pool.run(DRY)) == (0, 0)
    assert pool.database.read_bytes() == before


def test_no_embedded_server_is_started_and_none_is_missed(pool: Pool) -> None:
    pool.add("first")
    pool.configure("""
        providers: {local: {kind: llama-cpp}}
        screens:
          - {name: light, provider: local, model: no-such-model}
    """)
    session = pool.run(DRY)
    assert totals(session) == (3, 0)
    assert "in all at most 3 calls and 0 agent runs, 0 USD" in session.summary


def test_it_may_be_set_anywhere_and_then_no_test_of_any_kind_runs(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.write("test_code.py", "def test_it(): assert False\n")
    monkeypatch.setenv("TOOLGATE_DRY_RUN", "1")
    session = pool.run("test_code.py", workers=2)
    assert session.code == 0
    assert "dry run: 0 candidates" in session.summary
    monkeypatch.setenv("TOOLGATE_DRY_RUN", "perhaps")
    session = pool.run("test_code.py")
    assert session.code == 4
    assert "TOOLGATE_DRY_RUN must be 1 or 0" in session.err


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [("toolgate.yaml", "`nonsense` is not a known key"), (".toolgate/toolgate.db", "cannot be opened")],
)
def test_what_a_run_cannot_begin_with_is_one_sentence(pool: Pool, wrong: str, sentence: str) -> None:
    pool.add("first")
    pool.write(wrong, "nonsense: " + "1" * 1000)
    session = pool.run(DRY)
    assert session.code == 4
    assert sentence in session.err
    assert "Traceback" not in session.out + session.err
