"""`toolgate db explain`: for every call and the agent run, what is reused, or why it is not."""

import json
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scripted_server import (
    EMPTY,
    SERVER_ERROR,
    TRUNCATED,
    Reply,
    Script,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    choosing,
    computing,
    in_turn,
)

from pytest_toolgate.store import Store

from .pool import OPTIONS, PROVIDER, SCREEN, SOLVE, THREE_CALLS, VALUE, Pool

CANDIDATE = "candidates/first.yaml"
WRONG = avoiding(VALUE)
ONCE = PROVIDER.replace("attempts: 2", "attempts: 1")


def proven(script: Script) -> Script:
    """The preflight asks without options; anything else is up to the script."""
    return lambda asked: script(asked) if asked.options else Reply("OK")


def command(pool: Pool, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`toolgate db explain`, run where its user would."""
    program = Path(sys.executable).with_name("toolgate")
    return subprocess.run(
        [program, "db", "explain", *arguments], cwd=pool.root, capture_output=True, text=True, timeout=60, check=False
    )


def explain(pool: Pool, *arguments: str) -> list[str]:
    """What it prints of the candidate, a line each."""
    done = command(pool, CANDIDATE, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def refused(pool: Pool, *arguments: str) -> str:
    """Its complaint."""
    done = command(pool, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def asked_once(pool: Pool, server: ScriptedServer, *parts: str, gates: str = "screen") -> None:
    """The candidate after one run."""
    pool.add("first")
    pool.configure(PROVIDER, *parts, url=server.base_url)
    server.script = proven(by_model({"screen-model": WRONG, "agent-model": computing(VALUE)}))
    pool.run(f"--toolgate-gates={gates}")


def test_what_is_reused_is_named_with_its_run_and_time(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN, SOLVE, gates="screen,solve")
    [reply] = pool.rows("SELECT * FROM replies")
    [run] = pool.rows("SELECT * FROM agent_runs")
    assert explain(pool) == [
        f"screen `light`, call 0: reused: reply {reply['id']} of run {reply['run_id']}, {reply['time']}",
        f"agent `builtin`: reused: agent run {run['id']} of run {run['run_id']}, {run['time']}",
    ]
    found: list[dict[str, Any]] = json.loads("\n".join(explain(pool, "--json")))
    assert [(each["state"], each["call"], each["reused"]) for each in found] == [
        ("reused", 0, reply["id"]),
        ("reused", None, run["id"]),
    ]
    assert found[0]["reuse_key"] == reply["reuse_key"]
    assert (found[1]["run"], found[1]["time"]) == (run["run_id"], run["time"])


def test_what_was_never_asked(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN)
    pool.configure(PROVIDER, THREE_CALLS, SOLVE, url=server.base_url)
    assert [line.split(": ")[1] for line in explain(pool)] == ["reused", "never asked", "never asked", "never asked"]
    pool.add("second")
    done = command(pool, "candidates/second.yaml")
    assert re.findall(r": ([a-z ]+)$", done.stdout, flags=re.MULTILINE) == ["never asked"] * 4


def test_failed_replies_are_never_reused(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(ONCE, THREE_CALLS.replace("reject_at: 2", "reject_at: 1"), url=server.base_url)
    server.script = proven(in_turn([always(TRUNCATED), always(EMPTY), WRONG, always(SERVER_ERROR), always(TRUNCATED)]))
    for _ in range(2):
        pool.run("--toolgate-gates=screen")
    first, second, third = explain(pool)
    assert first.startswith("screen `light`, call 0: asked again: the last of 2 replies under this request ended as `")
    assert re.search(r"`failed` \(.*500", first)
    assert "asked again: the last of 2 replies under this request ended as `truncated` (" in second
    assert "call 2: reused: " in third


def test_an_agent_run_without_a_verdict_is_never_reused(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(ONCE, SOLVE, url=server.base_url)
    server.script = always(SERVER_ERROR)
    pool.run("--toolgate-gates=solve")
    [line] = explain(pool)
    assert line.startswith("agent `builtin`: asked again: the only agent run under this key ended as `provider` (")


def test_calls_that_recorded_replies_make_needless(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = proven(choosing(VALUE))
    pool.run("--toolgate-gates=screen")
    decided = "not needed: the recorded replies decide already (2 of 3 correct, 1 missing)"
    assert explain(pool)[2] == f"screen `light`, call 2: {decided}"


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [
        ("model: screen-model", "model: new-model", "model: was `screen-model`, now `new-model`"),
        ("samples: 1", "samples: 1, reasoning: low", "reasoning: was not set, now `low`"),
        ("samples: 1", "samples: 1, max_output_tokens: 9", "max_output_tokens: was not set, now `9`"),
        ("samples: 1", "samples: 1, mode: choices-only", None),
        ("name: light", "name: other", "name of the screen: was `light`, now `other`"),
        ("/v1", "/v2", "server: base_url: was `<url>`, now `<url2>`"),
    ],
    ids=["model", "reasoning", "max_output_tokens", "mode", "name", "server"],
)
def test_a_setting_that_makes_another_request_is_named(
    pool: Pool, server: ScriptedServer, before: str, now: str, named: str | None
) -> None:
    asked_once(pool, server, SCREEN)
    text = (pool.root / "toolgate.yaml").read_text("utf-8").replace(before, now)
    if named is None:  # one screen at least must decide
        text += "  - {name: last, provider: fake, model: m}\n"
        named = "mode: was not set, now `choices-only`"
    pool.write("toolgate.yaml", text)
    named = named.replace("<url2>", server.base_url.replace("/v1", "/v2")).replace("<url>", server.base_url)
    [line] = [line for line in explain(pool) if "`last`" not in line]
    [reply] = pool.rows("SELECT time FROM replies")
    assert line.endswith(f", call 0: changed: {named} (asked {reply['time']})")


def test_what_changed_in_the_candidate_is_named(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN, SOLVE, gates="screen,solve")
    pool.add("first", tags=["new"], answer="A")
    assert ["reused" in line for line in explain(pool)] == [True, True]
    pool.add("first", question="What else?")
    assert ["changed: question changed (asked " in line for line in explain(pool)] == [True, True]
    pool.add("first", options={**OPTIONS, "A": "0.5"})
    assert ["changed: options changed (asked " in line for line in explain(pool)] == [True, True]


def test_a_file_that_was_renamed_is_found_by_what_it_asks(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN, SOLVE, gates="screen,solve")
    (pool.root / CANDIDATE).rename(pool.root / "candidates/renamed.yaml")
    assert command(pool, "candidates/renamed.yaml").stdout.count(": reused: ") == 2
    done = command(pool, str(pool.root / "candidates" / "renamed.yaml"), "--seed=3")
    assert done.stdout.count(": changed: seed: was `0`, now `3` (asked ") == 2


def test_settings_of_the_agent_are_named(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SOLVE, gates="solve")
    pool.configure(
        PROVIDER, SOLVE.replace("max_turns: 3", "max_turns: 4, hints: true, tools: functions"), url=server.base_url
    )
    [line] = explain(pool, "--seed", "1")
    changes = (
        "seed: was `0`, now `1`; max_turns: was `3`, now `4`; hints: was `False`, now `True`; "
        "tools: was `auto`, now `functions`"
    )
    assert f"agent `builtin`: changed: {changes} (asked " in line
    with closing(Store(pool.database)) as store:
        store.query("UPDATE runs SET version = '0.0.1'")
        store.query('UPDATE agent_runs SET environment = \'{"packages": {"scipy": "1.0"}}\'')
    pool.configure(PROVIDER, SOLVE, url=server.base_url)
    assert "reused" in explain(pool)[0]
    with closing(Store(pool.database)) as store:
        store.query("UPDATE agent_runs SET reuse_key = 'of-then'")
    [line] = explain(pool)
    assert "scipy: was `1.0`, now `" in line
    assert "pytest-toolgate: was `0.0.1`, now `0.1.0`" in line


def test_an_instruction_of_another_version_is_named(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN)
    with closing(Store(pool.database)) as store:
        changed = "json_set(request, '$.messages[0].content', 'Guess.')"
        store.query(f"UPDATE replies SET reuse_key = 'of-then', request = {changed}")
    assert "call 0: changed: instruction changed (asked " in explain(pool)[0]
    with closing(Store(pool.database)) as store:
        store.query("UPDATE replies SET request = '{}'")
    assert "changed: nothing recorded says how; pytest-toolgate was 0.1.0 (asked " in explain(pool)[0]


def test_words_of_a_server_are_no_commands_to_a_terminal(pool: Pool, server: ScriptedServer) -> None:
    asked_once(pool, server, SCREEN)
    with closing(Store(pool.database)) as store:
        note = "\x1b[2Jgone\n" + "x" * 5000
        store.query("UPDATE replies SET status = 'failed', note = ?", [note])
    [line] = explain(pool)
    assert "\\x1b[2Jgone xxx" in line
    assert len(line) < 1000


def test_what_cannot_be_explained_is_one_sentence(pool: Pool) -> None:
    pool.add("first")
    assert "there is no database" in refused(pool, CANDIDATE)
    Store(pool.database).close()
    assert "neither `screens` nor `solve`" in refused(pool, CANDIDATE)
    pool.configure(PROVIDER, SCREEN, url="http://127.0.0.1:9/v1", api="chat")
    assert "candidates/none.yaml cannot be read: No such file" in refused(pool, "candidates/none.yaml")
    pool.write("candidates/broken.yaml", "question: [")
    assert "nothing is asked about a candidate with faults: candidates/broken.yaml:" in refused(
        pool, "candidates/broken.yaml"
    )
    assert "none.yaml: cannot be read: No such file" in refused(pool, CANDIDATE, "--config=none.yaml")


# --- several solvers and control runs ------------------------------------------------------------------------

_RUN = "provider: fake, model: agent-model, time_limit: 20, max_turns: 3"
_TWO = f"    solve:\n      - {{name: one, {_RUN}, control: true}}\n      - {{name: two, {_RUN}}}\n"


def test_every_solver_and_every_control_run_has_its_line(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, _TWO, url=server.base_url)
    Store(pool.database).close()
    names = ["solver `one`", "control of solver `one`", "solver `two`"]
    assert explain(pool) == [f"{name}: never asked" for name in names]
    server.script = computing(VALUE)  # its model answers where the software is missing, too
    pool.run("--toolgate-gates=solve")
    reused, control, other = explain(pool)
    assert reused.startswith("solver `one`: reused: agent run ")
    assert control.startswith("control of solver `one`: reused: agent run ")
    assert other == "solver `two`: not needed: the recorded agent runs decide already"

    pool.configure(PROVIDER, _TWO, "accept: all\n", url=server.base_url)
    assert explain(pool)[2] == "solver `two`: never asked"
    pool.configure(PROVIDER, _TWO.replace("name: one", "name: new"), "accept: all\n", url=server.base_url)
    renamed, control, _ = explain(pool)
    assert "solver `new`: changed: name: was `one`, now `new` (asked " in renamed
    assert "control of solver `new`: changed: name: was `one`, now `new` (asked " in control


def test_what_was_not_solved_needs_no_control_run(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SOLVE.replace("max_turns: 3", "max_turns: 3, control: true"), url=server.base_url)
    server.script = computing("0.058996")
    pool.run("--toolgate-gates=solve")
    solve, control = explain(pool)
    assert solve.startswith("agent `builtin`: reused: ")
    assert control == "control of agent `builtin`: not needed: the recorded agent runs decide already"
