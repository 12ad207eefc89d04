"""A configuration that cannot be used ends the session with exit code 4 and one line; nothing runs."""

import sqlite3
import textwrap
from collections.abc import Mapping
from contextlib import closing

import pytest

from .pool import PROVIDER, Pool

_FAKE = textwrap.dedent(PROVIDER)
# toolgate.yaml, arguments, and words of the line.
CASES: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "unknown-key": (
        "verify: {time_limits: 3}", (), ("toolgate.yaml:1:", "`verify.time_limits`", "`time_limit`"),
    ),
    "not-a-number": ("\nverify:\n  time_limit: soon", (), ("toolgate.yaml:3:", "a number", "`soon`")),
    "warm-elsewhere": ("sandbox: none\nverify: {warm: true}", (), ("verify.warm", "bubblewrap")),
    "below-the-least": ("verify: {repeats: 0}", (), ("verify.repeats", "at least 1")),
    "not-yaml": ("verify: {", (), ("toolgate.yaml:", "not YAML")),
    "unset-variable": ("domain: ${NO_SUCH_VARIABLE}", (), ("NO_SUCH_VARIABLE", "not set")),
    "unknown-provider": (
        "screens:\n  - {name: x, provider: nobody, model: m}", (), ("`nobody`", "`providers`"),
    ),
    "unreachable-threshold": (
        f"{_FAKE}screens:\n  - {{name: x, provider: fake, model: m, samples: 1, reject_at: 2}}",
        (),
        ("reject_at",),
    ),
    "budget-without-prices": (
        f"{_FAKE}screens:\n  - {{name: x, provider: fake, model: m}}\nbudget: {{usd: 5}}",
        (),
        ("prices of `m`",),
    ),
    "unknown-agent": (
        f"{_FAKE}solve: {{agent: nobody, provider: fake, model: m}}", (), ("`nobody`", "builtin"),
    ),
    "no-such-file": ("", ("--toolgate-config=elsewhere.yaml",), ("elsewhere.yaml", "does not exist")),
    "unknown-gate": ("", ("--toolgate-gates=lint,verfy",), ("`verfy`", "lint, verify, screen, solve")),
    "unconfigured-gate": ("", ("--toolgate-gates=screen",), ("`screen`", "`screens`")),
    "seed": ("", ("--toolgate-seed=x",), ("--toolgate-seed", "`x`")),
    "database": ("", ("--toolgate-db=pytest.ini/x.db",), ("pytest.ini/x.db",)),
    "no-database": ("", ("--toolgate-db=pytest.ini",), ("pytest.ini",)),
}  # fmt: skip


def _fails_in_one_line(pool: Pool, arguments: tuple[str, ...], words: tuple[str, ...], workers: int) -> None:
    session = pool.run(*arguments, workers=workers)
    assert session.code == 4, session.out
    lines = [line for line in (session.out + "\n" + session.err).splitlines() if "ERROR" in line]
    assert len(lines) == 1, session.out + session.err
    for word in words:
        assert word in lines[0]
    assert "Traceback" not in session.out + session.err
    assert "INTERNALERROR" not in session.out + session.err
    assert not session.cases


@pytest.mark.parametrize("name", CASES)
def test_one_line(pool: Pool, name: str) -> None:
    text, arguments, words = CASES[name]
    pool.add("first")
    if text:
        pool.configure(text, url="http://127.0.0.1:9/v1")
    _fails_in_one_line(pool, arguments, words, workers=0)
    assert not (pool.root / ".toolgate").exists()


@pytest.mark.parametrize("name", ["unknown-key", "unknown-gate", "database"])
def test_one_line_with_workers(pool: Pool, name: str) -> None:
    text, arguments, words = CASES[name]
    pool.add("first")
    if text:
        pool.configure(text, url="http://127.0.0.1:9/v1")
    _fails_in_one_line(pool, arguments, words, workers=2)


def test_a_flag_of_the_environment(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.add("first")
    monkeypatch.setenv("TOOLGATE_FRESH", "perhaps")
    _fails_in_one_line(pool, (), ("TOOLGATE_FRESH", "`perhaps`"), workers=0)


def test_a_database_of_a_later_version(pool: Pool) -> None:
    pool.add("first")
    pool.database.parent.mkdir()
    with closing(sqlite3.connect(pool.database)) as connection:
        connection.execute("PRAGMA user_version=99")
    _fails_in_one_line(pool, (), ("later version", "toolgate.db"), workers=0)


def test_a_broken_configuration_does_not_trouble_other_tests(pool: Pool) -> None:
    pool.configure("nonsense: 1")
    pool.write("test_code.py", "def test_it(): pass\n")
    assert pool.run("test_code.py").code == 0
