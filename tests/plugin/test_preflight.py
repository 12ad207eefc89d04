"""Before the first paid call: what a server refuses is refused once, and what merely fails decides nothing."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from exchange import PREFLIGHT
from scripted_server import (
    HTML,
    KEY,
    QUOTA,
    RESET,
    SERVER_ERROR,
    Asked,
    Reply,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    choosing,
    computing,
    in_turn,
    rate_limited,
    saying,
)
from unit.benches import workbench

from pytest_toolgate.config import EMBEDDED, ProviderSettings, Retries, ScreenSettings, Settings
from pytest_toolgate.gates.preflight import preflight
from pytest_toolgate.gates.together import together
from pytest_toolgate.providers import Request

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool
from .traffic import Traffic

ONE = "--toolgate-gates=screen"
WRONG = avoiding(VALUE)
NAMES = ("case-1", "case-2", "case-3")
STRONG = "      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}\n"
SAME_MODEL = "      - {name: again, provider: fake, model: screen-model, samples: 2, reject_at: 1}\n"
OTHER_SETTING = "      - {name: deep, provider: fake, model: screen-model, reasoning: low, samples: 1, reject_at: 1}\n"
STOPPED = "paid work of this run was stopped: "


class OddList(ScriptedServer):
    """A server whose list of models is a reply of its own."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._list = reply

    def _answer(self, method: str, asked: Asked) -> tuple[Reply, bytes]:
        if method != "GET":
            return super()._answer(method, asked)
        self.listed.append(asked)
        return self._list, self._list.raw or b'{"error": {"message": "no"}}'


def add_all(pool: Pool) -> None:
    """Three candidates without fault."""
    for name in NAMES:
        pool.add(name)


class Lab:
    """One provider and its users, without pytest around them.

    Attributes:
        bench: What the gates of the run work with.
    """

    def __init__(self, directory: Path, server: ScriptedServer, *users: ScreenSettings, **provider: Any) -> None:  # noqa: ANN401
        lab = ProviderSettings(
            "lab", base_url=server.base_url, **{"timeout": 5.0, "retries": Retries(2, 0.1), **provider}
        )
        self.bench = workbench(directory, Settings(providers={"lab": lab}, screens=users))
        self._users = users

    def try_out(self) -> list[str]:
        """Try out every user of the provider; what is said of each, nothing where calls may be made."""
        results = [preflight(self.bench, user) for user in self._users]
        return ["" if result is None else result.sentence for result in results]

    def rows(self) -> list[dict[str, Any]]:
        """What is on record."""
        return self.bench.store.query("SELECT * FROM preflights ORDER BY time")


@pytest.fixture
def lab(tmp_path: Path, server: ScriptedServer) -> Iterator[Callable[..., Lab]]:
    made: list[Lab] = []

    def make(*users: ScreenSettings, **provider: Any) -> Lab:  # noqa: ANN401
        made.append(Lab(tmp_path, server, *users, **provider))
        return made[-1]

    yield make
    for one in made:
        one.bench.store.close()


Make = Callable[..., Lab]
LIGHT = ScreenSettings("light", "lab", "m")

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
    assert "36 model replies and agent runs made, 0 reused" in session.summary
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


def test_the_embedded_model_needs_none(tmp_path: Path) -> None:
    own = ProviderSettings("own", kind=EMBEDDED)
    user = ScreenSettings("light", "own", "any")
    bench = workbench(tmp_path, Settings(providers={"own": own}, screens=(user,)))
    assert preflight(bench, user) is None
    assert list(bench.run.directory.iterdir()) == []
    bench.store.close()


def test_it_is_minimal_and_carries_every_setting(lab: Make, server: ScriptedServer) -> None:
    one = lab(dataclasses.replace(LIGHT, reasoning="none", max_output_tokens=64))
    assert one.try_out() == [""]
    [asked] = server.preflights
    assert [message["content"] for message in asked.messages] == [PREFLIGHT]
    assert (asked.model, asked.effort, asked.cap) == ("m", "none", 64)
    assert set(asked.body) == {"model", "input", "store", "reasoning", "max_output_tokens"}
    [row] = one.rows()
    assert row["settings"] == '{"max_output_tokens": 64, "model": "m", "reasoning": "none"}'
    assert (row["provider"], row["status"], row["text"], row["note"]) == ("lab", "complete", "OK", "")
    assert (row["model_served"], row["input_tokens"], row["output_tokens"], row["cost"]) == ("m", 100, 10, None)


def test_a_setting_that_is_left_out_is_not_sent(lab: Make, server: ScriptedServer) -> None:
    assert lab(LIGHT, api="chat").try_out() == [""]
    assert set(server.preflights[0].body) == {"model", "messages"}


def test_users_that_come_together_make_one_request_each_and_one_list(lab: Make, server: ScriptedServer) -> None:
    """Two screens of one provider, whose first candidates arrive at the same moment, in eight threads."""
    server.preflight = Traffic(saying("OK"), 0.1)
    strong = dataclasses.replace(LIGHT, name="strong", model="m2")
    one = lab(LIGHT, strong, max_concurrency=8)
    one.bench.provider("lab").ask(Request("m", ()))  # the SDK imports most of itself at its first request
    assert together([partial(preflight, one.bench, user) for user in (LIGHT, strong) * 4]) == [None] * 8
    assert sorted(asked.model for asked in server.preflights) == ["m", "m2"]
    assert len(server.listed) == 1


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

UNSUPPORTED = {"message": "Unsupported parameter: 'reasoning.effort'", "code": "unsupported_parameter"}
REFUSALS = {
    "key": (Reply(status=401, error={"message": "Incorrect API key provided."}), "Incorrect API key provided."),
    "permission": (Reply(status=403, error={"message": "Not for you."}), "Not for you."),
    "model": (Reply(status=404, error={"message": "The model does not exist."}), "The model does not exist."),
    "reasoning": (Reply(status=400, error=UNSUPPORTED), "Unsupported parameter: 'reasoning.effort'"),
    "cap": (
        Reply(status=400, error={"message": "max_output_tokens: below the minimum", "code": "unsupported_parameter"}),
        "max_output_tokens: below the minimum",
    ),
    "form": (Reply(status=422, error={"message": "extra fields not permitted"}), "extra fields not permitted"),
    "another model": (Reply("OK", model="m-mini"), "asked for `m`, answered by `m-mini`"),
    "no model": (Reply(raw=b'{"status": "completed", "output": [{"type": "message", "content": '
                           b'[{"type": "output_text", "text": "OK"}]}]}'), "answered by an unnamed model"),
    "quota": (QUOTA, "You exceeded your current quota"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSALS)
def test_what_is_refused_once_is_refused(lab: Make, server: ScriptedServer, kind: str) -> None:
    """D13: the sentence names provider, setting and reason; nobody asks a second time; all paid work ends."""
    refusal, said = REFUSALS[kind]
    server.preflight = always(refusal)
    user = dataclasses.replace(LIGHT, reasoning="low", max_output_tokens=64)
    one = lab(user, dataclasses.replace(user, name="again"), dataclasses.replace(user, model="other"))
    sentences = one.try_out()
    assert len(set(sentences)) == 1
    assert sentences[0].startswith("paid work of this run was stopped: provider `lab`")
    assert said in sentences[0]
    if kind != "quota":
        assert "refuses a request with model m, reasoning low, max_output_tokens 64: " in sentences[0]
    assert "\n" not in sentences[0]
    assert f"paid work of this run was stopped: {one.bench.paid_work_stopped()}" == sentences[0]
    assert len(server.preflights) == 1
    [row] = one.rows()
    assert row["status"] == "failed"


def test_all_that_come_together_hear_of_a_refusal(lab: Make, server: ScriptedServer) -> None:
    """Not only the one that asked: whoever sees that it was asked sees what came of it."""
    server.preflight = Traffic(always(REFUSALS["model"][0]), 0.1)
    one = lab(LIGHT, max_concurrency=8)
    results = together([partial(preflight, one.bench, LIGHT)] * 8)
    assert {result.reason for result in results if result is not None} == {"not-run"}
    assert None not in results
    assert len(server.preflights) == 1


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


def test_an_unknown_model_is_told_with_the_known_ones(lab: Make, server: ScriptedServer) -> None:
    server.models = ["m-2", "other-model"]
    server.preflight = always(Reply(status=404, error={"message": "no such model"}))
    [sentence] = lab(LIGHT).try_out()
    assert "no such model; it lists m-2, other-model" in sentence


def test_a_list_without_the_model_is_no_refusal(lab: Make, server: ScriptedServer) -> None:
    """Aliases and private deployments are listed nowhere; the request itself decides."""
    server.models = ["something-else"]
    assert lab(LIGHT).try_out() == [""]


def test_another_model_is_taken_where_any_is_allowed(lab: Make, server: ScriptedServer) -> None:
    server.preflight = saying("OK", model="whatever")
    assert lab(LIGHT, any_model=True).try_out() == [""]


def test_a_version_of_the_model_is_the_model(lab: Make, server: ScriptedServer) -> None:
    server.preflight = saying("OK", model="m-2026-03-05")
    assert lab(LIGHT).try_out() == [""]


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


# --- what decides nothing -----------------------------------------------------------------------------------

ODD_LISTS = {
    "not found": Reply(status=404),
    "server error": Reply(status=500),
    "busy": rate_limited(),
    "html": HTML,
    "empty": Reply(raw=b""),
    "no list": Reply(raw=b'{"data": {"id": 1}}'),
    "nothing listed": Reply(raw=b'{"object": "list", "data": []}'),
    "deep": Reply(raw=b"[" * 100_000),
    "reset": RESET,
}


@pytest.mark.parametrize("kind", ODD_LISTS)
def test_a_list_that_a_server_does_not_have_is_no_fault(tmp_path: Path, kind: str) -> None:
    """Asked for once, however little it says."""
    with OddList(ODD_LISTS[kind]) as server:
        one = Lab(tmp_path, server, LIGHT, dataclasses.replace(LIGHT, model="m2"))
        assert one.try_out() + one.try_out() == [""] * 4
        one.bench.store.close()
        assert (len(server.listed), len(server.preflights)) == (1, 2)


WIRE = {
    "down": always(SERVER_ERROR),
    "reset": always(RESET),
    "html": always(HTML),
    "busy": always(rate_limited()),
    "words": saying("I'd rather not."),
    "no words": saying(""),
    "refused": always(Reply(refusal="I cannot help with that.")),
    "cut": always(Reply("O", ended="length")),
}


@pytest.mark.parametrize("kind", WIRE)
def test_what_merely_fails_is_left_to_the_calls(lab: Make, server: ScriptedServer, kind: str) -> None:
    """One request, perhaps repeated as any is; it is on record, and no second one is due."""
    server.preflight = WIRE[kind]
    one = lab(LIGHT)
    assert one.try_out() + one.try_out() == ["", ""]
    [row] = one.rows()
    assert row["requests"] == len(server.preflights) <= 2
    assert one.bench.paid_work_stopped() is None


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
