"""Sessions in which other plugins are missing or strict, and places that pytest is started from."""

from pathlib import Path

import pytest

from .pool import Pool

LINT = "--toolgate-gates=lint"


@pytest.mark.parametrize("missing", ["timeout", "xdist", "terminal", "cacheprovider", "junitxml"])
def test_a_missing_plugin_is_not_missed(pool: Pool, missing: str) -> None:
    pool.add("first")
    pool.add("second", answer="E")
    arguments = [
        "-p",
        "no:hypothesispytest",
        "-p",
        "no:anyio",
        "--strict-markers",
        LINT,
        "-p",
        f"no:{missing}",
    ]
    result = pool.pytester.runpytest_subprocess(*arguments)
    assert result.ret == 1, str(result.stdout) + str(result.stderr)
    assert {(row["name"], row["outcome"]) for row in pool.recorded("outcomes")} == {
        ("first", "provisional"),
        ("second", "rejected"),
    }


def test_warnings_as_errors(pool: Pool) -> None:
    pool.add("first")
    assert pool.run(LINT, "-W", "error", "--strict-config", "--strict-markers", workers=2).code == 0


def test_pytest_started_below_the_root(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.add("first")
    pool.add("second", under="candidates/deeper")
    monkeypatch.chdir(pool.root / "candidates" / "deeper")
    assert sorted(pool.run(LINT).cases) == ["second"]
    assert sorted(pool.run(LINT, "..").cases) == ["first", "second"]
    assert sorted(pool.run(LINT, Path("..") / "first.yaml", workers=2).cases) == ["first"]
    assert pool.database.is_file()
    assert {row["path"] for row in pool.rows("SELECT path FROM attempts")} == {
        "candidates/first.yaml",
        "candidates/deeper/second.yaml",
    }


def test_a_repository_reached_through_a_link(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> None:
    pool.add("first")
    link = tmp_path_factory.mktemp("link") / "here"
    link.symlink_to(pool.root, target_is_directory=True)
    assert sorted(pool.run(LINT, f"{link}/candidates").cases) == ["first"]
    assert sorted(pool.run(LINT, f"{link}/candidates/first.yaml").cases) == ["first"]
