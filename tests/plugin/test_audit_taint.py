"""Nothing that an audit has found out reaches a generator: all texts of its rows are tainted, and no prompt has any."""

import dataclasses
import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer

from pytest_toolgate.config import GenerateSettings
from pytest_toolgate.generator import history
from pytest_toolgate.generator.feedback import Feedback, Record, Wishes, feedback
from pytest_toolgate.generator.history import rounds_begun, rounds_over
from pytest_toolgate.generator.pool_wishes import wishes
from pytest_toolgate.store import Store

from .audits import TABLES_OF_ATTEMPTS, Audited, rows_of
from .pool import Pool
from .workshop import GATES, Workshop, block, candidate

pytestmark = pytest.mark.slow

TAINT = "t41nt"
# What ties rows together; tainted, they would only fall apart.
_KEYS = ("id", "run_id", "attempt_id", "used_id", "content_id", "round_id")
# Tables that no attempt of this test fills by itself.
_MADE_UP: Mapping[str, Mapping[str, object]] = {
    "checks": {"name": "x", "verdict": "rejected", "sentence": "x", "evidence": "x", "seconds": 1.0},
}


def _taint(pool: Pool) -> set[tuple[str, str]]:
    """Taint all texts of the rows of audits; says which columns of which tables were."""
    mine = {row["id"] for row in rows_of(pool, "audit IS NULL")["candidates"]}
    tainted = set()
    with closing(sqlite3.connect(pool.database)) as connection, connection:
        [[attempt]] = connection.execute(
            "SELECT attempts.id FROM attempts JOIN runs ON runs.id = run_id WHERE audit IS NOT NULL LIMIT 1"
        )
        for table, row in _MADE_UP.items():
            full = {"id": "made-up", "time": "2026-01-01", "attempt_id": attempt, **row}
            marks = ", ".join("?" * len(full))
            connection.execute(f"INSERT INTO {table} ({', '.join(full)}) VALUES ({marks})", list(full.values()))
        # Of an audit's attempts one half claims to be a round's own, so that only the name of the audit stops it.
        connection.execute(
            "UPDATE attempts SET round_id = (SELECT id FROM rounds WHERE number = 1 + attempts.rowid % 3) "
            "WHERE run_id IN (SELECT id FROM runs WHERE audit IS NOT NULL) AND rowid % 2"
        )
        connection.commit()
        found = rows_of(pool, "audit IS NOT NULL")
        for table, rows in found.items():
            texts = [
                column[1]
                for column in connection.execute(f"PRAGMA table_info({table})")
                if column[2] == "TEXT" and column[1] not in _KEYS and (table, column[1]) != ("runs", "audit")
            ]
            for row in rows:
                if table == "candidates" and row["id"] in mine:
                    continue  # the same content as in the loop
                values = [_tainted(table, column, row[column]) for column in texts]
                sets = ", ".join(f"{column} = ?" for column in texts)
                connection.execute(f"UPDATE {table} SET {sets} WHERE id = ?", [*values, row["id"]])
                tainted |= {(table, column) for column in texts}
        connection.execute("UPDATE runs SET audit = audit || ? WHERE audit IS NOT NULL", [TAINT])
    return tainted


def _tainted(table: str, column: str, value: object) -> str:
    if (table, column) == ("candidates", "content"):
        content: dict[str, Any] = json.loads(str(value))
        return json.dumps({
            key: f"{part} {TAINT}" if isinstance(part, str) and key not in ("answer", "domain") else part
            for key, part in {**content, "tags": [TAINT], "options": dict.fromkeys("ABCD", TAINT)}.items()
        })  # fmt: skip
    try:
        json.loads(str(value))
    except ValueError:
        return f"0 {TAINT} {value}"  # of two rows, that of the audit would be the earlier
    return json.dumps({TAINT: TAINT})


@pytest.mark.slow
def test_no_taint_reaches_a_prompt(pool: Pool, server: ScriptedServer) -> None:
    shop, repo = Workshop(pool, server), Audited(pool, server)
    shop.configure(GATES)
    models = shop.play(
        block(candidate(1)), block(candidate(2, solution='import scipy\nprint("ANSWER: 5")\n')), block(candidate(3))
    )
    assert shop.generate("--rounds", 3).code == 0
    items = [path.read_bytes() for path in shop.accepted()]
    assert len(items) == 2
    # Audits of all kinds: of recorded candidates, of files as they are, and of files that somebody has edited.
    repo.rescreen("--name", "screened", "--screens", "light", "--solvers", "builtin", "--seed", "1")
    pool.run("--toolgate-audit=files", "--toolgate-seed=2", "generated")
    edited = {**candidate(1), "question": "What was it before somebody edited it?"}
    pool.write("generated/scipy-0001.yaml", json.dumps(edited))
    pool.run("--toolgate-audit=edited", "--toolgate-seed=3", "generated/scipy-0001.yaml")
    before = repo.in_loop()
    tainted = _taint(pool)
    assert repo.in_loop() == before
    assert {"runs", "attempts", "run_events", "preflights", "candidates", *TABLES_OF_ATTEMPTS} == {
        table for table, _ in tainted
    }
    assert ("outcomes", "sentence") in tainted
    assert ("candidates", "content") in tainted

    # The next prompt, as it is told and as it is kept ...
    models = shop.play(block(candidate(4)))
    assert shop.generate("--rounds", 4).code == 0
    [told] = models.told
    assert "3 rounds:" in told
    assert candidate(1)["question"] in told
    assert TAINT not in told
    assert TAINT not in pool.rows("SELECT prompt FROM rounds ORDER BY number DESC LIMIT 1")[0]["prompt"]
    # ... and all that the builder of prompts can be given.
    store = Store(pool.database)
    past = rounds_over(store, "scipy")
    known: Feedback = feedback(
        [one.record for one in past],
        wishes({str(one.record.number): one.candidate for one in past if one.candidate}, GenerateSettings(), "0"),
    )
    assert [one.record.number for one in past] == [1, 2, 3, 4]
    assert len(known.newest) == 4
    assert TAINT not in repr((past, known, rounds_begun(store, "scipy")))
    store.close()
    assert [path.read_bytes() for path in shop.accepted()[:2]] == items
    assert "before somebody edited it" not in told


def test_the_types_of_a_prompt_have_no_place_for_an_audit() -> None:
    """They hold what is listed here; whoever adds a field has to look here. And no module of the loop knows audits."""
    fields = {cls: [field.name for field in dataclasses.fields(cls)] for cls in (Record, Feedback, Wishes)}
    assert fields == {
        Record: ["number", "outcome", "gate", "reason", "sentence", "question", "options", "answer", "tags"],
        Feedback: ["counts", "newest", "failures", "wishes"],
        Wishes: ["letter", "rank", "full", "wanted", "crowded"],
    }
    modules = list(Path(history.__file__).parent.glob("*.py"))
    assert len(modules) > 5
    assert not [path.name for path in modules if re.search(r"import.*audit|from.*audit", path.read_text("utf-8"))]
