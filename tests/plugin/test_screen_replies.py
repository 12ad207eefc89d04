"""Screens over both protocols: what is an answer, what is missing, and what a missing reply may decide."""

from collections.abc import Mapping

import pytest
from scripted_server import (
    EMPTY,
    FILTERED,
    GARBAGE,
    HTML,
    REFUSED,
    RESET,
    SERVER_ERROR,
    TRUNCATED,
    Reply,
    Script,
    ScriptedServer,
    always,
    avoiding,
    by_question,
    choosing,
    in_turn,
    saying,
)

from .pool import PROVIDER, SCREEN, THREE_CALLS, VALUE, Pool

RIGHT, WRONG = choosing(VALUE), avoiding(VALUE)
TOO_LONG = Reply(status=400, error={"message": "maximum context length exceeded", "code": "context_length_exceeded"})
PASSED, EASY = "provisional screen", "rejected screen too-easy"
INCONCLUSIVE, PROVIDER_FAULT = "error screen inconclusive", "error screen provider"

# Of three replies, two right ones reject: what each sequence of replies comes to, and the requests it takes.
SEQUENCES: Mapping[str, tuple[tuple[Script, ...], str, int]] = {
    "never": ((WRONG, WRONG, WRONG), PASSED, 3),
    "once": ((RIGHT, WRONG, WRONG), PASSED, 3),
    "twice": ((RIGHT, WRONG, RIGHT), EASY, 3),
    "twice-at-once": ((RIGHT, RIGHT, WRONG), EASY, 2),
    "missing-in-vain": ((always(GARBAGE), WRONG, WRONG), PASSED, 3),
    "missing-and-right": ((always(EMPTY), RIGHT, WRONG), INCONCLUSIVE, 3),
    "missing-and-easy": ((always(EMPTY), RIGHT, RIGHT), EASY, 3),
    "letter-a": ((saying("A"), saying("The answer is A."), saying("**ANSWER: A**")), "", 3),
}
# What a model that always replies like this comes to, and the status its replies are recorded with.
ALWAYS: Mapping[str, tuple[Reply, str, str]] = {
    "garbage": (GARBAGE, INCONCLUSIVE, "wrong-form"),
    "empty": (EMPTY, INCONCLUSIVE, "empty"),
    "blank": (Reply("  \n"), INCONCLUSIVE, "empty"),
    "truncated": (TRUNCATED, INCONCLUSIVE, "truncated"),
    "truncated-answer": (Reply("ANSWER: A", ended="length"), INCONCLUSIVE, "truncated"),
    "refused": (REFUSED, INCONCLUSIVE, "refused"),
    "filtered": (FILTERED, INCONCLUSIVE, "refused"),
    "error-text": (
        Reply("This model's maximum context length is 8192 tokens."), INCONCLUSIVE, "wrong-form",
    ),
    "bad-request": (TOO_LONG, PROVIDER_FAULT, "failed"),
    "html": (HTML, PROVIDER_FAULT, "failed"),
    "server-error": (SERVER_ERROR, PROVIDER_FAULT, "failed"),
    "reset": (RESET, PROVIDER_FAULT, "failed"),
    "other-model": (Reply("ANSWER: A", model="screen-model-mini"), PROVIDER_FAULT, "failed"),
}  # fmt: skip


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_only_answers_count(pool: Pool, server: ScriptedServer, api: str) -> None:
    for name in (*SEQUENCES, *ALWAYS):
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url, api=api)
    server.script = by_question(
        {f"case-{name}?": in_turn(scripts) for name, (scripts, _, _) in SEQUENCES.items()}
        | {f"case-{name}?": always(reply) for name, (reply, _, _) in ALWAYS.items()},
        otherwise=WRONG,
    )
    session = pool.run("--toolgate-gates=screen", workers=2)

    verdicts = {name.removeprefix("case-"): verdict for name, verdict in session.verdicts.items()}
    assert verdicts.pop("letter-a") in (PASSED, EASY)
    expected = {name: verdict for name, (_, verdict, _) in SEQUENCES.items() if verdict}
    assert verdicts == expected | {name: verdict for name, (_, verdict, _) in ALWAYS.items()}

    def requests(name: str) -> int:
        return sum(f"case-{name}?" in asked.prompt for asked in server.requests)

    assert all(asked.api == api for asked in server.requests)
    assert {name: requests(name) for name in SEQUENCES} == {name: count for name, (_, _, count) in SEQUENCES.items()}
    # Only what may be otherwise the next time is asked again.
    again = {"server-error": 6, "reset": 6}
    assert {name: requests(name) for name in ALWAYS} == {name: again.get(name, 3) for name in ALWAYS}

    replies = pool.recorded("replies")
    for name, (_, verdict, status) in ALWAYS.items():
        assert session.cases[f"case-{name}"].tag == "error"
        assert status in session.line_about(f"case-{name}")
        kinds = {(row["status"], row["correct"]) for row in replies if row["name"] == f"case-{name}"}
        assert kinds == {(status, None)}, (name, verdict)
    assert "maximum context length" in session.line_about("bad-request")
    assert "screen-model-mini" in session.line_about("other-model")
    for row in replies:
        if row["status"] == "answered":
            shown = row["text"].strip("*. ")[-1]
            assert row["chosen"] == row["presentation"]["ABCD".index(shown)]


def test_the_summary_counts_each_kind_for_itself(pool: Pool, server: ScriptedServer) -> None:
    """A19, D03, H17: what went wrong is never counted as wrong, and rates are over what was judged."""
    kinds = {"blank": EMPTY, "ok": Reply("ok"), "cut": TRUNCATED, "no": REFUSED, "down": SERVER_ERROR}
    names = [*kinds, *(f"wrong-{n}" for n in range(3)), "easy-1", "easy-2"]
    for name in names:
        pool.add(f"case-{name}")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = by_question(
        {f"case-{name}?": always(reply) for name, reply in kinds.items()} | {"case-easy": RIGHT},
        otherwise=WRONG,
    )
    session = pool.run("--toolgate-gates=screen")
    assert "replies of screen `light`: 1 empty, 1 failed, 1 refused, 2 right, 1 truncated, 3 wrong, 1 wrong-form" in (
        session.summary
    )
    assert "5 judged, 5 without verdict: 3 provisional, 2 rejected" in session.summary
    assert "2 rejected (2 too-easy)  5 without verdict (4 inconclusive, 1 provider)" in session.summary
    assert "2 failed, 3 passed, 5 errors" in session.out


def test_a_prompt_shows_question_and_options_and_nothing_else(pool: Pool, server: ScriptedServer) -> None:
    pool.add(
        "first",
        'import scipy  # canary-script\nprint("ANSWER: 0.060723")',
        id="canary-id",
        distractors={"A": "canary-mistake"},
        tags=["canary-tag"],
        metadata={"canary": "x"},
    )
    pool.configure(PROVIDER, THREE_CALLS, url=server.base_url)
    server.script = WRONG
    pool.run("--toolgate-gates=screen")
    for asked in server.requests:
        assert "canary" not in str(asked.body)
        assert sorted(asked.options.values()) == ["0.058996", "0.060074", "0.060723", "0.061291"]
        assert set(asked.body) == {"model", "input", "store"}


def test_a_reply_that_does_not_come_in_time_is_missing(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(
        PROVIDER.replace("timeout: 5", "timeout: 0.5").replace("attempts: 2", "attempts: 1"),
        SCREEN,
        url=server.base_url,
    )
    server.script = always(Reply(stall=True))
    session = pool.run("--toolgate-gates=screen")
    assert session.verdicts == {"first": PROVIDER_FAULT}
    assert "no whole reply within 0.5 s" in session.line_about("first")


def test_a_version_of_the_asked_model_is_that_model(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = lambda asked: Reply(f"ANSWER: {asked.letter_of('0.058996')}", model="screen-model-2026-03-01")
    assert pool.run("--toolgate-gates=screen").verdicts == {"first": PASSED}
    assert pool.rows("SELECT model_asked, model_served FROM replies") == [
        {"model_asked": "screen-model", "model_served": "screen-model-2026-03-01"}
    ]


def test_the_first_rejection_ends_the_screens_unless_asked_otherwise(pool: Pool, server: ScriptedServer) -> None:
    pool.add("first")
    screens = SCREEN + "      - {name: strong, provider: fake, model: strong-model, samples: 1, reject_at: 1}\n"
    pool.configure(PROVIDER, screens, url=server.base_url)
    server.script = RIGHT
    session = pool.run("--toolgate-gates=screen")
    assert [asked.model for asked in server.requests] == ["screen-model"]
    assert "screen `light`" in session.line_about("first")
    server.forget()
    assert pool.run("--toolgate-gates=screen", "--toolgate-all-screens").verdicts == {"first": EASY}
    assert [asked.model for asked in server.requests] == ["strong-model"]
