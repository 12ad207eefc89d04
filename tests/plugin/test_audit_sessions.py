"""`pytest --toolgate-audit NAME`: a session whose outcomes are the audit's alone."""

import pytest
from scripted_server import ScriptedServer

from .audits import SCREENS, SOLVERS, Audited
from .pool import Pool

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(pool: Pool, server: ScriptedServer) -> Audited:
    repo = Audited(pool, server)
    repo.configure(SCREENS, SOLVERS)
    for name in ("one", "two"):
        pool.add(name)
    return repo


def test_accepted_items_are_neither_written_nor_removed(repo: Audited, workers: int) -> None:
    repo.models.unsolved = {"slow-model": {"two"}}
    repo.pool.run(workers=workers)
    assert repo.pool.accepted() == ["one"]
    before, [item] = repo.in_loop(), (repo.pool.root / "accepted").iterdir()
    content = item.read_bytes()
    # Now it is the other way round.
    repo.models.known = {"strong-model": {"one"}}
    repo.models.unsolved = {}
    done = repo.pool.run("--toolgate-audit=later", "--toolgate-seed=5", workers=workers)
    assert done.verdicts == {"one": "rejected screen too-easy", "two": "accepted solve"}
    assert (repo.pool.accepted(), item.read_bytes()) == (["one"], content)
    assert "audit `later`: accepted items were neither written nor removed" in done.summary
    assert "accepted items in" not in done.summary
    assert "removed, its candidate" not in done.summary
    assert "; audit later" in done.out
    assert repo.in_loop() == before
    assert repo.table("later") == [
        ["local verification", 2, 0, 2, 0],
        ["later", 2, 1, 1, 0],
        ["exact deduplication", 1, 0, 1, 0],
    ]


def test_a_candidate_that_no_loop_has_judged_is_in_no_pool_but_its_audits(repo: Audited) -> None:
    repo.pool.run("--toolgate-audit=first", "--toolgate-gates=lint,verify")
    assert repo.table("first") == [
        ["local verification", 0, 0, 0, 0],
        ["first", 0, 0, 0, 0],
        ["exact deduplication", 0, 0, 0, 0],
    ]
    assert not (repo.pool.root / "accepted").exists()
    assert repo.rescreen("--name", "next", "--screens", "strong", "--pool", "audit:first")["out"] == 2


@pytest.mark.parametrize("where", ["ini", "environment"])
def test_the_name_comes_from_anywhere(repo: Audited, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "ini":
        repo.pool.write("pytest.ini", "[pytest]\ntoolgate_audit = mine\n")
    else:
        monkeypatch.setenv("TOOLGATE_AUDIT", "mine")
    repo.pool.run("--toolgate-gates=lint,verify")
    assert repo.pool.rows("SELECT audit FROM runs") == [{"audit": "mine"}]


def test_a_name_that_cannot_be_one_or_stands_for_something_else_ends_the_session(repo: Audited) -> None:
    done = repo.pool.run("--toolgate-audit=a,b", "--toolgate-gates=lint,verify")
    assert done.code == 4
    assert "an audit's name has 1 to 60 letters, digits, `.`, `_` or `-`, unlike `a,b`" in done.err
    repo.pool.run("--toolgate-audit=a", "--toolgate-gates=lint,verify")
    done = repo.pool.run("--toolgate-audit=a", "--toolgate-gates=lint")
    assert done.code == 4
    assert "the audit `a` was begun with other gates: give this one another name, or the old settings" in done.err
    assert len(repo.pool.rows("SELECT id FROM runs")) == 1
    assert not list(repo.pool.temporary.glob("toolgate-run-*"))


def test_db_runs_names_the_audit(repo: Audited) -> None:
    repo.pool.run("--toolgate-gates=lint,verify")
    repo.rescreen("--name", "named", "--screens", "strong")
    head, loop, audit = repo.toolgate("db", "runs").stdout.splitlines()
    assert head.split()[-1] == "audit"
    assert (loop.split()[-1], audit.split()[-1]) == ("0", "named")
