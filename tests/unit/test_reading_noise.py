"""Reading a reply that states no choice: nothing is guessed."""

import pytest

from pytest_toolgate.screen.reading import read_reply

from .items import F1
from .test_reading import WORDS, letter


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ANSWER: (B) 0.060723\nLet me know if you need more.", "B"),
        ("Let me know if you need more.", None),
        ("ANSWER: LETTER", None),
        ("ANSWER: Let me know.", None),
        ("ANSWER: Apple", None),
        ("ANSWER: $LETTER", None),
    ],
    ids=lambda value: f"A09-{value!r}",
)
def test_no_letter_is_taken_out_of_a_word(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "I cannot determine the answer.",
            "Actually I'm unsure",
            "Error: rate limited",
            "",
            " \n",
            "ok",
            "Sure!",
            "?",
        ),
        *(
            "As an AI, I cannot answer.",
            "I don't think the answer is B.",
            "I would not pick B.",
            "I would never choose B.",
        ),
        *(
            "It cannot be the case that the answer is B.",
            "If the answer is B, then x = 1.",
            "Suppose the answer is B",
            "B?",
        ),
        *(
            "ANSWER: B is wrong",
            "The answer isn't B",
            "Answer: not B",
            "B is not correct.",
            "I doubt that the answer is B",
        ),
        *(
            "Neither A nor B is correct.",
            "Could the answer be B?",
            "Is the answer B?",
            "ANSWER: E",
            "ANSWER:",
            "ANSWER: 0.0607",
        ),
        *(
            "ANSWER: B or C",
            "ANSWER: B, C",
            "ANSWER: B and C",
            "ANSWER: B/C",
            "ANSWER: A, B, C or D",
            "ANSWER: BC",
            "ABCD",
        ),
        *(
            "ANSWER: between B and C",
            "ANSWER: <letter>",
            "Reply with ANSWER: and one of A, B, C or D.",
            "A, B",
            "B or C",
        ),
        *(
            "ANSWER: C (0.060723)",
            "ANSWER: A. 0.060723",
            "A. 0.060723",
            "ANSWER: 0.060723 (A)",
            "Bad gateway",
            "Error 429",
        ),
    ],
    ids=lambda reply: f"A11-{reply!r}",
)
def test_noise_is_no_choice(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
        "<html><head><title>502 Bad Gateway</title></head><body>A</body></html>",
        '{"error": {"message": "Rate limit reached for a model", "type": "tokens", "code": "B"}}',
        "I'm sorry, but I can't assist with that request.",
        "Service A is down. Backup D is down as well.",
    ],
    ids=lambda reply: f"D05-{reply[:30]}",
)
def test_error_text_is_no_choice(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ANSWER: 0.060723", "B"),
        ("ANSWER: **0.060723**", "B"),
        ("Answer: $0.060723$.", "B"),
        ("ANSWER: B) 0.060723", "B"),
        ("ANSWER: B - 0.060723", "B"),
        ("ANSWER: B = 0.060723", "B"),
        ("ANSWER: B (0.060723)", "B"),
        ("ANSWER: 0.06072", None),
        ("ANSWER: 0.0607230", None),
        ("The value 0.060723 looks right.", None),
    ],
)
def test_a_value_counts_only_as_the_exact_option_text(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("a car moves", "A"),
        ("ANSWER: a car moves", "A"),
        ("ANSWER: u_h", "C"),
        ("ANSWER: -0.5", "D"),
        ("a car", None),
    ],
)
def test_options_of_words(reply: str, expected: str | None) -> None:
    assert letter(reply, WORDS) == expected


def test_the_notes_tell_kinds_of_failure_apart() -> None:
    """A19."""
    notes = {read_reply(reply, F1).note for reply in ("ok", "ANSWER: B or C", "ANSWER: C (0.060723)", "ANSWER: E")}
    assert len(notes) == 4
