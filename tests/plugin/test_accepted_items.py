"""Accepted items on disk: written whole, removed by a later verdict, left alone by a failure of machinery."""

import json
import os

from scripted_server import KEY, SERVER_ERROR, ScriptedServer, always, avoiding, by_model, computing

from .pool import OPTIONS, PROVIDER, SCREEN, SCRIPT, SOLVE, VALUE, VERIFY, Pool


def _good(pool: Pool, server: ScriptedServer, verify: str = VERIFY) -> None:
    pool.configure(PROVIDER, verify, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing(VALUE)})


def test_an_item_holds_everything_that_is_known(pool: Pool, server: ScriptedServer, workers: int) -> None:
    pool.add("first", id="item-1", tags=["x"], distractors={"A": "forgot a factor"}, metadata={"source": "y"})
    _good(pool, server, "verify: {time_limit: 20}\n")
    session = pool.run(workers=workers)
    assert session.verdicts == {"first": "accepted solve"}
    assert [path.name for path in (pool.root / "accepted").iterdir()] == ["item-1.json"]
    text = (pool.root / "accepted/item-1.json").read_text("utf-8")
    document = json.loads(text)
    assert document["item"] == {
        "id": "item-1",
        "domain": "scipy",
        "question": "What is the value of first?",
        "options": OPTIONS,
        "answer": "B",
        "solution": SCRIPT,
        "tags": ["x"],
        "distractors": {"A": "forgot a factor"},
        "metadata": {"source": "y"},
    }
    assert document["fingerprint"] == session.cases["first"].properties["fingerprint"]
    record = document["record"]
    assert record["run"]["id"] == session.cases["first"].properties["run"]
    assert [(gate["gate"], gate["verdict"]) for gate in record["gates"]] == [
        ("lint", "passed"), ("verify", "passed"), ("screen", "passed"), ("solve", "passed"),
    ]  # fmt: skip
    assert [run["matched"] for run in record["script_runs"]] == ["B", "B"]
    assert [(reply["status"], reply["correct"]) for reply in record["replies"]] == [("answered", 0)]
    assert [(run["outcome"], run["used"], run["called"]) for run in record["agent_runs"]] == [
        ("passed", ["scipy"], ["scipy"])
    ]
    assert [run["called"] for run in record["script_runs"]] == [[]] * len(record["script_runs"])
    assert "seal" not in record["run"]
    assert record["path"] == "candidates/first.yaml"
    assert KEY not in text


def test_an_item_is_replaced_as_a_whole(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    _good(pool, server)
    pool.run()
    item, kept = pool.root / "accepted/first.json", pool.root / "kept.json"
    os.link(item, kept)
    before = kept.read_bytes()
    pool.run()
    # Written in place, the other name of the file would have changed with it.
    assert kept.read_bytes() == before
    assert json.loads(item.read_text("utf-8"))["record"]["run"] != json.loads(before)["record"]["run"]
    assert [path.name for path in (pool.root / "accepted").iterdir()] == ["first.json"]


def test_a_later_verdict_removes_the_item_and_an_error_does_not(pool: Pool, server: ScriptedServer) -> None:
    for name in ("rejected", "reviewed", "down"):
        pool.add(f"case-{name}")
    _good(pool, server)
    pool.run(workers=2)
    everything = ["case-down", "case-rejected", "case-reviewed"]
    assert pool.accepted() == everything

    server.script = always(SERVER_ERROR)
    session = pool.run("--toolgate-fresh")
    assert set(session.verdicts.values()) == {"error screen provider"}
    assert pool.accepted() == everything

    pool.run("--toolgate-gates=lint")
    assert pool.accepted() == everything

    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing("0.058996")})
    pool.add("case-rejected", 'import scipy\nprint("ANSWER: 0.060074")')
    session = pool.run("--toolgate-fresh", "-k", "case-rejected or case-reviewed")
    assert session.verdicts == {
        "case-rejected": "rejected verify mismatch",
        "case-reviewed": "review solve wrong",
    }
    assert pool.accepted() == ["case-down"]
    assert "accepted/case-rejected.json: removed, its candidate is no longer accepted" in session.summary


def test_the_directory_is_an_option(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    _good(pool, server)
    pool.run("--toolgate-accepted=elsewhere/items", "--toolgate-db=elsewhere/all.db")
    assert (pool.root / "elsewhere/items/first.json").is_file()
    assert (pool.root / "elsewhere/all.db").is_file()
    assert not (pool.root / "accepted").exists()
    assert not (pool.root / ".toolgate").exists()


def test_an_item_follows_its_file_when_the_id_changes(pool: Pool, server: ScriptedServer) -> None:
    """The same question and script under another id: one item, with the content of today."""
    pool.add("first", tags=["old"])
    _good(pool, server)
    pool.run()
    pool.add("first", id="renamed", tags=["new"])
    pool.run()
    assert pool.accepted() == ["renamed"]
    item = json.loads((pool.root / "accepted/renamed.json").read_text("utf-8"))["item"]
    assert (item["id"], item["tags"]) == ("renamed", ["new"])
