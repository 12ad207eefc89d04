"""`toolgate db verify`: whatever is changed, added, removed or moved in a real database is found and named."""

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from pytest_toolgate.cli.main import main
from pytest_toolgate.evidence import Verified, verify_database
from pytest_toolgate.store import Store, schema

from .pool import Pool
from .recorded import recorded_copy

pytestmark = pytest.mark.slow
TABLES = (*schema.chained(), "links")
# What stands in for a value in a column that is NULL in all rows.
_OF_NOTHING = {"INTEGER": 1, "REAL": 0.5, "TEXT": "x"}


@pytest.fixture
def real(pool: Pool, server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of a real database with rows in every table."""
    kept = recorded_copy(pool, server, tmp_path_factory.getbasetemp())
    return Path(shutil.copy(kept, tmp_path / "real.db"))


@pytest.fixture
def altered(real: Path, tmp_path: Path) -> Callable[..., Verified]:
    """What is found in a copy that was altered by SQL."""

    def alter(*statements: str, heads: tuple[str, ...] = ()) -> Verified:
        copy = Path(shutil.copy(real, tmp_path / "altered.db"))
        with closing(sqlite3.connect(copy)) as connection, connection:
            for statement in statements:
                assert connection.execute(statement).rowcount > 0, statement
        return verify_database(copy, heads)

    return alter


def told(verified: Verified) -> str:
    """All findings, as they are printed."""
    return "\n".join(map(str, verified.findings))


def values(path: Path) -> Iterator[tuple[str, str, str, object]]:
    """Table, key (as a condition), column and value: every column of one row of each table that has some there."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        for table in TABLES:
            types = {row["name"]: row["type"] for row in connection.execute(f"PRAGMA table_info({table})")}
            for column in types:
                row = connection.execute(f"SELECT * FROM {table} WHERE {column} IS NOT NULL LIMIT 1").fetchone()
                row = row or connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
                keys = ("origin", "position") if table == "links" else ("id",)
                where = " AND ".join(f"{key} = {literal(row[key])}" for key in keys)
                value = _OF_NOTHING[types[column]] if row[column] is None else row[column]
                yield table, where, column, value


def literal(value: object) -> str:
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


def another(value: object) -> str:
    """A value of the same type."""
    if isinstance(value, float):
        return repr(value + 1e-9)
    if isinstance(value, int):
        return str(-1 - value)
    return literal(f"{value or ''}x")


def test_a_database_that_nobody_has_touched_holds_and_is_left_as_it_is(real: Path) -> None:
    before = real.read_bytes()
    verified = verify_database(real)
    assert (verified.found, told(verified)) == (0, "")
    with closing(sqlite3.connect(real)) as connection:
        rows = sum(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in schema.chained())
        assert all(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES)
    assert verified.held["rows"] == verified.held["links"] == rows == verified.heads[0].length
    for what in ("replies", "agent_runs", "script_runs", "cues", "uses", "gates", "outcomes", "attempts", "candidates"):
        assert verified.held[what] > 0, what
    assert real.read_bytes() == before


def test_one_changed_value_of_any_column_is_found_and_its_row_is_named(
    real: Path, altered: Callable[..., Verified]
) -> None:
    changed = 0
    for table, where, column, value in values(real):
        statement = f"UPDATE {table} SET {column} = {another(value)} WHERE {where}"
        verified = altered(statement)
        named = where.split("'")[1]
        assert any(named in str(finding) and finding.table == table for finding in verified.findings), (
            f"{statement}: {told(verified)}"
        )
        changed += 1
    assert changed > 200


def test_what_is_removed_added_or_swapped_is_named(real: Path, altered: Callable[..., Verified]) -> None:
    with closing(sqlite3.connect(real)) as connection:
        [(one,), (two,)] = connection.execute("SELECT id FROM replies LIMIT 2").fetchall()
        count = connection.execute("SELECT count(*) FROM links").fetchone()[0]
    assert f"replies {one}: missing" in told(altered(f"DELETE FROM replies WHERE id = '{one}'"))
    copied = "id, time, run_id, kind, detail"
    added = altered(
        f"INSERT INTO run_events ({copied}) SELECT 'new', time, run_id, kind, detail FROM run_events LIMIT 1"
    )
    assert "run_events new: not chained" in told(added)
    swapped = told(altered(
        f"UPDATE replies SET id = 'x' WHERE id = '{one}'", f"UPDATE replies SET id = '{one}' WHERE id = '{two}'",
        f"UPDATE replies SET id = '{two}' WHERE id = 'x'",
    ))  # fmt: skip
    for key in (one, two):
        assert re.search(rf"^replies {key} \([a-z]+/.*\): changed", swapped, re.MULTILINE)
    # The links: one removed, two exchanged, and a row removed with its link.
    assert "the links 7 to 7 before it are missing" in told(altered("DELETE FROM links WHERE position = 7"))
    moved = told(altered(
        "UPDATE links SET position = 0 WHERE position = 9", "UPDATE links SET position = 9 WHERE position = 8",
        "UPDATE links SET position = 8 WHERE position = 0",
    ))  # fmt: skip
    assert "links 8 of chain" in moved
    assert "does not follow from the one before it" in moved
    both = altered(f"DELETE FROM replies WHERE id = '{one}'", f"DELETE FROM links WHERE row_id = '{one}'")
    assert "before it are missing" in told(both)
    assert both.held["links"] == count - 1


def test_an_end_that_was_cut_off_is_found_by_a_head_that_was_noted(
    real: Path, altered: Callable[..., Verified]
) -> None:
    [head] = verify_database(real).heads
    assert verify_database(real, [head.digest]).found == 0
    with closing(sqlite3.connect(real)) as connection:
        last = connection.execute("SELECT table_name, row_id FROM links ORDER BY position DESC LIMIT 1").fetchone()
    cut = (f"DELETE FROM {last[0]} WHERE id = '{last[1]}'", f"DELETE FROM links WHERE position = {head.length}")
    assert altered(*cut).found == 0  # nothing is left that could say so
    assert "no chain holds this head" in told(altered(*cut, heads=(head.digest,)))
    # A head stays in a chain that has grown since.
    store = Store(real)
    store.append("run_events", {"run_id": "r", "kind": "closed", "detail": {}})
    store.close()
    grown = verify_database(real, [head.digest])
    assert grown.found == 0
    # The copy that this file is has begun a chain of its own, which seals the length of the other.
    assert {each.length for each in grown.heads} == {head.length, 2}
    assert "it is missing: the chain" in told(altered(*cut))


def test_a_verdict_that_does_not_follow_from_its_grounds_is_told_in_one_line(
    real: Path, altered: Callable[..., Verified]
) -> None:
    """Whoever changes rows and computes all digests again has still to change all grounds of a verdict."""
    cases = {
        "UPDATE replies SET correct = 0 WHERE correct = 1": "correct 0 is stored, 1 comes out",
        "UPDATE replies SET text = 'ANSWER: A' WHERE status = 'wrong-form'":
            "status `wrong-form` is stored, `answered` comes out",
        "UPDATE gates SET verdict = 'passed' WHERE gate = 'screen' AND verdict = 'rejected'":
            "verdict `passed` is stored, `rejected` comes out",
        "UPDATE gates SET verdict = 'passed', reason = '' WHERE gate = 'verify' AND reason = 'mismatch'":
            "verdict `passed` is stored, `rejected` comes out; reason `` is stored, `mismatch` comes out",
        "UPDATE gates SET verdict = 'passed' WHERE gate = 'solve' AND verdict = 'review'":
            "verdict `passed` is stored, `review` comes out",
        "UPDATE agent_runs SET answer = NULL WHERE outcome = 'passed'":
            "outcome `passed` is stored, `review` comes out",
        "UPDATE script_runs SET stdout = 'ANSWER: 0.061291' WHERE matched = 'B'":
            "matched `B` is stored, `D` comes out",
        "UPDATE outcomes SET outcome = 'accepted' WHERE outcome = 'provisional'":
            "outcome `accepted` is stored, `provisional` comes out",
        "UPDATE cues SET score = 0.75 WHERE score = 0.5": "score 0.75 is stored, 0.5 comes out",
        "UPDATE uses SET correct = 1 - correct WHERE kind = 'reply'": "correct 1 is stored, 0 comes out",
    }  # fmt: skip
    for statement, sentence in cases.items():
        verified = altered(statement)
        assert sentence in told(verified), f"{statement}: {told(verified)}"


def test_bytes_that_flip_are_found_unless_they_hold_nothing(real: Path, tmp_path: Path) -> None:
    """Each byte of a sample: SQLite calls the file damaged, or something is named, or every row is what it was.

    The last is so for bytes that belong to no row: free space, the file's change counter, words of the schema that
    nothing hangs on.
    """
    with closing(sqlite3.connect(real)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
        before = list(connection.iterdump())
    whole = real.read_bytes()
    draw = random.Random(7)
    copy = tmp_path / "flipped.db"
    found = 0
    for _ in range(300):
        at, bit = draw.randrange(len(whole)), draw.randrange(8)
        copy.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        code = main(["db", "verify", "--db", str(copy)])
        if code:
            found += 1
            continue
        with closing(sqlite3.connect(copy)) as connection:
            assert rows_of(connection.iterdump()) == rows_of(before), f"byte {at}, bit {bit}"
    assert found > 100


def rows_of(dump: "Iterator[str] | list[str]") -> list[str]:
    """What a dump says of rows."""
    return [line for line in dump if line.startswith("INSERT")]


# --- the command -----------------------------------------------------------------------------------------


def test_the_command_prints_heads_and_ends_as_it_should(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "verify", "--db", str(real)]) == 0
    printed = capsys.readouterr().out
    [head] = verify_database(real).heads
    assert f"chain {head.origin}: {head.length} links, head {head.digest}\n" in printed
    assert printed.endswith("all of it holds\n")
    assert main(["db", "verify", "--db", str(real), "--json", "--head", head.digest]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["heads"] == [{"origin": head.origin, "length": head.length, "digest": head.digest}]
    with closing(sqlite3.connect(real)) as connection, connection:
        connection.execute("UPDATE replies SET text = char(27) || '[31m' || text")
    assert main(["db", "verify", "--db", str(real)]) == 1
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "does not hold: " in printed


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    (tmp_path / "folder.db").mkdir()
    for name, sentence in {
        "none.db": "there is no database", "folder.db": "there is no database", "text.db": "not a database",
        "other.db": "is a database of another program",
    }.items():  # fmt: skip
        assert main(["db", "verify", "--db", str(tmp_path / name)]) == 2, name
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert sentence in said.err


def test_it_can_be_read_where_nothing_may_be_written_and_while_somebody_writes(real: Path) -> None:
    store = Store(real)
    store.append("run_events", {"run_id": "r", "kind": "closed", "detail": {}})
    verified = verify_database(real)  # its last rows are in the log beside it
    assert verified.found == 0
    assert verified.held["rows"] == sum(head.length for head in verified.heads)
    store.close()
