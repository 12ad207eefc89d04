"""What the database gives back: replies to use again, costs, whole records, accepted items."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.candidate.duplicates import Entry
from pytest_toolgate.store import Store, StoreError
from pytest_toolgate.store.accepted import AcceptedItems, read_entries, write_item
from pytest_toolgate.store.record import read_record
from pytest_toolgate.store.reuse import answered_replies, judged_agent_run, reuse_key
from pytest_toolgate.store.spending import Spent, spent

from .items import candidate
from .test_store import reply


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "toolgate.db")
    yield opened
    opened.close()


def agent_run(**changes: object) -> dict[str, Any]:
    row = {
        "attempt_id": "a", "run_id": "r", "reuse_key": "k", "agent": "builtin", "settings": {}, "seed": 0,
        "presentation": "BACD", "environment": {}, "outcome": "review", "reason": "wrong", "note": "",
        "used": ["scipy"], "transcript": [{"role": "user"}], "turns": 2, "cost": 0.5, "wall": 1.0,
    }  # fmt: skip
    return row | changes


# --- reuse -----------------------------------------------------------------------------------------------


def test_the_key_depends_on_every_part_and_not_on_their_order() -> None:
    """B07."""
    key = reuse_key(presented="h", screen="light", model="m", reasoning=None)
    assert key == reuse_key(reasoning=None, model="m", screen="light", presented="h")
    assert key != reuse_key(presented="h", screen="light", model="n", reasoning=None)
    assert key != reuse_key(presented="h", screen="light", model="m", reasoning="none")
    assert key != reuse_key(presented="h", screen="light", model="m", reasoning="None")


def test_only_answers_are_used_again_and_the_first_one_of_each_call(store: Store) -> None:
    """B09."""
    for index, status, text in [
        (0, "failed", "1"), (0, "answered", "2"), (0, "answered", "3"), (1, "empty", "4"),
        (1, "wrong-form", "5"), (1, "truncated", "6"), (1, "refused", "7"), (2, "answered", "8"),
    ]:  # fmt: skip
        store.append("replies", reply(call_index=index, reuse_key=f"k{index}", status=status, text=text))
    store.append("replies", reply(call_index=1, reuse_key="other"))
    found = answered_replies(store, ["k0", "k1", "k2", "k3"])
    assert {key: row["text"] for key, row in found.items()} == {"k0": "2", "k2": "8"}


def test_only_judged_agent_runs_are_used_again(store: Store) -> None:
    assert judged_agent_run(store, "k") is None
    store.append("agent_runs", agent_run(outcome="error"))
    assert judged_agent_run(store, "k") is None
    store.append("agent_runs", agent_run(outcome="passed", note="first"))
    store.append("agent_runs", agent_run(outcome="review", note="second"))
    found = judged_agent_run(store, "k")
    assert found is not None
    assert found["note"] == "first"


def test_what_a_run_and_an_attempt_have_spent(store: Store) -> None:
    """The replies count, of screens and of agents; an agent run is the sum of its replies and counts no second time."""
    assert spent(store, "r") == Spent(0.0, 0)
    store.append("replies", reply("a", cost=0.25))
    store.append("replies", reply("b", cost=None))
    store.append("replies", reply("b", cost=0.125))
    store.append("replies", reply("a", run_id="other", cost=9))
    store.append("replies", reply("b", cost=None, status="failed"))
    store.append("agent_runs", agent_run(cost=0.5))
    told = {"text": "", "note": "", "requests": 1, "latency": 0.5, "base_url": "", "provider": "p", "model_asked": "m"}
    store.append(
        "agent_replies", told | {"attempt_id": "a", "run_id": "r", "number": 1, "status": "complete", "cost": 0.5}
    )
    assert spent(store, "r") == Spent(0.875, 1)
    assert spent(store, "r", "a") == Spent(0.75, 0)
    assert spent(store, "r", "b") == Spent(0.125, 1)


# --- records ---------------------------------------------------------------------------------------------


def test_a_record_holds_everything_of_its_attempt_and_nothing_else(store: Store) -> None:
    item = candidate()
    run = store.append(
        "runs", {"version": "1", "seed": 0, "gates": ["lint"], "settings": {"a": 1}, "machine": {"cpu": 2}}
    )
    content = store.append(
        "candidates",
        {
            "fingerprint": item.fingerprint,
            "presented": item.presented,
            "twin_key": item.twin_key,
            "content": item.content(),
        },
    )
    attempts = [
        store.append("attempts", {"run_id": run, "path": "c/item.yaml", "candidate_id": "item", "content_id": content})
        for _ in range(2)
    ]
    for attempt in attempts:
        gate = {
            "attempt_id": attempt,
            "verdict": "passed",
            "reason": "",
            "sentence": "",
            "warnings": ["w"],
            "seconds": 1.0,
        }
        for name in ("lint", "verify"):
            store.append("gates", gate | {"gate": name})
    old = store.append("replies", reply("earlier", call_index=0))
    new = store.append("replies", reply(attempts[0], call_index=1))
    store.append("replies", reply(attempts[1], call_index=2))
    store.append("uses", {"attempt_id": attempts[0], "kind": "reply", "used_id": old, "reused": True})
    store.append("uses", {"attempt_id": attempts[0], "kind": "reply", "used_id": new, "reused": False})
    agent = store.append("agent_runs", agent_run(attempt_id=attempts[0]))
    store.append("uses", {"attempt_id": attempts[0], "kind": "agent_run", "used_id": agent, "reused": False})

    document = read_record(store, attempts[0])
    record = document["record"]
    assert document["item"] == item.content()
    assert (document["fingerprint"], document["twin_key"]) == (item.fingerprint, item.twin_key)
    assert (record["path"], record["run"]["settings"], record["run"]["machine"]) == (
        "c/item.yaml",
        {"a": 1},
        {"cpu": 2},
    )
    assert [(gate["gate"], gate["warnings"]) for gate in record["gates"]] == [
        ("lint", ["w"]),
        ("verify", ["w"]),
    ]
    assert [(row["id"], row["reused"], row["settings"]) for row in record["replies"]] == [
        (old, 1, {"n": 1}),
        (new, 0, {"n": 1}),
    ]
    assert record["agent_runs"][0]["transcript"] == [{"role": "user"}]
    json.dumps(document)


def test_an_attempt_that_is_not_there(store: Store) -> None:
    with pytest.raises(StoreError, match=str(store.path)):
        read_record(store, "none")


def test_a_file_that_could_not_be_read_has_a_record_without_an_item(store: Store) -> None:
    bare = store.append("attempts", {"run_id": "r", "path": "x.yaml"})
    document = read_record(store, bare)
    assert (document["item"], document["record"]["path"], document["record"]["run"]) == (None, "x.yaml", None)


# --- accepted items --------------------------------------------------------------------------------------


def document(path: str = "c/item.yaml", id: str = "item", twin: str = "T") -> dict[str, Any]:
    return {
        "item": {"id": id, "question": "∇·u"},
        "fingerprint": "f",
        "twin_key": twin,
        "record": {"path": path},
    }


def test_an_item_is_written_whole_and_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "accepted"
    path = write_item(folder, "item", document())
    assert path == folder / "item.json"
    assert "∇·u" in path.read_text("utf-8")
    assert list(read_entries(folder)) == [Entry("c/item.yaml", "item", "T", "f")]
    write_item(folder, "item", document(twin="U"))
    assert [entry.twin_key for entry in read_entries(folder)] == ["U"]
    assert [file.name for file in folder.iterdir()] == ["item.json"]


def test_a_document_that_cannot_be_written_leaves_the_old_item(tmp_path: Path) -> None:
    write_item(tmp_path, "item", document())
    with pytest.raises(TypeError):
        write_item(tmp_path, "item", document() | {"odd": object()})
    assert list(read_entries(tmp_path)) == [Entry("c/item.yaml", "item", "T", "f")]
    assert [file.name for file in tmp_path.iterdir()] == ["item.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        "{}",
        '{"item": {"id": "x"}}',
        "[" * 100_000,
        "\xff",
        json.dumps(document() | {"twin_key": []}),
    ],
)
def test_files_of_another_making_are_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text, "latin-1")
    (tmp_path / "folder.json").mkdir()
    write_item(tmp_path, "item", document())
    assert [entry.id for entry in read_entries(tmp_path)] == ["item"]
    assert AcceptedItems(tmp_path).remove("c/other.yaml") == []


def test_no_folder_no_items(tmp_path: Path) -> None:
    assert list(read_entries(tmp_path / "none")) == []


def test_only_the_item_of_the_same_candidate_file_is_removed(tmp_path: Path) -> None:
    write_item(tmp_path, "item", document())
    items = AcceptedItems(tmp_path)
    assert items.remove("c/another.yaml") == []
    assert items.remove("c/item.yaml") == [tmp_path / "item.json"]
    assert list(tmp_path.iterdir()) == []


def test_a_candidate_whose_id_was_changed_has_one_item(tmp_path: Path) -> None:
    write_item(tmp_path, "old", document(id="old"))
    write_item(tmp_path, "other", document(path="c/other.yaml", id="other"))
    items = AcceptedItems(tmp_path)
    items.write("new", "c/item.yaml", document(id="new"))
    assert sorted(entry.id for entry in read_entries(tmp_path)) == ["new", "other"]
    assert items.remove("c/item.yaml") == [tmp_path / "new.json"]


@pytest.mark.parametrize(
    ("solved", "control", "needed"),
    [
        (True, False, "yes"),
        (True, True, "no"),
        (True, None, "unknown"),
        (True, "never begun", "unknown"),
        (False, "never begun", None),
        (None, "never begun", None),
    ],
)
def test_whether_the_software_was_needed(
    store: Store, solved: bool | None, control: bool | str | None, needed: str | None
) -> None:
    settings = {"solve": [{"name": "strong", "control": True}, {"name": "other", "control": False}]}
    run = store.append("runs", {"version": "1", "seed": 0, "gates": [], "settings": settings, "machine": {}})
    attempt = store.append("attempts", {"run_id": run, "path": "x.yaml"})
    rows = [("other", 0, True), ("strong", 0, solved)] + ([] if isinstance(control, str) else [("strong", 1, control)])
    for solver, is_control, correct in rows:
        row = store.append("agent_runs", agent_run(solver=solver, control=is_control))
        use = {"attempt_id": attempt, "kind": "agent_run", "used_id": row, "reused": False, "correct": correct}
        store.append("uses", use)
    assert read_record(store, attempt)["record"]["needed"] == needed
