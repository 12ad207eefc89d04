"""In a repository without candidates the plugin costs nothing and leaves nothing."""

import sys

import pytest

from .pool import Pool

_HEAVY = ("openai", "sqlalchemy", "yaml", "sqlite3", "xllamacpp", "httpx", "scipy", "numpy")


@pytest.mark.parametrize("arguments", [(), ("test_code.py",), ("-n", "2")], ids=["all", "file", "n2"])
def test_nothing_is_imported_and_nothing_left(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # workers are not told of -B
    pool.write("test_code.py", "def test_it(): pass\n")
    pool.write("config/settings.yaml", "question: x\n")
    pool.configure("nonsense: 1")
    before = sorted(pool.root.rglob("*"))
    result = pool.pytester.run(
        sys.executable, "-B", "-X", "importtime", "-m", "pytest",
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio", *arguments,
    )  # fmt: skip
    assert result.ret == 0
    result.stdout.fnmatch_lines("*1 passed*")
    assert "toolgate 0" not in str(result.stdout)
    assert "= toolgate =" not in str(result.stdout)
    imported = {line.rpartition("|")[2].strip() for line in result.errlines if line.startswith("import time:")}
    assert "pytest_toolgate.collection" in imported
    assert not {name for name in imported if name.split(".")[0] in _HEAVY}
    own = {name for name in imported if name.startswith("pytest_toolgate.")}
    assert own <= {f"pytest_toolgate.{name}" for name in ("plugin", "options", "collection", "file_names", "hookspecs")}
    outputs = {pool.root / name for name in ("stdout", "stderr")}  # pytester's own
    assert set(pool.root.rglob("*")) - outputs == set(before)


def test_a_directory_of_candidates_that_is_not_asked_for_costs_nothing(pool: Pool) -> None:
    pool.add("first")
    pool.write("tests/test_code.py", "def test_it(): pass\n")
    session = pool.run("tests")
    assert list(session.cases) == ["test_it"]
    assert "toolgate" not in session.out.replace("plugins: toolgate", "")
    assert not (pool.root / ".toolgate").exists()
