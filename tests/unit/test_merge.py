"""Uniting databases: nothing twice, nothing lost, nothing changed, whatever lies beside or behind them."""

import itertools
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pytest_toolgate.cli.main import main
from pytest_toolgate.evidence import verify_database
from pytest_toolgate.store import Store, StoreError, schema
from pytest_toolgate.store.merge import merge

from .test_chain import old, write
from .test_store import Outsider, reply
from .test_store_upgrade import ROWS, insert


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a database but what says how they came together."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
            for table in schema.chained()
            if table != "origins"
        }


@pytest.fixture
def shard(tmp_path: Path) -> Callable[..., Path]:
    """A database with some replies of its own."""

    def make(name: str, *attempts: str) -> Path:
        store = Store(tmp_path / f"{name}.db")
        for attempt in attempts:
            store.append_all([
                ("replies", reply(attempt, text=f"ANSWER: B in {name}")),
                ("uses", {"attempt_id": attempt, "kind": "reply", "used_id": attempt, "reused": False}),
            ])  # fmt: skip
        store.close()
        return store.path

    return make


def test_shards_become_one_and_again_nothing_is_added(tmp_path: Path, shard: Callable[..., Path]) -> None:
    sources = [shard("a", "1", "2"), shard("b", "3"), shard("c")]
    before = [source.read_bytes() for source in sources]
    target = tmp_path / "new" / "all.db"
    merged = merge(target, sources)
    assert (merged.added["replies"], merged.added["uses"], merged.added["links"]) == (3, 3, 9)
    whole = content(target)
    assert merge(target, sources).rows == 0
    assert merge(target, sources[::-1]).rows == 0
    assert content(target) == whole
    assert [source.read_bytes() for source in sources] == before
    heads = [head.digest for source in sources for head in verify_database(source).heads]
    verified = verify_database(target, heads)
    assert verified.found == 0
    assert len(verified.heads) == 4


def test_the_order_makes_no_difference(tmp_path: Path, shard: Callable[..., Path]) -> None:
    sources = [shard("a", "1"), shard("b", "2", "3"), shard("c", "4")]
    contents = []
    for number, order in enumerate(itertools.permutations(sources)):
        target = tmp_path / f"all-{number}.db"
        merge(target, order[:1])
        merge(target, order[1:])
        contents.append(content(target))
    assert all(each == contents[0] for each in contents)
    assert len(contents[0]["replies"]) == 4


def test_into_a_database_that_has_something_already(shard: Callable[..., Path]) -> None:
    first, second = shard("a", "1"), shard("b", "2")
    merge(first, [second])
    merge(second, [first])
    assert content(first) == content(second)
    assert verify_database(first).found == verify_database(second).found == 0
    # And then each grows on.
    write(first, 1)
    write(second, 2)
    assert merge(first, [second]).added["run_events"] == 20
    assert verify_database(first).found == 0


def test_copies_of_one_database_that_grew_apart_are_united(tmp_path: Path) -> None:
    """As jobs do that begin with the database of a cache."""
    first = tmp_path / "0.db"
    write(first, 0)
    copies = [Path(shutil.copy(first, tmp_path / f"{number}.db")) for number in (1, 2)]
    for number, copy in enumerate(copies, 1):
        write(copy, number)
    assert merge(first, copies).added["run_events"] == 40
    assert verify_database(first).found == 0


def test_other_content_under_the_same_key_is_a_conflict_and_nothing_is_merged(
    tmp_path: Path, shard: Callable[..., Path]
) -> None:
    first, second = shard("a", "1"), shard("b", "2")
    other = Path(shutil.copy(first, tmp_path / "other.db"))
    with closing(sqlite3.connect(other)) as connection, connection:
        [key] = connection.execute("SELECT id FROM replies").fetchone()
        connection.execute("UPDATE replies SET value = NULL")
    before = content(first)
    with pytest.raises(StoreError, match=f"nothing was merged: {other} has other content .* `replies` under `{key}`"):
        merge(first, [second, other])
    assert content(first) == before
    with pytest.raises(StoreError, match="nothing was merged"):  # among the sources
        merge(tmp_path / "new.db", [first, other])
    assert content(tmp_path / "new.db")["replies"] == []


def test_a_chain_that_goes_on_in_two_ways_is_a_conflict(tmp_path: Path) -> None:
    """An older copy that was put in the place of the file goes on with its chain."""
    path, later = tmp_path / "a.db", tmp_path / "later.db"
    write(path, 0)
    early = path.read_bytes()
    write(path, 1)
    later.write_bytes(path.read_bytes())
    path.write_bytes(early)  # the same file, as it was
    write(path, 2)
    with pytest.raises(StoreError, match=r"goes on with the chain [0-9a-f]{32} from link 22 in another way"):
        merge(path, [later])


def test_what_is_not_yet_in_the_file_itself_comes_along(tmp_path: Path, shard: Callable[..., Path]) -> None:
    source = Store(shard("a"))
    source.append("replies", reply("in the log"))
    assert source.path.with_name("a.db-wal").stat().st_size
    with Outsider(source.path, "BEGIN IMMEDIATE"):  # and somebody is at work in it
        assert merge(tmp_path / "all.db", [source.path]).added["replies"] == 1
    source.close()


def test_what_waits_in_files_beside_a_source_comes_along(tmp_path: Path) -> None:
    source = Store(tmp_path / "a.db", busy_seconds=0.2)
    with Outsider(source.path, "BEGIN IMMEDIATE"), pytest.raises(StoreError):
        source.append("replies", reply("waiting"))
    target = tmp_path / "all.db"
    assert merge(target, [source.path]).waiting == 1
    assert merge(target, [source.path]).rows == 0
    assert source.take_in_spool() == 1
    source.close()
    assert merge(target, [source.path]).rows == 0
    assert [row[2] for row in content(target)["replies"]] == ["waiting"]
    assert verify_database(target).found == 0


NO_ROWS = (
    "{",
    "[]",
    '{"table": "links", "row": {"id": "x"}}',
    '{"table": "runs", "row": {"x": 1}}',
    '{"table": "runs", "row": {"id": "x", "y); DROP TABLE runs; --": 1}}',
)


@pytest.mark.parametrize("text", NO_ROWS)
def test_a_waiting_file_that_is_no_row_is_one_sentence(tmp_path: Path, shard: Callable[..., Path], text: str) -> None:
    source = shard("a", "1")
    source.with_name("a.db.spool").mkdir()
    source.with_name("a.db.spool").joinpath("x.json").write_text(text)
    with pytest.raises(StoreError, match=r"x\.json is no row of a database"):
        merge(tmp_path / "all.db", [source])
    assert content(tmp_path / "all.db")["replies"] == []


def test_a_source_of_an_earlier_schema_is_read_as_it_is(tmp_path: Path, shard: Callable[..., Path]) -> None:
    source, target = tmp_path / "old.db", shard("a", "1")
    old(source, 30)
    before = source.read_bytes()
    assert merge(target, [source]).added["replies"] == 30
    assert merge(target, [source]).rows == 0
    assert source.read_bytes() == before
    assert verify_database(target).found == 0
    # The same rows come by a copy that was brought up to date: they are the same rows.
    newer = Path(shutil.copy(source, tmp_path / "newer.db"))
    Store(newer).close()
    assert merge(target, [newer]).added["replies"] == 0
    assert verify_database(target).found == 0


def test_rows_without_link_stay_without(tmp_path: Path, shard: Callable[..., Path]) -> None:
    source = shard("a")
    with closing(sqlite3.connect(source)) as connection, connection:
        insert(connection, "replies", {**ROWS["replies"], "id": "late"})
    merge(tmp_path / "all.db", [source])
    assert "replies late: not chained" in "".join(map(str, verify_database(tmp_path / "all.db").findings))


def test_what_cannot_be_merged_is_one_sentence(
    tmp_path: Path, shard: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    sound = shard("a", *map(str, range(300)))
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    with closing(sqlite3.connect(tmp_path / "later.db")) as connection:
        connection.executescript(schema.TABLES)
        connection.execute(f"PRAGMA user_version={schema.VERSION + 1}")
    data = bytearray(sound.read_bytes())
    data[len(data) // 2 :] = os.urandom(len(data) - len(data) // 2)
    (tmp_path / "damaged.db").write_bytes(data)
    target = tmp_path / "all.db"
    for names, sentence in (
        (["none.db"], "there is no database"),
        (["text.db"], "file is not a database"),
        (["other.db"], "is a database of another program"),
        (["later.db"], "was written by a later version"),
        (["damaged.db"], "is damaged"),
        (["a.db", "a.db"], "is named twice"),
        (["a.db", "all.db"], "cannot be merged into itself"),
    ):
        Store(target).close()
        assert main(["db", "merge", *(str(tmp_path / name) for name in names), "--db", str(target)]) == 2, names
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1), said
        assert sentence in said.err
        assert content(target)["replies"] == []


def test_more_than_can_be_attached_at_once_are_refused_in_words(tmp_path: Path, shard: Callable[..., Path]) -> None:
    sources = [shard(f"s{number}", str(number)) for number in range(11)]
    with pytest.raises(StoreError, match="at most 10 databases can be merged at once"):
        merge(tmp_path / "all.db", sources)


def test_the_command_says_what_was_added(
    tmp_path: Path, shard: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = shard("a", "1"), tmp_path / "all.db"
    assert main(["db", "merge", str(source), "--db", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 2 rows were added: 1 replies, 1 uses\n"
    assert main(["db", "merge", str(source), "--db", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 0, "waiting": 0, "added": {}}
