"""Caps in USD: kept by all workers together, in the order of the files where there are none, and never for ever."""

import os

import pytest
from scripted_server import Asked, Reply, ScriptedServer, avoiding, by_model, by_question, choosing, saying
from traffic import Traffic

from .pool import PROVIDER, SCREEN, SOLVE, THREE_CALLS, VALUE, VERIFY, Pool

ONE = "--toolgate-gates=screen"
WRONG = avoiding(VALUE)
# The server counts 100 and 10 tokens each time: 1.1 USD a call, and as much for the preflight.
PRICES = "        prices: {screen-model: {input: 10000, output: 10000}, agent-model: {input: 10000, output: 10000}}\n"
PRICED = f"{PROVIDER.rstrip()}\n{PRICES}"
CALL = 1.1


def spent(pool: Pool) -> float:
    """What the last run has paid for, by its own records."""
    [row] = pool.rows(
        "SELECT total(cost) AS usd FROM (SELECT cost FROM replies UNION ALL SELECT cost FROM agent_replies "
        "UNION ALL SELECT cost FROM preflights)"
    )
    return float(row["usd"])


def add_many(pool: Pool, count: int) -> list[str]:
    """Candidates, by name in the order of the run."""
    names = [f"case-{number:02}" for number in range(count)]
    for name in names:
        pool.add(name)
    return names


def test_a_cap_is_passed_by_one_call_at_most(pool: Pool, server: ScriptedServer) -> None:
    """With two workers and calls under way in parallel."""
    names = add_many(pool, 12)
    pool.configure(PRICED, THREE_CALLS, "budget: {usd: 8}\n", url=server.base_url)
    server.script = Traffic(WRONG, 0.05)
    session = pool.run(ONE, workers=2)
    paid = CALL * (server.count + len(server.preflights))
    assert spent(pool) == pytest.approx(paid)
    assert 8 <= paid < 8 + CALL
    assert sorted(session.verdicts) == names
    assert set(session.verdicts.values()) <= {"provisional screen", "error screen budget"}
    assert session.code == 1
    assert ": error at screen: budget: the run has spent its budget of 8 USD" in session.summary
    # What is not decided for want of money goes on where it was: two wrong replies of three decide.
    recorded = [sum(row["name"] == name for row in pool.recorded("replies")) for name in names]
    server.forget()
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    assert set(pool.run(ONE).verdicts.values()) == {"provisional screen"}
    assert server.count == sum(3 - count for count in recorded if count < 2)


def test_without_workers_money_goes_in_the_order_of_the_files(pool: Pool, server: ScriptedServer) -> None:
    names = add_many(pool, 5)
    pool.configure(PRICED, SCREEN, "budget: {usd: 3}\n", url=server.base_url)
    server.script = WRONG
    session = pool.run(ONE)
    passed, broke = "provisional screen", "error screen budget"
    assert session.verdicts == dict(zip(names, [passed, passed, broke, broke, broke], strict=True))
    assert ["case-00" in asked.prompt for asked in server.requests] == [True, False]
    assert "screen       5 in     2 passed  3 without verdict (3 budget)" in session.summary
    assert "cost 3.3000 USD" in session.summary
    for name in names[2:]:
        assert "the run has spent its budget of 3 USD" in session.line_about(name)
        assert session.cases[name].headline.startswith("error at screen: budget: ")


def test_a_candidate_has_money_of_its_own(pool: Pool, server: ScriptedServer) -> None:
    """Two of three calls are paid for, which is not always enough."""
    for name in ("case-right", "case-wrong", "case-other"):
        pool.add(name)
    one_rejects = THREE_CALLS.replace("reject_at: 2", "reject_at: 1")
    pool.configure(PRICED, one_rejects, "budget: {usd_per_candidate: 2}\n", url=server.base_url)
    server.script = by_question({"case-right": choosing(VALUE)}, WRONG)
    session = pool.run(ONE)
    assert session.verdicts == {
        "case-right": "rejected screen too-easy",
        "case-wrong": "error screen budget",
        "case-other": "error screen budget",
    }
    assert "the candidate has spent its budget of 2 USD" in session.line_about("case-wrong")
    assert server.count == 1 + 2 + 2


def test_no_money_is_no_call_and_no_preflight(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PRICED, SCREEN, "budget: {usd: 0}\n", url=server.base_url)
    server.script = WRONG
    assert pool.run(ONE).verdicts == {"first": "error screen budget"}
    assert (server.count, len(server.preflights)) == (0, 0)


def test_a_preflight_counts_into_the_budget(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PRICED, SCREEN, "budget: {usd: 1}\n", url=server.base_url)
    server.script = WRONG
    assert pool.run(ONE).verdicts == {"first": "error screen budget"}
    assert (server.count, len(server.preflights)) == (0, 1)
    assert pool.rows("SELECT cost, input_tokens, output_tokens FROM preflights") == [
        {"cost": 1.1, "input_tokens": 100, "output_tokens": 10}
    ]


@pytest.mark.parametrize(
    ("prices", "missing"),
    [
        ("{agent-model: {input: 1, output: 1}}", "screen-model"),
        ("{screen-model: {input: 1}}", "screen-model"),
        ("{screen-model: {input: 1, output: 1}}", "agent-model"),
    ],
)
def test_an_unknown_price_is_refused_by_the_configuration(
    pool: Pool, server: ScriptedServer, prices: str, missing: str
) -> None:
    pool.add("first")
    pool.configure(
        f"{PROVIDER.rstrip()}\n        prices: {prices}\n", SCREEN, SOLVE, "budget: {usd: 1}\n", url=server.base_url
    )
    session = pool.run()
    assert session.code == 4
    [line] = [line for line in (session.out + session.err).splitlines() if "toolgate.yaml" in line]
    assert f"`budget` needs the prices of `{missing}`" in line
    assert "providers.fake.prices" in line
    assert (server.count, len(server.preflights)) == (0, 0)


def test_a_reply_that_does_not_say_what_it_used_ends_the_paying(pool: Pool, server: ScriptedServer) -> None:
    add_many(pool, 3)
    pool.configure(PRICED, SCREEN, "budget: {usd: 100}\n", url=server.base_url, api="chat")
    choice = '{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ANSWER: A"}}'
    server.script = lambda asked: Reply(raw=f'{{"model": "{asked.model}", "choices": [{choice}]}}'.encode())
    session = pool.run(ONE)
    assert list(session.verdicts.values())[1:] == ["error screen budget"] * 2
    assert "1 call whose cost is unknown" in session.line_about("case-01")
    assert server.count == 1


AGENT = """
    import time
    from pathlib import Path
    from pytest_toolgate.agents import AgentError, AgentRun
    from pytest_toolgate.providers import Message, Request

    def be_at_work():
        give_up = time.monotonic() + 6
        while not Path("came-through").exists() and time.monotonic() < give_up:
            time.sleep(0.02)

    def ask(task):
        with task.call_slots.hold():
            if stop := task.may_pay():
                raise AgentError(stop[1], stop[0])
            return task.provider.ask(Request(task.settings.model, (Message("user", task.question),)))

    def before(task):
        be_at_work()
        return answer(task)

    def between(task):
        ask(task)
        be_at_work()
        return answer(task)

    def answer(task):
        ask(task)
        letter = next(letter for letter, text in task.options.items() if text == "0.060723")
        (task.workspace / "answer.txt").write_text(letter)
        return AgentRun("finished", used=("scipy",))
"""
ENTRY_POINTS = "[pytest_toolgate.agents]\nbefore = own_agents:before\nbetween = own_agents:between\n"


@pytest.mark.parametrize("at_work", ["before", "between"])
def test_an_agent_at_work_holds_up_no_call(
    pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, at_work: str
) -> None:
    """Where the money is not enough for two calls at once, and the provider has one place: what an agent does before
    its first call or between two is nothing that others have to wait for, and nobody waits for ever."""
    pool.write("site/own_agents.py", AGENT)
    pool.write("site/own-1.dist-info/METADATA", "Name: own\nVersion: 1\n")
    pool.write("site/own-1.dist-info/entry_points.txt", ENTRY_POINTS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pool.root / "site"), os.environ.get("PYTHONPATH", "")]))
    pool.add("case-a")
    pool.add("case-b", f"import scipy, time\ntime.sleep(1)\nprint('ANSWER: {VALUE}')\n")
    one_place = PRICED.replace("timeout: 5", "timeout: 5\n        max_concurrency: 1")
    solve = SOLVE.replace("agent: builtin", f"agent: {at_work}")
    pool.configure(one_place, VERIFY, SCREEN, solve, "budget: {usd: 20}\n", url=server.base_url)

    def screened(asked: Asked) -> Reply:
        if "case-b" in asked.prompt:
            (pool.root / "came-through").touch()
        return WRONG(asked)

    server.script = by_model({"screen-model": screened, "agent-model": saying("Done.")})
    with pool.started(workers=2) as run:
        assert run.process.wait(40) == 0
    assert {case.verdict for case in pool.junit().values()} == {"accepted solve"}
    arrived = [f"{asked.model} {name}" for asked in server.requests for name in "ab" if f"case-{name}" in asked.prompt]
    asks = [number for number, what in enumerate(arrived) if what == "agent-model a"]
    assert arrived.index("screen-model b") < asks[-1]


def test_an_agent_stops_at_the_cap_like_a_screen(pool: Pool, server: ScriptedServer) -> None:
    """A preflight and two turns are paid for; the third is not begun."""
    pool.add("first")
    pool.configure(
        PRICED, SCREEN, SOLVE.replace("max_turns: 3", "max_turns: 9"), "budget: {usd: 3}\n", url=server.base_url
    )

    def never_ending(asked: Asked) -> Reply:
        return Reply(f"```python\nprint('RESULT: {asked.turn}')\n```")

    server.script = by_model({"agent-model": never_ending})
    session = pool.run("--toolgate-gates=solve")
    assert session.verdicts == {"first": "error solve budget"}
    assert (server.count, len(server.preflights)) == (2, 1)
    assert spent(pool) == pytest.approx(3 * CALL)
