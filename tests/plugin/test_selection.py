"""Choosing candidates the way pytest users choose tests."""

import json
import time
from pathlib import Path

from scripted_server import Asked, Reply, ScriptedServer, avoiding

from .pool import PROVIDER, SCREEN, VALUE, Pool, wait_until

LINT = "--toolgate-gates=lint"
PASSED = "provisional lint"


def test_collect_only_lists_and_leaves_nothing(pool: Pool, workers: int) -> None:
    pool.add("first")
    pool.add("second", under="candidates/deeper/still")
    pool.write("candidates/third.json", "{")
    pool.write("candidates/fourth.yml", "{")
    session = pool.run("--collect-only", "-q", workers=workers)
    assert session.code == 0
    assert session.out.splitlines()[:4] == [
        "candidates/deeper/still/second.yaml::second",
        "candidates/first.yaml::first",
        "candidates/fourth.yml::fourth",
        "candidates/third.json::third",
    ]
    assert not (pool.root / ".toolgate").exists()


def test_last_failed_keyword_and_exit_first(pool: Pool) -> None:
    pool.add("a-good")
    pool.add("b-bad", answer="E")
    pool.add("c-bad", answer="E")
    pool.add("d-good")
    assert len(pool.run(LINT).cases) == 4
    assert sorted(pool.run(LINT, "--lf").cases) == ["b-bad", "c-bad"]
    assert sorted(pool.run(LINT, "-k", "d-good").cases) == ["d-good"]
    assert sorted(pool.run(LINT, "-m", "toolgate").cases) == ["a-good", "b-bad", "c-bad", "d-good"]
    session = pool.run(LINT, "-x")
    assert sorted(session.cases) == ["a-good", "b-bad"]
    assert "candidates/c-bad.yaml: error: not-run" in session.summary
    [event] = pool.rows("SELECT detail FROM run_events ORDER BY time DESC LIMIT 1")
    assert [Path(node.split("::")[0]).stem for node in json.loads(event["detail"])["not_run"]] == [
        "c-bad",
        "d-good",
    ]


def test_last_failed_runs_errors_again(pool: Pool) -> None:
    pool.configure("domains: {scipy: {python: /nowhere/python}}")
    pool.add("a-error")
    pool.add("b-bad", answer="E")
    pool.run()
    pool.configure("verify: {repeats: 1}")
    assert pool.run("--lf").verdicts == {"a-error": "provisional verify", "b-bad": "rejected lint bad-answer"}


def test_a_file_is_collected_wherever_it_lies(pool: Pool, workers: int) -> None:
    pool.add("first")
    pool.add("second")
    pool.add("beside", under="elsewhere")
    outside = pool.add("outside", under=f"../{pool.root.name}-outside")
    pool.write("candidates/test_code.py", "def test_it(): pass\n")
    assert sorted(pool.run(LINT, "candidates/second.yaml", workers=workers).cases) == ["second"]
    assert sorted(pool.run(LINT, "candidates/second.yaml::second").cases) == ["second"]
    session = pool.run(LINT, "elsewhere/beside.yaml", outside, "candidates/first.yaml", workers=workers)
    assert session.verdicts == dict.fromkeys(("beside", "outside", "first"), PASSED)
    assert str(outside.resolve()) in {row["path"] for row in pool.rows("SELECT path FROM attempts")}


def test_a_directory_named_on_the_command_line(pool: Pool, workers: int) -> None:
    pool.add("first")
    pool.add("second", under="new/batch-1")
    pool.write("new/batch-1/notes.txt", "question: no candidate\n")
    outside = pool.add("third", under=f"../{pool.root.name}-pool/candidates").parent
    assert sorted(pool.run(LINT, "new/batch-1", workers=workers).cases) == ["second"]
    assert sorted(pool.run(LINT, outside).cases) == ["third"]
    assert sorted(pool.run(LINT, "candidates", "new/batch-1").cases) == ["first", "second"]


def test_other_yaml_is_not_touched(pool: Pool) -> None:
    pool.add("first")
    pool.write("test_code.py", "def test_it(): pass\n")
    for path in (".github/workflows/ci.yaml", "mkdocs.yml", "data/faq.yaml"):
        pool.write(path, "question: x\non: [push]\n")
    pool.write("docs/openapi.json", '{"openapi": "3.1.0"}')
    assert sorted(pool.run(LINT).cases) == ["first", "test_it"]
    assert sorted(pool.run(LINT, ".").cases) == ["first", "test_it"]
    assert sorted(pool.run(LINT, "docs", "test_code.py").cases) == ["test_it"]


def test_linked_folders_are_not_followed(pool: Pool) -> None:
    pool.add("first")
    pool.add("second", under="elsewhere")
    (pool.root / "candidates/linked").symlink_to(pool.root / "elsewhere", target_is_directory=True)
    (pool.root / "candidates/around").symlink_to(pool.root / "candidates", target_is_directory=True)
    assert sorted(pool.run(LINT).cases) == ["first"]


def test_the_directories_are_an_ini_option(pool: Pool) -> None:
    pool.write("pytest.ini", "[pytest]\ntoolgate_candidates = pool more/items\n")
    pool.add("first")
    pool.add("second", under="pool")
    pool.add("third", under="more/items")
    assert sorted(pool.run(LINT).cases) == ["second", "third"]


def test_a_candidate_that_appears_during_a_run_waits_for_the_next(
    pool: Pool, server: ScriptedServer, workers: int
) -> None:
    for number in range(3):
        pool.add(f"case-{number}")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    wrong = avoiding(VALUE)

    def slowly(asked: Asked) -> Reply:
        time.sleep(0.3)
        return wrong(asked)

    server.script = slowly
    with pool.started("--toolgate-gates=screen", workers=workers) as run:
        wait_until(lambda: server.count)
        pool.add("a-new-one")
        assert run.wait() == 0
    assert sorted(pool.junit()) == ["case-0", "case-1", "case-2"]
    session = pool.run("--toolgate-gates=screen")
    assert sorted(session.cases) == ["a-new-one", "case-0", "case-1", "case-2"]


def test_five_hundred_files(pool: Pool) -> None:
    for number in range(500):
        pool.add(f"item-{number:03}", answer="E" if number % 100 == 7 else "B")
    begun = time.monotonic()
    session = pool.run(LINT, "-q", workers=2)
    assert time.monotonic() - begun < 60
    assert len(session.cases) == 500
    assert "500 in   495 passed  5 rejected (5 bad-answer)" in session.summary
    assert pool.rows("SELECT count(DISTINCT path) AS paths, count(*) AS n FROM attempts") == [{"paths": 500, "n": 500}]


def test_the_package_leaves_python_tests_alone(pool: Pool, workers: int) -> None:
    """A candidate beside ordinary tests: both run, each reported as its own kind."""
    pool.add("first")
    pool.write(
        "test_code.py",
        """
        import pytest
        def test_passes(): pass
        def test_fails(): assert 1 == 2
        @pytest.mark.skip
        def test_skips(): pass
        @pytest.fixture
        def broken(): raise ValueError("x")
        def test_errs(broken): pass
        """,
    )
    session = pool.run(LINT, workers=workers)
    assert {name: case.tag for name, case in session.cases.items()} == {
        "first": "passed",
        "test_passes": "passed",
        "test_fails": "failure",
        "test_skips": "skipped",
        "test_errs": "error",
    }
    assert "2 passed" in session.out
    assert "assert 1 == 2" in session.out
    assert not session.cases["test_fails"].properties


def test_a_skipped_candidate_is_skipped(pool: Pool) -> None:
    pool.add("first")
    pool.write(
        "conftest.py",
        """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                item.add_marker(pytest.mark.skip(reason="not today"))
        """,
    )
    session = pool.run(LINT)
    assert session.code == 0
    assert session.cases["first"].tag == "skipped"
    assert "1 skipped" in session.out
