"""Before the first paid call: what a server refuses is refused once, and what merely fails decides nothing."""

import pytest
from scripted_server import (
    KEY,
    QUOTA,
    RESET,
    SERVER_ERROR,
    Reply,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    choosing,
    computing,
    in_turn,
    saying,
)
from traffic import Traffic

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

ONE = "--toolgate-gates=screen"
WRONG = avoiding(VALUE)
NAMES = ("case-1", "case-2", "case-3")
STRONG = "      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}\n"
SAME_MODEL = "      - {name: again, provider: fake, model: screen-model, samples: 2, reject_at: 1}\n"
OTHER_SETTING = "      - {name: deep, provider: fake, model: screen-model, reasoning: low, samples: 1, reject_at: 1}\n"
STOPPED = "paid work of this run was stopped: "
REFUSALS = {
    "reasoning": (
        Reply(status=400, error={"message": "Unsupported parameter: 'reasoning'", "code": "unsupported_parameter"}),
        "Unsupported parameter: 'reasoning'",
    ),
    "quota": (QUOTA, "You exceeded your current quota"),
    "model": (Reply(status=404, error={"message": "The model does not exist."}), "The model does not exist."),
}


def add_all(pool: Pool) -> None:
    """Three candidates without fault."""
    for name in NAMES:
        pool.add(name)


# --- how often ----------------------------------------------------------------------------------------------


def test_once_for_each_provider_model_and_setting(pool: Pool, server: ScriptedServer) -> None:
    """Over all workers and candidates, and two screens that ask the same are the same."""
    for number in range(6):
        pool.add(f"case-{number}")
    other = f"      other:\n        api: chat\n        base_url: '{server.base_url}'\n"
    elsewhere = "      - {name: else, provider: other, model: screen-model, samples: 1, reject_at: 1}\n"
    screens = SCREEN + STRONG + SAME_MODEL + OTHER_SETTING + elsewhere
    pool.configure(f"{PROVIDER.rstrip()}\n{other}", screens, url=server.base_url)
    server.script = WRONG
    session = pool.run(ONE, workers=2)
    assert set(session.verdicts.values()) == {"provisional screen"}
    assert sorted((asked.api, asked.model, asked.effort or "") for asked in server.preflights) == [
        ("chat", "screen-model", ""),
        ("responses", "screen-model", ""),
        ("responses", "screen-model", "low"),
        ("responses", "strong-model", ""),
    ]
    assert len(server.listed) == 2
    assert server.count == 6 * 6
    # It is no reply: neither counted nor reused.
    assert pool.rows("SELECT count(*) AS n FROM replies") == [{"n": 36}]
    assert "36 model calls and agent runs made, 0 reused" in session.summary
    assert pool.rows("SELECT count(*) AS n, sum(input_tokens) AS i, sum(requests) AS r FROM preflights") == [
        {"n": 4, "i": 400, "r": 4}
    ]


def test_none_where_no_call_is_due(pool: Pool, server: ScriptedServer) -> None:
    """All replies are reused; lint and verify alone; every candidate ends before; a later screen is not reached."""
    pool.add("first")
    pool.configure(PROVIDER, VERIFY, SCREEN + STRONG, url=server.base_url)
    server.script = by_model({"screen-model": choosing(VALUE)})
    assert pool.run(ONE).verdicts == {"first": "rejected screen too-easy"}
    assert [asked.model for asked in server.preflights] == ["screen-model"]
    server.forget()
    server.preflight = always(QUOTA)
    assert pool.run(ONE).verdicts == {"first": "rejected screen too-easy"}
    assert pool.run("--toolgate-gates=lint,verify", "--toolgate-fresh").verdicts == {"first": "provisional verify"}
    pool.add("first", answer="E")
    assert pool.run("--toolgate-fresh").verdicts == {"first": "rejected lint bad-answer"}
    assert (server.count, len(server.preflights), len(server.listed)) == (0, 0, 0)


def test_never_more_under_way_than_allowed(pool: Pool, server: ScriptedServer) -> None:
    """A preflight is a request like any other: a server with one place has one for all of them."""
    for number in range(2):
        pool.add(f"case-{number}")
    one_place = PROVIDER.replace("timeout: 5", "timeout: 5\n        max_concurrency: 1")
    pool.configure(one_place, SCREEN + STRONG + OTHER_SETTING, url=server.base_url)
    server.script = server.preflight = Traffic(
        lambda asked: saying("OK")(asked) if asked.is_preflight else WRONG(asked), 0.1
    )
    assert set(pool.run(ONE).verdicts.values()) == {"provisional screen"}
    assert (len(server.preflights), server.count) == (3, 6)
    assert server.script.most == 1


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["reasoning", "quota"])
def test_no_paid_call_is_made_then_and_every_candidate_has_its_testcase(
    pool: Pool, server: ScriptedServer, kind: str
) -> None:
    refusal, said = REFUSALS[kind]
    add_all(pool)
    pool.add("case-4", answer="E")
    pool.configure(PROVIDER, SCREEN + STRONG, url=server.base_url)
    server.preflight = always(refusal)
    server.script = WRONG
    session = pool.run(ONE, workers=2 if kind == "reasoning" else 0)
    assert session.code == 1
    assert session.verdicts == dict.fromkeys(NAMES, "error screen not-run") | {"case-4": "rejected lint bad-answer"}
    assert (server.count, len(server.preflights)) == (0, 1)
    [line] = [line for line in session.summary.splitlines() if line.startswith(STOPPED)]
    assert "provider `fake`" in line
    assert said in line
    for name in NAMES:
        assert said in session.line_about(name)
        assert session.cases[name].tag == "error"
        assert session.cases[name].headline.startswith("error at screen: not-run: ")
    assert "Traceback" not in session.out


def test_a_key_that_the_list_refuses_is_not_tried_any_further(
    pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_all(pool)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.key = KEY
    server.script = WRONG
    wrong_key = "sk-wrong-9d1c2a7b40"
    monkeypatch.setenv("CANARY_KEY", wrong_key)
    session = pool.run(ONE)
    assert session.verdicts == dict.fromkeys(NAMES, "error screen not-run")
    assert session.code == 1
    assert (len(server.listed), len(server.preflights), server.count) == (1, 0, 0)
    [line] = [line for line in session.summary.splitlines() if line.startswith(STOPPED)]
    assert "provider `fake` refuses its key" in line
    assert wrong_key not in session.out + session.err
    assert not [path for path in pool.root.rglob("*") if path.is_file() and wrong_key.encode() in path.read_bytes()]


def test_what_needs_no_call_is_decided_as_ever(pool: Pool, server: ScriptedServer) -> None:
    """What recorded replies decide, and what lint or verify reject."""
    pool.add("case-1")
    pool.configure(PROVIDER, VERIFY, SCREEN, url=server.base_url)
    server.script = WRONG
    pool.run(ONE)
    server.forget()
    server.preflight = always(REFUSALS["model"][0])
    pool.add("case-2")
    pool.add("case-3", "print('ANSWER: 0.060723')\n")
    assert pool.run("--toolgate-gates=verify,screen").verdicts == {
        "case-1": "provisional screen",
        "case-2": "error screen not-run",
        "case-3": "rejected verify tool-unused",
    }
    assert server.count == 0
    # Nothing is remembered: once the server takes it, the next run goes on.
    server.preflight = saying("OK")
    assert pool.run(ONE).verdicts["case-2"] == "provisional screen"


def test_a_server_that_recovers_is_asked_and_one_that_does_not_is_an_error(pool: Pool, server: ScriptedServer) -> None:
    add_all(pool)
    pool.configure(PROVIDER.replace("attempts: 2", "attempts: 1"), SCREEN, url=server.base_url)
    server.preflight = always(SERVER_ERROR)
    server.script = in_turn([always(SERVER_ERROR), always(RESET), WRONG])
    session = pool.run(ONE)
    assert sorted(session.verdicts.values()) == ["error screen provider", "error screen provider", "provisional screen"]
    assert STOPPED not in session.out
    assert len(server.preflights) == 1


# --- the agent's model --------------------------------------------------------------------------------------


def test_the_model_of_the_agent_is_tried_out_too(pool: Pool, server: ScriptedServer) -> None:
    """And where it is the model of a screen, at the same settings and with one place for all, nobody waits for ever."""
    names = ("case-1", "case-2")
    for name in names:
        pool.add(name)
    pool.configure(PROVIDER, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": WRONG, "agent-model": computing(VALUE)})
    server.preflight = by_model({"screen-model": saying("OK"), "agent-model": always(REFUSALS["model"][0])})
    session = pool.run("--toolgate-gates=screen,solve")
    assert session.verdicts == dict.fromkeys(names, "error solve not-run")
    assert [asked for asked in server.requests if asked.model == "agent-model"] == []
    assert sorted(asked.model for asked in server.preflights) == ["agent-model", "screen-model"]
    [line] = [line for line in session.summary.splitlines() if line.startswith(STOPPED)]
    assert "model agent-model" in line

    server.forget()
    server.preflight = saying("OK")
    server.script = lambda asked: (WRONG if "You have no tools" in asked.messages[0]["content"] else computing(VALUE))(
        asked
    )
    one_place = PROVIDER.replace("timeout: 5", "timeout: 5\n        max_concurrency: 1")
    pool.configure(one_place, SCREEN, SOLVE.replace("agent-model", "screen-model"), url=server.base_url)
    session = pool.run("--toolgate-gates=screen,solve", "--toolgate-fresh", workers=2)
    assert session.verdicts == dict.fromkeys(names, "provisional solve")
    assert [asked.model for asked in server.preflights] == ["screen-model"]
    assert len(server.listed) == 1


def test_the_key_is_in_no_file(pool: Pool, server: ScriptedServer) -> None:
    """Not even where the server gives it back."""
    add_all(pool)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.models = [f"model-{KEY}"]
    server.preflight = always(Reply(status=403, error={"message": f"the key {KEY} may not do this"}))
    session = pool.run(ONE, "--log-level=DEBUG")
    assert session.verdicts == dict.fromkeys(NAMES, "error screen not-run")
    assert "may not do this" in session.summary
    assert KEY not in session.out + session.err
    files = [path for where in (pool.root, pool.temporary) for path in where.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
