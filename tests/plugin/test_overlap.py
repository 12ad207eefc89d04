"""Calls overlap as far as the provider allows, whatever the number of workers, and buy nothing more for it."""

import time
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from scripted_server import (
    Asked,
    Reply,
    Script,
    ScriptedServer,
    always,
    avoiding,
    by_question,
    choosing,
    in_turn,
    rate_limited,
)
from traffic import Traffic

from .pool import PROVIDER, SCREEN, THREE_CALLS, VALUE, Pool

pytestmark = pytest.mark.slow

ONE = "--toolgate-gates=screen"
WRONG = avoiding(VALUE)
RIGHT = choosing(VALUE)
PASSED, EASY = "provisional screen", "rejected screen too-easy"


def limited(**limits: int) -> str:
    """The provider with further keys."""
    return PROVIDER.rstrip() + "".join(f"\n        {key}: {value}" for key, value in limits.items()) + "\n"


def add_many(pool: Pool, count: int) -> list[str]:
    """Candidates, by name in the order of the run."""
    names = [f"case-{number:02}" for number in range(count)]
    for name in names:
        pool.add(name)
    return names


def attempts(pool: Pool) -> Counter[str]:
    """Name -> its attempts."""
    return Counter(Path(row["path"]).stem for row in pool.rows("SELECT path FROM attempts"))


def calls(server: ScriptedServer) -> Counter[str]:
    """Name -> calls about it."""
    return Counter(asked.prompt.split("of ")[1].split("?")[0] for asked in server.requests)


# --- how many at once ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "places", "least"), [(0, 8, 4), (2, 8, 4), (4, 2, 2)], ids=["n0-8", "n2-8", "n4-2"]
)
def test_as_many_calls_as_allowed_are_under_way(
    pool: Pool, server: ScriptedServer, workers: int, places: int, least: int
) -> None:
    names = add_many(pool, 12)
    pool.configure(limited(max_concurrency=places), THREE_CALLS, url=server.base_url)
    traffic = server.script = Traffic(WRONG, 0.3 if places == 8 else 0.03)
    session = pool.run(ONE, workers=workers)
    assert session.verdicts == dict.fromkeys(names, PASSED)
    assert least <= traffic.most <= places
    assert calls(server) == dict.fromkeys(names, 3)
    assert attempts(pool) == dict.fromkeys(names, 1)
    assert pool.rows("SELECT count(*) AS n FROM outcomes") == [{"n": 12}]
    assert pool.rows("SELECT count(*) AS n FROM uses WHERE reused = 0") == [{"n": 36}]
    if (workers, places) == (0, 8):
        # One after the other they would take 11 s.
        assert traffic.at[-1] - traffic.at[0] < 6


def test_a_screen_makes_no_call_that_one_by_one_would_have_spared(pool: Pool, server: ScriptedServer) -> None:
    """All *n* calls are made unless c >= k, and then no more than that took."""
    screens = "".join(
        f"      - {{name: k{most}, provider: fake, model: model-{most}, samples: 3, reject_at: {most}}}\n"
        for most in (1, 2, 3)
    )
    scripts: dict[str, Script] = {}
    for right in range(4):
        pool.add(f"case-{right}")
        for reject_at in (1, 2, 3):
            scripts[f"{right} {reject_at}"] = in_turn([*[RIGHT] * right, WRONG])
    pool.configure(PROVIDER, f"    screens:\n{screens}", url=server.base_url)
    server.script = lambda asked: scripts[f"{asked.prompt.split('case-')[1][0]} {asked.model[-1]}"](asked)
    session = pool.run(ONE, "--toolgate-all-screens")
    assert session.verdicts == {"case-0": PASSED, "case-1": EASY, "case-2": EASY, "case-3": EASY}
    made = Counter((row["name"], row["screen"]) for row in pool.recorded("replies"))
    assert made == {
        (f"case-{right}", f"k{reject_at}"): reject_at if right >= reject_at else 3
        for right in range(4)
        for reject_at in (1, 2, 3)
    }
    assert server.count == made.total()


# --- whose turn it is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-x", "--stepwise"])
def test_where_the_session_ends_at_a_failure_nothing_behind_it_is_looked_at(
    pool: Pool, server: ScriptedServer, option: str
) -> None:
    add_many(pool, 6)
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = lambda asked: (RIGHT if "case-02" in asked.prompt else WRONG)(asked)
    session = pool.run(ONE, option)
    assert session.verdicts == {"case-00": PASSED, "case-01": PASSED, "case-02": EASY}
    assert calls(server) == {"case-00": 3, "case-01": 3, "case-02": 2}
    assert set(attempts(pool)) == {"case-00", "case-01", "case-02"}


def test_with_workers_little_is_looked_at_behind_a_failure_that_ends_the_session(
    pool: Pool, server: ScriptedServer
) -> None:
    """What the workers have in hand at that moment, and no more."""
    add_many(pool, 16)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = Traffic(by_question({"case-00": RIGHT}, WRONG), 0.2)
    session = pool.run(ONE, "-x", workers=2)
    assert session.cases["case-00"].verdict == EASY
    assert len(calls(server)) <= 6


SKIPPING = """
    import pytest

    def pytest_collection_modifyitems(items):
        marks = {
            "skip": pytest.mark.skip(reason="not now"),
            "skipif": pytest.mark.skipif(True, reason="not here"),
            "hopeless": pytest.mark.xfail(run=False, reason="not ever"),
        }
        for item in items:
            for name, mark in marks.items():
                if item.name.endswith(f"-{name}"):
                    item.add_marker(mark)
        items[:] = [item for item in items if "deselected" not in item.name]
"""


def test_what_pytest_will_not_run_is_never_judged(pool: Pool, server: ScriptedServer) -> None:
    for name in ("a-first", "b-skip", "c-skipif", "e-deselected", "f-unwanted", "g-last"):
        pool.add(name)
    pool.write("conftest.py", SKIPPING)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = Traffic(WRONG, 0.1)
    session = pool.run(ONE, "-k", "not unwanted", workers=2)
    assert session.code == 0
    assert calls(server) == {"a-first": 1, "g-last": 1}
    assert attempts(pool) == {"a-first": 1, "g-last": 1}
    assert {name: case.tag for name, case in session.cases.items() if not case.properties} == {
        "b-skip": "skipped", "c-skipif": "skipped",
    }  # fmt: skip


def test_what_is_expected_to_fail_without_being_run_costs_no_call(pool: Pool, server: ScriptedServer) -> None:
    """pytest does not run it, so it is neither judged before its turn nor an error of ours."""
    for name in ("a-first", "b-hopeless"):
        pool.add(name)
    pool.write("conftest.py", SKIPPING)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = Traffic(WRONG, 0.1)
    session = pool.run(ONE)
    assert calls(server) == {"a-first": 1}
    assert session.code == 0
    assert (session.cases["b-hopeless"].tag, session.cases["b-hopeless"].properties) == ("skipped", {})


AGAIN = """
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item):
        result = yield
        if item.name == "case-01":
            item.runtest()
        return result
"""


def test_an_item_that_is_run_again_is_judged_again(pool: Pool, server: ScriptedServer) -> None:
    """As plugins do that rerun what has failed; the others are judged once, and all are paid for once."""
    names = add_many(pool, 4)
    pool.write("conftest.py", AGAIN)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = WRONG
    session = pool.run(ONE)
    assert session.verdicts == dict.fromkeys(names, PASSED)
    assert attempts(pool) == {"case-00": 1, "case-01": 2, "case-02": 1, "case-03": 1}
    assert calls(server) == dict.fromkeys(names, 1)


def test_junit_says_how_long_a_candidate_was_judged(pool: Pool, server: ScriptedServer) -> None:
    """Not how long its own turn took, when it had been judged before."""
    add_many(pool, 3)
    pool.add("case-slow")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)

    def sometimes_slow(asked: Asked) -> Reply:
        time.sleep(3.0 if "case-slow" in asked.prompt else 0.1)
        return WRONG(asked)

    server.script = sometimes_slow
    pool.run(ONE)
    cases = ET.parse(pool.root / "junit.xml").iter("testcase")
    seconds = {case.attrib["name"]: float(case.attrib["time"]) for case in cases}
    gates = Counter[str]()
    for row in pool.recorded("gates"):
        gates[row["name"]] += row["seconds"]
    for name, took in seconds.items():
        assert took == pytest.approx(gates[name], abs=1.0)
    assert seconds["case-slow"] >= 3.0


def test_a_candidate_that_is_judged_before_its_turn_fares_as_it_would_alone(pool: Pool, server: ScriptedServer) -> None:
    """Verdict, order of the options, warnings: one by one, and side by side."""
    names = add_many(pool, 8)
    seen = []
    for places in (1, 8):
        pool.forget()
        pool.configure(limited(max_concurrency=places), THREE_CALLS, url=server.base_url)
        server.forget()
        # Right about every other candidate, on its second call.
        server.script = lambda asked: (RIGHT if ord(asked.prompt.split("?")[0][-1]) % 2 else WRONG)(asked)
        session = pool.run(ONE)
        rows = pool.recorded("replies")
        seen.append((session.verdicts, sorted((row["name"], row["call_index"], row["presentation"]) for row in rows)))
        assert set(session.verdicts) == set(names)
    assert seen[0] == seen[1]


# --- how fast -----------------------------------------------------------------------------------------------


def test_requests_per_minute_hold_over_all_workers(pool: Pool, server: ScriptedServer) -> None:
    """200 a minute are one in 0.3 s; one that comes late (a process's first) makes the next one seem early."""
    add_many(pool, 4)
    pool.configure(limited(requests_per_minute=200), SCREEN.replace("samples: 1", "samples: 2"), url=server.base_url)
    traffic = Traffic(lambda asked: Reply("OK") if asked.is_preflight else WRONG(asked))
    server.script = server.preflight = traffic
    session = pool.run(ONE, workers=2)
    assert set(session.verdicts.values()) == {PASSED}
    assert len(traffic.at) == 9
    for (i, earlier), (j, later) in combinations(enumerate(traffic.at), 2):
        assert later - earlier > 0.3 * (j - i) - 0.25


def test_tokens_per_minute_slow_a_run_by_what_its_replies_used(pool: Pool, server: ScriptedServer) -> None:
    """The server counts 110 of each reply: at 33,000 a minute that is 0.2 s."""
    add_many(pool, 5)
    pool.configure(
        limited(tokens_per_minute=33_000), SCREEN.replace("samples: 1", "samples: 2, max_output_tokens: 16"),
        url=server.base_url,
    )  # fmt: skip
    traffic = server.script = Traffic(WRONG)
    session = pool.run(ONE)
    assert set(session.verdicts.values()) == {PASSED}
    assert 0.2 * 9 - 0.3 < traffic.at[-1] - traffic.at[0] < 8


def test_a_server_that_asks_for_patience_gets_it_from_all_workers(pool: Pool, server: ScriptedServer) -> None:
    """The first call is told to wait a second: but for those under way already, no other call comes before."""
    names = add_many(pool, 8)
    pool.configure(PROVIDER.replace("max_wait: 1", "max_wait: 5"), SCREEN, url=server.base_url)
    told: list[float] = []

    def tell(asked: Asked) -> Reply:
        time.sleep(0.3)  # all that are under way at the same time have come
        told.append(time.monotonic())
        return rate_limited(1)

    def later(asked: Asked) -> Reply:
        time.sleep(0.5)  # and none of those has ended yet
        return WRONG(asked)

    traffic = server.script = Traffic(in_turn([tell, *[later] * 7, WRONG]))
    session = pool.run(ONE, workers=2)
    assert session.verdicts == dict.fromkeys(names, PASSED)
    between = [at for at in traffic.at if told[0] + 0.1 < at < told[0] + 1.0]
    assert between == []
    assert [row["requests"] for row in pool.rows("SELECT requests FROM replies ORDER BY requests")][-1] == 2


# --- versions -----------------------------------------------------------------------------------------------


def test_two_versions_of_a_model_in_one_screen_are_told(pool: Pool, server: ScriptedServer) -> None:
    pool.add("case-mixed")
    pool.add("case-same")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    versions = in_turn([always(Reply("1")), always(Reply("2"))])

    def answer(asked: Asked) -> Reply:
        version = versions(asked).text if "case-mixed" in asked.prompt else "1"
        return Reply(WRONG(asked).text, model=f"screen-model-2026-0{version}-0{version}")

    server.script = answer
    session = pool.run(ONE)
    assert session.verdicts == {"case-mixed": PASSED, "case-same": PASSED}
    assert session.code == 0
    both = "screen `light` was answered by more than one model: screen-model-2026-01-01, screen-model-2026-02-02"
    assert f"warning: {both}" in session.line_about("case-mixed")
    assert "warning" not in session.line_about("case-same")
    assert [(row["name"], both in row["warnings"]) for row in pool.recorded("outcomes")] == [
        ("case-mixed", True), ("case-same", False),
    ]  # fmt: skip
    # Also where they are reused.
    assert both in pool.run(ONE).line_about("case-mixed")
