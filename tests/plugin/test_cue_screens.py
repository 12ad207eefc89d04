"""What the options or the question alone give away: reported, recorded, and never a verdict."""

import json

import pytest
from scripted_server import (
    GARBAGE,
    QUOTA,
    SERVER_ERROR,
    Asked,
    Reply,
    ScriptedServer,
    always,
    avoiding,
    by_model,
    by_question,
    choosing,
    computing,
    saying,
)

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

ONE = "--toolgate-gates=screen"
WRONG, RIGHT = avoiding(VALUE), choosing(VALUE)
PASSED, EASY = "provisional screen", "rejected screen too-easy"
TWICE = "provider: fake, samples: 2, reject_at: 2"
CHOICES = f"      - {{name: choices, model: choices-model, mode: choices-only, {TWICE}}}\n"
QUESTION = f"      - {{name: blind, model: question-model, mode: question-only, {TWICE}}}\n"
# A screen that comes first in the file and last in a run.
CUES_FIRST = SCREEN.replace("screens:\n", f"screens:\n{CHOICES}{QUESTION}")
GUESSERS = ["closest-to-mean", "first-letter", "longest-option", "middle-value", "most-shared-digits"]


def cue_line(summary: str) -> list[str]:
    """The lines about guessers."""
    return [line for line in summary.splitlines() if line.startswith("cues (chance 25 %): a ")]


@pytest.fixture
def played(server: ScriptedServer) -> ScriptedServer:
    """The verdict screen finds out `case-easy`; both cue screens are always right."""
    server.script = by_model({
        "screen-model": by_question({"case-easy": RIGHT}, WRONG),
        "choices-model": RIGHT,
        "question-model": saying(f"ANSWER: {VALUE}"),
        "agent-model": computing(VALUE),
    })  # fmt: skip
    return server


def test_a_cue_screen_that_is_always_right_rejects_nothing(pool: Pool, played: ScriptedServer) -> None:
    for name in ("case-a", "case-b", "case-easy"):
        pool.add(name)
    pool.configure(PROVIDER, CUES_FIRST, url=played.base_url)
    session = pool.run(ONE, workers=2)
    assert session.verdicts == {"case-a": PASSED, "case-b": PASSED, "case-easy": EASY}
    assert "replies of screen `light`: 1 right, 2 wrong" in session.summary
    assert "replies of cue screen `choices`: 4 right" in session.summary
    assert "replies of cue screen `blind`: 4 right" in session.summary
    # Asked last, about what has passed the others.
    by_candidate = [[asked.model for asked in played.requests if name in asked.prompt] for name in ("case-a", "case-b")]
    assert by_candidate == [["screen-model", "question-model", "question-model"]] * 2
    assert not [asked for asked in played.requests if asked.model != "screen-model" and "case-easy" in asked.prompt]
    assert sum(asked.model == "choices-model" for asked in played.requests) == 4
    # Guessers are scored on the same ones, in one line.
    assert sorted((row["name"], row["cue"]) for row in pool.recorded("cues")) == [
        (name, cue) for name in ("case-a", "case-b") for cue in GUESSERS
    ]
    [line] = cue_line(session.summary)
    assert all(name in line for name in GUESSERS)
    assert "items)" not in line

    played.forget()
    again = pool.run(ONE)
    assert (played.count, len(played.preflights)) == (0, 0)
    assert again.verdicts == session.verdicts
    assert "replies of cue screen `blind`: 4 right" in again.summary
    assert cue_line(again.summary) == [line]


def test_each_mode_withholds_what_it_says(pool: Pool, played: ScriptedServer) -> None:
    pool.add("case-a")
    pool.configure(PROVIDER, CUES_FIRST, url=played.base_url, api="chat")
    assert pool.run(ONE).verdicts == {"case-a": PASSED}
    sent = {asked.model: json.dumps(asked.body) for asked in played.requests}
    question, options = "What is the value of case-a?", ["0.058996", "0.060723", "0.060074", "0.061291"]
    assert question in sent["screen-model"]
    assert all(option in sent["screen-model"] for option in options)
    assert "case-a" not in sent["choices-model"]
    assert all(option in sent["choices-model"] for option in options)
    assert question in sent["question-model"]
    assert not [option for option in options if option in sent["question-model"]]
    assert "A)" not in sent["question-model"]
    rows = pool.rows("SELECT DISTINCT screen, value, correct, json_extract(settings, '$.mode') AS mode FROM replies")
    found = {row["screen"]: (row["value"] == VALUE, row["correct"], row["mode"]) for row in rows}
    assert found == {
        "light": (False, 0, None),
        "choices": (True, 1, "choices-only"),
        "blind": (True, 1, "question-only"),
    }


def test_a_stated_value_is_matched_as_a_printed_one_is_and_never_to_the_nearest(
    pool: Pool, server: ScriptedServer
) -> None:
    """Right where it rounds to the answer; wrong where it is another number; no answer where it is none."""
    stated = {
        "case-rounds": "**ANSWER:** 0.0607232891", "case-near": "ANSWER: 0.0607", "case-other": "0.060074",
        "case-letter": "ANSWER: B", "case-none": "I cannot compute that without tools.",
    }  # fmt: skip
    for name in stated:
        pool.add(name)
    pool.configure(
        PROVIDER, SCREEN + QUESTION.replace(TWICE, "provider: fake, samples: 1, reject_at: 1"), url=server.base_url
    )
    server.script = by_model({
        "screen-model": WRONG,
        "question-model": by_question({name: saying(text) for name, text in stated.items()}, always(GARBAGE)),
    })  # fmt: skip
    session = pool.run(ONE)
    assert set(session.verdicts.values()) == {PASSED}
    assert "replies of cue screen `blind`: 1 right, 2 wrong, 2 wrong-form" in session.summary
    replies = [row for row in pool.recorded("replies") if row["screen"] == "blind"]
    assert {row["name"]: (row["status"], row["chosen"], row["value"], row["correct"]) for row in replies} == {
        "case-rounds": ("answered", "B", VALUE, 1),
        "case-near": ("answered", None, "0.0607", 0),
        "case-other": ("answered", "C", "0.060074", 0),
        "case-letter": ("wrong-form", None, None, None),
        "case-none": ("wrong-form", None, None, None),
    }


def test_a_cue_screen_that_fails_changes_no_verdict(pool: Pool, server: ScriptedServer) -> None:
    """No server, no key, a server that is down, one that says nothing of use: the candidate has passed all the same."""
    for name in ("case-a", "case-easy"):
        pool.add(name)
    providers = (
        PROVIDER.rstrip()
        + """
      dead: {base_url: "http://127.0.0.1:9/v1", retries: {attempts: 1}}
      keyless: {api_key_env: NO_SUCH_KEY}
    """
    )
    failing = [
        ("dead", "x"),
        ("keyless", "x"),
        ("fake", "down-model"),
        ("fake", "odd-model"),
        ("fake", "choices-model"),
    ]
    cues = "".join(
        f"      - {{name: cue-{number}, provider: {provider}, model: {model}, mode: choices-only}}\n"
        for number, (provider, model) in enumerate(failing)
    )
    pool.configure(providers.replace("attempts: 2", "attempts: 1"), SCREEN + cues, url=server.base_url)
    server.preflight = saying("OK")
    server.script = by_model({
        "screen-model": by_question({"case-easy": RIGHT}, WRONG),
        "down-model": always(SERVER_ERROR), "odd-model": always(GARBAGE), "choices-model": RIGHT,
    })  # fmt: skip
    session = pool.run(ONE)
    assert session.verdicts == {"case-a": PASSED, "case-easy": EASY}
    assert session.code == 1  # for the one that is too easy
    assert "replies of cue screen `cue-2`: 3 failed" in session.summary
    assert "replies of cue screen `cue-3`: 3 wrong-form" in session.summary
    assert "replies of cue screen `cue-4`: 2 right" in session.summary
    assert "error" not in session.line_about("case-a")
    assert {row["cue"] for row in pool.recorded("cues")} == set(GUESSERS)


@pytest.mark.parametrize("where", ["preflight", "call"])
def test_an_account_that_is_exhausted_by_a_cue_screen_takes_no_verdict_back(
    pool: Pool, server: ScriptedServer, where: str
) -> None:
    pool.add("case-a")
    pool.configure(PROVIDER, SCREEN + CHOICES, url=server.base_url)
    exhausted = {"choices-model": always(QUOTA)}
    server.script = by_model({"screen-model": WRONG, **exhausted})
    if where == "preflight":
        server.preflight = by_model({"screen-model": saying("OK"), **exhausted})
    session = pool.run(ONE)
    assert session.verdicts == {"case-a": PASSED}
    assert session.code == 0
    assert "paid work of this run was stopped: provider `fake`" in session.summary


def test_cue_screens_alone_are_no_gate(pool: Pool, server: ScriptedServer) -> None:
    pool.add("case-a")
    pool.configure(PROVIDER, f"screens:\n{CHOICES}{QUESTION}", url=server.base_url)
    session = pool.run()
    assert session.code == 4
    [line] = [line for line in (session.out + session.err).splitlines() if "toolgate.yaml" in line]
    assert "need at least one screen without `mode`: cue screens are reported and decide nothing" in line
    assert "Traceback" not in session.out + session.err
    assert server.count == 0


def test_an_unknown_mode_is_refused_with_the_known_ones(pool: Pool, server: ScriptedServer) -> None:
    pool.add("case-a")
    pool.configure(PROVIDER, SCREEN + CHOICES.replace("choices-only", "options-only"), url=server.base_url)
    session = pool.run()
    assert session.code == 4
    assert "must be one of choices-only, question-only, not `options-only`" in session.out + session.err


def test_the_accepted_record_holds_the_cues(pool: Pool, played: ScriptedServer) -> None:
    pool.add("case-a")
    pool.add("case-text", options={"A": "cube", "B": "a plane triangle", "C": "sphere", "D": "line"},
             solution="import scipy\nprint('ANSWER: a plane triangle')\n")  # fmt: skip

    def by_letter(asked: Asked) -> Reply:
        return Reply(f"ANSWER: {next(k for k, text in asked.options.items() if text in ('sphere', '0.060074'))}")

    pool.configure(PROVIDER, VERIFY, SCREEN + CHOICES, SOLVE, url=played.base_url)
    triangle = computing("a plane triangle")
    played.script = by_model({
        "screen-model": by_letter, "choices-model": by_letter,
        "agent-model": by_question({"case-text": triangle}, computing(VALUE)),
    })  # fmt: skip
    session = pool.run()
    assert session.verdicts == {"case-a": "accepted solve", "case-text": "accepted solve"}
    [line] = cue_line(session.summary)
    assert "longest-option" in line
    assert "(1 of 2 items)" in line
    records = {
        name: json.loads((pool.root / "accepted" / f"{name}.json").read_text("utf-8"))["record"]
        for name in session.verdicts
    }
    cues = {
        name: {cue["cue"]: (cue["picks"], cue["score"]) for cue in record["cues"]} for name, record in records.items()
    }
    assert cues["case-text"] == {
        "longest-option": ("B", 1.0), "first-letter": ("A", 0.0),
        "middle-value": ("", None), "closest-to-mean": ("", None), "most-shared-digits": ("", None),
    }  # fmt: skip
    assert cues["case-a"]["middle-value"] == ("BC", 0.5)
    assert {reply["screen"] for reply in records["case-a"]["replies"]} == {"light", "choices"}
