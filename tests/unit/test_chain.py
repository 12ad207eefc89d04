"""The links of a database: what a row's digest depends on, who gets a link, and how chains of copies grow apart."""

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.evidence import verify_database
from pytest_toolgate.store import Store
from pytest_toolgate.store.chain import chain_digest, row_digest

from .test_store import START, Outsider, reply
from .test_store_upgrade import ROWS, SCHEMA_1, insert

VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.binary())
ROW = st.dictionaries(st.text(min_size=1, max_size=3), VALUES, max_size=4)


def stored(row: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """What tells two rows apart: types, the sign of zero, and whatever is not NULL."""
    return {name: (type(value).__name__, repr(value)) for name, value in row.items() if value is not None}


@given(ROW, ROW)
def test_two_rows_have_one_digest_only_if_they_are_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = stored(one) == stored(other)
    assert (row_digest("t", one.items()) == row_digest("t", other.items())) == same


@given(ROW)
def test_a_digest_depends_on_no_order_and_on_no_null(row: dict[str, Any]) -> None:
    digest = row_digest("t", row.items())
    assert row_digest("t", reversed(row.items())) == digest
    assert row_digest("t", {**row, "a later column": None}.items()) == digest
    assert row_digest("u", row.items()) != digest


def test_types_count() -> None:
    digests = {row_digest("t", [("a", value)]) for value in (1, 1.0, "1", b"1", True and "True", 0.0, -0.0, "", None)}
    assert len(digests) == 9
    assert row_digest("t", [("a", "é")]) == row_digest("t", [("a", bytearray("é".encode()))])
    assert row_digest("t", [("a", "b"), ("c", "d")]) != row_digest("t", [("a", "bc"), ("", "d")])


@given(st.lists(st.text(max_size=4), min_size=4, max_size=4), st.lists(st.text(max_size=4), min_size=4, max_size=4))
def test_no_part_of_a_link_passes_for_its_neighbour(one: list[str], other: list[str]) -> None:
    assert (chain_digest(*one) == chain_digest(*other)) == (one == other)


def links(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT table_name, row_id, origin FROM links ORDER BY origin, position").fetchall()


def test_every_row_has_one_link_also_one_that_was_spooled(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.db", busy_seconds=0.2)
    key = store.append("replies", reply(cost=1, correct=True))  # stored as 1.0 and 1
    with Outsider(store.path, "BEGIN IMMEDIATE"), pytest.raises(Exception, match="is kept in"):
        store.append("replies", reply("spooled"))
    [spooled] = store.path.with_name("t.db.spool").glob("*.json")
    content = spooled.read_bytes()
    store.take_in_spool()
    spooled.write_bytes(content)
    store.take_in_spool()
    assert [row_id for table, row_id, _ in links(store.path) if table == "replies"] == [key, spooled.stem]
    # A row that is there already gets no second link.
    store.append("replies", reply(id=key))
    assert len(links(store.path)) == 3
    assert verify_database(store.path).held["rows"] == 3
    store.close()


def test_rows_of_one_transaction_are_all_linked_or_none_is(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.db")
    with pytest.raises(Exception, match="NOT NULL"):
        store.append_all([("replies", reply()), ("replies", reply(text=None))])
    assert [table for table, _, _ in links(store.path)] == ["origins"]
    store.close()


def test_threads_and_processes_make_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    store = Store(path)
    workers = [START.Process(target=write, args=(path, number)) for number in range(3)]
    threads = [threading.Thread(target=write, args=(path, number)) for number in range(3, 6)]
    for start in [each.start for each in workers] + [each.start for each in threads]:
        start()
    for join in [each.join for each in workers] + [each.join for each in threads]:
        join()
    store.close()
    verified = verify_database(path)
    assert verified.found == 0
    assert [head.length for head in verified.heads] == [1 + 6 * 20]


def write(path: Path, number: int) -> None:
    store = Store(path)
    for index in range(20):
        store.append("run_events", {"run_id": f"{number}-{index}", "kind": "closed", "detail": {}})
    store.close()


def test_copies_grow_apart_each_in_a_chain_of_its_own_that_seals_the_common_one(tmp_path: Path) -> None:
    """As the database of a CI cache, which every job restores."""
    paths = [tmp_path / f"{number}.db" for number in range(3)]
    write(paths[0], 0)
    for copy in paths[1:]:
        shutil.copy(paths[0], copy)
        write(copy, 1)
    [common] = verify_database(paths[0]).heads
    chains = [{head.origin for head in verify_database(path).heads} for path in paths]
    assert chains[1] & chains[2] == {common.origin}
    for path in paths:
        assert verify_database(path, [common.digest]).found == 0
    with closing(sqlite3.connect(paths[1])) as connection, connection:
        connection.execute("DELETE FROM links WHERE origin = ? AND position = ?", [common.origin, common.length])
        connection.execute("DELETE FROM run_events WHERE run_id = '0-19'")
    [finding] = verify_database(paths[1]).findings
    assert "is missing: the chain" in str(finding)


def old(path: Path, rows: int) -> None:
    """A database of version 1 with many rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA_1)
        for number in range(rows):
            insert(connection, "replies", {**ROWS["replies"], "id": f"old-{number}"})


def test_rows_of_earlier_schemas_are_linked_in_their_order_by_the_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    old(path, 50)
    before = verify_database(path)
    assert (before.version, before.heads) == (1, ())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,), "verifying has changed it"
    Store(path).close()
    linked = [row_id for table, row_id, _ in links(path) if table == "replies"]
    assert linked == [f"old-{number}" for number in range(50)]
    assert verify_database(path).held["rows"] == 51
    Store(path).close()
    assert len(links(path)) == 51


def test_what_an_older_process_adds_to_a_new_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    old(path, 1)
    with closing(sqlite3.connect(path)) as older:
        older.execute("SELECT * FROM replies").fetchall()
        Store(path).close()
        insert(older, "replies", {**ROWS["replies"], "id": "late"})
        older.commit()
    told = [str(finding) for finding in verify_database(path).findings]
    assert "replies late: not chained: it was added by an older version, or by hand" in told


def test_a_text_that_is_none_any_more_is_linked_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    old(path, 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE replies SET text = CAST(x'ff00fe' AS TEXT)")
    Store(path).close()
    assert verify_database(path).held["rows"] == 2
