"""`toolgate db merge`: what shards have paid for is known to the whole, and rounds stay what they were."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, avoiding, by_model, computing

from pytest_toolgate.audit import in_loop
from pytest_toolgate.cli.main import main
from pytest_toolgate.evidence import verify_database
from pytest_toolgate.store import Store

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool
from .workshop import GATES, Workshop, block, candidate

pytestmark = pytest.mark.slow


def test_a_whole_pool_makes_no_call_after_two_shards_have_made_theirs(pool: Pool, server: ScriptedServer) -> None:
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing(VALUE)})
    names = ["one", "two", "three", "four"]
    files = [pool.add(name) for name in names]
    pool.run(*files[:2], "--toolgate-db=a.db", "--toolgate-accepted=a")
    pool.run(*files[2:], "--toolgate-db=b.db", "--toolgate-accepted=b", workers=2)
    calls = server.count
    assert main(["db", "merge", *(str(pool.root / name) for name in ("a.db", "b.db")), "--db", str(pool.database)]) == 0
    session = pool.run()
    assert set(session.verdicts.values()) == {"accepted solve"}
    assert server.count == calls
    assert pool.rows("SELECT count(*) AS n FROM replies") == [{"n": 4}]
    verified = verify_database(pool.database)
    assert verified.found == 0
    assert verified.held["replies"] == 4
    table = json.loads(_toolgate(pool, "report", "--pool", "--json"))
    assert sorted(item["id"] for item in table["pool"]) == sorted(names)


def test_rounds_of_two_generators_with_the_same_numbers_are_all_there(pool: Pool, server: ScriptedServer) -> None:
    """Each proposal keeps its id and its round, and no generator goes on by numbers that stand for two rounds."""
    shop = Workshop(pool, server)
    shop.configure(GATES)
    for number, name in enumerate(("a", "b")):
        shop.play(block(candidate(10 * number + 1)), block(candidate(10 * number + 2)))
        done = shop.generate(
            "--rounds", 2, "--db", f"{name}.db", "--out", f"out-{name}", "--accepted", f"accepted-{name}"
        )
        assert done.code == 0, done.err
    merged = pool.root / "all.db"
    assert main(["db", "merge", *(str(pool.root / f"{name}.db") for name in "ab"), "--db", str(merged)]) == 0
    store = Store(merged)
    found = [(one.id, one.round, one.path) for one in in_loop(store)]
    assert sorted(found) == [
        (f"scipy-000{number}", number, f"out-{name}/scipy-000{number}.yaml") for number in (1, 2) for name in "ab"
    ]
    assert len({one.fingerprint for one in in_loop(store)}) == 4
    store.close()
    done = shop.generate("--rounds", 3, "--db", "all.db", "--out", "out-c", "--accepted", "accepted-c")
    assert done.code == 2
    assert "holds round 1 of scipy more than once, since databases of several generators were merged" in done.err
    assert done.err.count("\n") == 1
    # Theirs go on as ever.
    shop.play(block(candidate(3)))
    done = shop.generate("--rounds", 3, "--db", "a.db", "--out", "out-a", "--accepted", "accepted-a")
    assert done.code == 0, done.err


def _toolgate(pool: Pool, *arguments: str) -> str:
    command = [sys.executable, "-c", "import sys; from pytest_toolgate.cli.main import main; sys.exit(main())"]
    done = subprocess.run([*command, *arguments], cwd=Path(pool.root), capture_output=True, text=True, check=True)
    return done.stdout
