"""Options: the command line before the environment before the ini file before the default."""

import sqlite3
import textwrap
from contextlib import closing

import pytest

from .pool import Pool

LINT = "--toolgate-gates=lint"


def _seed(pool: Pool, database: str) -> int:
    """The seed of the one run in a database."""
    with closing(sqlite3.connect(f"file:{pool.root / database}?mode=ro", uri=True)) as connection:
        [(seed,)] = connection.execute("SELECT seed FROM runs")
    return int(seed)


def test_each_place_wins_over_the_next(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.add("first")
    pool.run(LINT)
    assert _seed(pool, ".toolgate/toolgate.db") == 0

    pool.write("pytest.ini", "[pytest]\ntoolgate_db = ini/x.db\ntoolgate_seed = 1\ntoolgate_gates = lint\n")
    session = pool.run()
    assert _seed(pool, "ini/x.db") == 1
    assert session.verdicts == {"first": "provisional lint"}

    monkeypatch.setenv("TOOLGATE_DB", "environment.db")
    monkeypatch.setenv("TOOLGATE_SEED", "2")
    monkeypatch.setenv("TOOLGATE_GATES", "verify")
    session = pool.run()
    assert _seed(pool, "environment.db") == 2
    assert session.verdicts == {"first": "provisional verify"}

    session = pool.run("--toolgate-db", f"{pool.root}/cli.db", "--toolgate-seed=3", "--toolgate-gates=lint")
    assert _seed(pool, "cli.db") == 3
    assert session.verdicts == {"first": "provisional lint"}
    assert "database" in session.out


_TOML = """
    toolgate_db = "toml.db"
    toolgate_fresh = true
    toolgate_seed = "7"
    toolgate_candidates = "pool"
"""


@pytest.mark.parametrize(
    ("file", "section"),
    [
        ("pytest.toml", "[pytest]\nstrict = true"),
        ("pyproject.toml", "[tool.pytest]\nstrict = true"),
        ("pyproject.toml", "[tool.pytest.ini_options]"),
    ],
    ids=["pytest-toml", "tool-pytest", "ini-options"],
)
def test_toml(pool: Pool, file: str, section: str) -> None:
    (pool.root / "pytest.ini").unlink()
    pool.write(file, section + textwrap.dedent(_TOML))
    pool.add("first", under="pool")
    session = pool.run(LINT)
    assert session.verdicts == {"first": "provisional lint"}
    assert _seed(pool, "toml.db") == 7


def test_the_configuration_file_may_lie_elsewhere(pool: Pool) -> None:
    pool.add("first", "import scipy, time\ntime.sleep(30)")
    pool.write("other/settings.yaml", "verify: {time_limit: 1}\n")
    session = pool.run("--toolgate-config=other/settings.yaml")
    assert session.verdicts == {"first": "rejected verify timeout"}
    assert "other/settings.yaml" in session.out


def test_variables_of_the_environment_are_expanded_in_values(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_DOMAIN", "scipy")
    pool.configure("domain: ${MY_DOMAIN}\n")
    pool.add("first", domain=None)
    assert pool.run(LINT).verdicts == {"first": "provisional lint"}


def test_help_names_every_option(pool: Pool) -> None:
    out = pool.run("--help").out
    for name in ("config", "gates", "db", "accepted", "seed", "fresh", "all-screens"):
        assert f"--toolgate-{name}" in out
        assert f"toolgate_{name.replace('-', '_')}" in out
    assert "toolgate_candidates" in out
