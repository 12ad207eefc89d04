"""What the summary says of several solvers, and of control runs, counted from the rows of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.solver_summary import solver_lines
from pytest_toolgate.store import Store

from .test_store_reading import agent_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "toolgate.db")
    yield opened
    opened.close()


def used(store: Store, path: str, solver: str | None, correct: bool | None, *, control: bool = False) -> None:
    attempt = store.append("attempts", {"run_id": "r", "path": path})
    row = store.append("agent_runs", agent_run(solver=solver, control=control, run_id="of-then"))
    use = {"attempt_id": attempt, "kind": "agent_run", "used_id": row, "reused": True, "correct": correct}
    store.append("uses", use)


def test_one_solver_needs_no_table(store: Store) -> None:
    used(store, "a", "builtin", True)
    assert solver_lines(store, "r") == []
    assert solver_lines(store, "another") == []


def test_solved_of_asked_and_what_passes_from_one_to_the_other(store: Store) -> None:
    for path in "abcd":
        used(store, path, "codex", True)
    used(store, "e", "codex", False)
    used(store, "f", "codex", None)
    for path, solved in (("a", True), ("b", True), ("c", False), ("d", None), ("e", True)):
        used(store, path, None, solved)  # as a version recorded it that knew one solver only
    assert solver_lines(store, "r") == [
        "solver `codex`: 4 of 6 solved, 1 without verdict",
        "solver `builtin`: 3 of 5 solved, 1 without verdict",
        "`codex` solved 4; of these `builtin` was asked 3 and solved 2",
        "`builtin` solved 3; of these `codex` was asked 3 and solved 2",
    ]


def test_of_a_file_that_was_judged_twice_the_last_time_counts(store: Store) -> None:
    for name in ("one", "two"):
        used(store, "a", name, None)
        used(store, "a", name, True)
    assert solver_lines(store, "r")[0] == "solver `one`: 1 of 1 solved"


def test_how_often_the_software_was_needed(store: Store) -> None:
    for path, solved in (("a", True), ("b", False), ("c", False)):
        used(store, path, "builtin", True)
        used(store, path, "builtin", solved, control=True)
    assert solver_lines(store, "r") == ["control runs of `builtin`: 2 needed the software, 1 did not"]
    used(store, "d", "builtin", None, control=True)
    assert solver_lines(store, "r") == ["control runs of `builtin`: 2 needed the software, 1 did not, 1 unknown"]
