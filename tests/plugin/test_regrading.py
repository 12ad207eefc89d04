"""A recorded reply is graded by what the model had seen and by what the candidate says now."""

from collections.abc import Iterator
from pathlib import Path

from scripted_server import ScriptedServer, avoiding, by_model, choosing, saying

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.config import ProviderSettings, ScreenSettings
from pytest_toolgate.gates.calls import screen_calls

from .pool import OPTIONS, PROVIDER, SCREEN, VALUE, Pool

ONE = "--toolgate-gates=screen"
SWAPPED = {"A": OPTIONS["B"], "B": OPTIONS["A"], "C": OPTIONS["C"], "D": OPTIONS["D"]}
LIGHT = ScreenSettings("light", "fake", "screen-model", samples=1, reject_at=1)


def shown_alike() -> Iterator[str]:
    """Names of candidates of whom a swap of two options in the file shows, by chance, nothing new to the screen."""
    for number in range(1000):
        question = f"What is the value of case-{number}?"
        pair = [
            Candidate(f"case-{number}", question, options, letter, "", "scipy", Path("x.yaml"))
            for options, letter in ((OPTIONS, "B"), (SWAPPED, "A"))
        ]
        first, second = (screen_calls(item, LIGHT, ProviderSettings("fake"), 0)[0].request for item in pair)
        if first == second:
            yield f"case-{number}"


def test_options_in_another_order_do_not_turn_a_right_reply_into_a_wrong_one(
    pool: Pool, server: ScriptedServer
) -> None:
    """A wrong reply lets a candidate through: graded by the letters of then it would be through."""
    name = next(shown_alike())
    pool.add(name)
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = choosing(VALUE)
    assert pool.run(ONE).verdicts == {name: "rejected screen too-easy"}
    pool.add(name, options=SWAPPED, answer="A")
    session = pool.run(ONE)
    assert server.count == 1
    assert session.verdicts == {name: "rejected screen too-easy"}


def test_the_summary_counts_replies_as_they_count_now(pool: Pool, server: ScriptedServer) -> None:
    """After an edit of the answer, and of the options: the prompt of a question-only screen does not hold them."""
    asked_once = "provider: fake, samples: 1, reject_at: 1"
    cue = f"      - {{name: blind, model: question-model, mode: question-only, {asked_once}}}\n"
    pool.add("case-answer")
    pool.add("case-options")
    pool.configure(PROVIDER, SCREEN + cue, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "question-model": saying("ANSWER: 0.070001")})
    before = pool.run(ONE)
    assert "replies of screen `light`: 2 wrong" in before.summary
    assert "replies of cue screen `blind`: 2 wrong" in before.summary

    [reply] = [row for row in pool.recorded("replies") if (row["name"], row["screen"]) == ("case-answer", "light")]
    pool.add("case-answer", answer=reply["chosen"])
    pool.add("case-options", options={**OPTIONS, "B": "0.070001"})
    server.script = by_model({"screen-model": avoiding("0.070001")})
    after = pool.run(ONE)
    assert after.verdicts == {"case-answer": "rejected screen too-easy", "case-options": "provisional screen"}
    assert "replies of screen `light`: 1 right, 1 wrong" in after.summary
    assert "replies of cue screen `blind`: 1 right" in after.summary
