"""H09: the key is nowhere but in the request."""

import os

import pytest
from scripted_server import KEY, Reply, ScriptedServer, always, avoiding, by_model, by_question, running

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

_LOOK = """
import glob, os, json, scipy
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob(os.path.expanduser("~/*")) + ["<root>/secret.txt"]:
    try: print(path, open(path, errors="replace").read()[:2000])
    except OSError as error: print(path, error)
options = json.load(open("problem.json"))["options"]
letter = next(letter for letter, text in options.items() if text == "0.060723")
"""


def test_a_key_is_in_no_file_and_on_no_screen(
    pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    secret = pool.write("secret.txt", KEY)
    look = _LOOK.replace("<root>", str(pool.root))
    pool.add("case-look", look + 'print("ANSWER: 0.060723")')
    pool.add("case-loud", 'import scipy\nprint("ANSWER: 0.060723")')
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    unauthorised = Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"})
    server.script = by_question(
        {"case-loud": always(unauthorised)},
        by_model(
            {
                "screen-model": avoiding(VALUE),
                "agent-model": running(look + "open('answer.txt', 'w').write(letter)"),
            }
        ),
    )
    session = pool.run("-v", "--log-file=log.txt", "--log-file-level=DEBUG", "--log-cli-level=DEBUG", "-rA")
    assert session.verdicts == {
        "case-look": "accepted solve",
        "case-loud": "error screen provider",
    }
    assert {asked.headers["authorization"] for asked in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in session.out
    assert KEY not in session.err
    secret.unlink()
    holding = [
        path
        for directory, _, names in os.walk(pool.root)
        for path in (f"{directory}/{name}" for name in names)
        if KEY.encode() in open(path, "rb").read()  # noqa: PTH123, SIM115 - short-lived
    ]
    assert holding == []
    [run] = pool.rows("SELECT transcript FROM agent_runs")
    assert "environ" in run["transcript"]
    looked = "SELECT stdout FROM script_runs JOIN attempts ON attempts.id = attempt_id WHERE path LIKE '%case-look%'"
    assert "PATH" in pool.rows(looked)[0]["stdout"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<html>" + KEY.encode(), headers={"Content-Type": "text/html"}),
        Reply(f"You sent {KEY}."),
        Reply("ANSWER: A", model=KEY),
    ],
    ids=["html", "words", "model"],
)
def test_a_server_that_echoes_the_key_does_not_get_it_into_the_record(
    pool: Pool, server: ScriptedServer, reply: Reply
) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = always(reply)
    session = pool.run("--toolgate-gates=screen")
    assert KEY not in session.out
    assert KEY not in str(pool.rows("SELECT * FROM replies"))
