"""Reading a reply: nothing is guessed, and a choice is a statement."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.presentation import ORDERS, Presentation
from pytest_toolgate.screen.reading import read_reply

from .items import F1

WORDS = {"A": "a car moves", "B": "the mesh", "C": "$u_h$", "D": "−0.5"}


def letter(reply: str, shown: dict[str, str] = F1) -> str | None:
    reading = read_reply(reply, shown)
    assert bool(reading.note) is (reading.letter is None)
    return reading.letter


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "ANSWER: $B$",
            "ANSWER: **B**",
            "**ANSWER: B**",
            "ANSWER: (B)",
            "ANSWER: \\boxed{B}",
            "ANSWER: \\text{B}",
        ),
        *(
            "ANSWER: [B].",
            "ANSWER：B",
            "ANSWER: `B`",
            'ANSWER: "B"',
            "ANSWER: “B”",
            "ANSWER: 'B'",
            "ANSWER: {B}",
            "ANSWER: <B>",
        ),
        *(
            "ANSWER: **(B)**",
            "**ANSWER:** B",
            "ANSWER: $\\boxed{B}$",
            "ANSWER: $\\boxed{\\text{B}}$",
            "ANSWER: \\(\\boxed{B}\\)",
        ),
        *(
            "ANSWER: \\[B\\]",
            "ANSWER: \\mathbf{B}",
            "ANSWER: \\textbf{(B)}",
            "ANSWER: Ｂ",
            "ANSWER: （B）",
            "ANSWER: Ⓑ",
        ),
        *(
            "ANSWER:B",
            "ANSWER : B",
            "answer: b",
            "Answer=B",
            "Answer - B",
            "ANSWER — B",
            "ANSWER -> B",
            "ANSWER:\u00a0B",
        ),
        *(
            "ANSWER: B)",
            "ANSWER: B.\n",
            "ANSWER: ✅ B",
            "ANSWER: \u200bB",
            "\ufeffANSWER: B",
            "ANSWER: B<|im_end|>",
            "ANSWER: B</s>",
        ),
        *(
            "ANSWER: Option B",
            "ANSWER: option (B)",
            "ANSWER: the letter B",
            "ANSWER: choice B",
            "<answer>B</answer>",
        ),
        *(
            '{"answer": "B"}',
            "> ANSWER: B",
            "- ANSWER: B",
            "## Answer: B",
            "### Answer\nB",
            "### Answer\n\n**B**",
            "ANSWER:\nB",
        ),
        *("\\boxed{B}", "$\\boxed{\\mathrm{B}}$", "The final answer is $\\boxed{B}$."),
    ],
    ids=lambda reply: f"A01-{reply!r}",
)
def test_a_wrapped_letter(reply: str) -> None:
    assert letter(reply) == "B"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Antwort:\n\nAntwort: C", "C"),
        ("Réponse : C", "C"),
        ("答案：C", "C"),
        ("Antwort folgt.", None),
        ("Die Antwort ist C.", "C"),
        ("Die richtige Antwort lautet C.", "C"),
        ("La respuesta correcta es C.", "C"),
        ("Respuesta: **C**", "C"),
        ("La bonne réponse est la C.", "C"),
        ("Re\u0301ponse : C", "C"),
        ("Ответ: C", "C"),
        ("正确答案是 C", "C"),
        ("答案是：C。", "C"),
        ("正解：C", "C"),
        ("答えはCです", "C"),
        ("我选 C。", "C"),
        ("정답은 C입니다", "C"),
        ("الإجابة: C", "C"),
        ("Risposta: C", "C"),
        ("Resposta: C", "C"),
        ("Odpowiedź: C", "C"),
        ("La réponse suit.", None),
        ("答案如下。", None),
        ("Die Antwort ist nicht C.", None),
    ],
    ids=lambda value: f"A03-{value!r}",
)
def test_another_language(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "A、C、D 都不对，只有选项 B 是对的。",
        "A, C and D are wrong, only B remains.",
        "不选 A，答案是 B",
        "The answer is not A, it is B.",
        "A and C can be excluded. D is too large.",
    ],
    ids=lambda reply: f"A13-{reply}",
)
def test_excluded_letters_are_no_choice(reply: str) -> None:
    assert letter(reply) in ("B", None)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer is B because a car moves.", "B"),
        ("I would pick B — a safe choice.", "B"),
        ("d", "D"),
        ("b. 0.060723", "B"),
        ("B", "B"),
        (" (B) ", "B"),
        ("[B]", "B"),
        ("B)", "B"),
        ("**B**", "B"),
        ("a", "A"),
        ("A", "A"),
        ("(b) 0.060723", "B"),
        ("B: 0.060723", "B"),
        ("0.060723", "B"),
        ("$0.060723$.", "B"),
        ("I'd choose C.", "C"),
        ("I’ll go with (A).", "A"),
        ("I am going with A", "A"),
        ("Let's go with D.", "D"),
        ("My choice is B", "B"),
        ("Correct option: B", "B"),
        ("Option: B", "B"),
        ("The answer should be B.", "B"),
        ("So the answer must therefore be B.", "B"),
        ("Therefore, B is correct.", "B"),
        ("Option B is correct.", "B"),
        ("B is the correct answer.", "B"),
        ("The answer is (A) because it fits.", "A"),
        ("The answer is A because it fits.", "A"),
        ("B\n\nThe integral converges.", "B"),
        ("The integral converges.\n\n**B**", "B"),
        ("Computing this by hand gives\n0.060723", "B"),
        ("The answer is A good fit.", None),
        ("The answer is a number.", None),
        ("The answer is c.", "C"),
        ("The answer is C_1.", None),
        ("The answer is B-splines.", None),
        ("Answer: C++", None),
        ("The answer is D'oh.", None),
        ("Let us choose A = 1 and go on.", None),
        ("We choose C such that it fits.", None),
        ("Is B correct?", None),
        ("A car moves.", None),
        ("A good question.", None),
        ("A\nB\nC\nD", None),
    ],
    ids=lambda value: f"A05-{value!r}",
)
def test_a_bare_letter(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Answer: A\nChecking again, that is wrong.\nAnswer: B", "B"),
        ("ANSWER: A ANSWER: B", "B"),
        ("Answer: A? No. Answer: B", "B"),
        ("The answer is A. No, the answer is B.", "B"),
        ("Answer: A\nThat's incorrect; the answer is B.", "B"),
        ("<think>ANSWER: A</think>\nANSWER: B", "B"),
        ("I would pick A. On reflection: ANSWER: 0.060723", "B"),
        ("ANSWER: B\nA is correct only for coarse meshes.", "B"),
        ("ANSWER: B\n\nA is too small, and C is wrong.", "B"),
        ("ANSWER: A\nANSWER: E", None),
        ("ANSWER: A\nANSWER: none of these", None),
        ("ANSWER: A\nANSWER: B or C", None),
        ("ANSWER: A\nANSWER: (B) 0.060074", None),
        ("<think>ANSWER: A", None),
    ],
    ids=lambda value: f"A07-{value!r}",
)
def test_a_changed_mind(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


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
    notes = {
        read_reply(reply, F1).note for reply in ("ok", "ANSWER: B or C", "ANSWER: C (0.060723)", "ANSWER: E")
    }
    assert len(notes) == 4


_FORMS = [
    "ANSWER: {}",
    "ANSWER: {}\n",
    "answer: {}",
    "ANSWER: {}) {text}",
    "ANSWER: ({}) {text}",
    "{}",
    "({})",
    "{}. {text}",
]


@pytest.mark.parametrize("order", ORDERS, ids="".join)
@pytest.mark.parametrize("form", _FORMS)
def test_the_form_we_ask_for_reads_back_as_every_letter(order: tuple[str, ...], form: str) -> None:
    shown = Presentation(order).show(F1)
    for chosen in "ABCD":
        assert letter(form.format(chosen, text=shown[chosen]), shown) == chosen


_OPTION = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=30)
_PIECES = st.sampled_from(
    [
        "ANSWER",
        ":",
        " ",
        "\n",
        "B",
        "a",
        "C",
        "is",
        "not",
        "**",
        "$",
        "\\boxed{",
        "}",
        "(",
        ")",
        "or",
        "答案",
        "0.060723",
        ".",
        "?",
    ]
)


@given(
    reply=st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join)),
    texts=st.lists(_OPTION, min_size=4, max_size=4),
)
def test_no_reply_raises(reply: str, texts: list[str]) -> None:
    for shown in (F1, dict(zip("ABCD", texts, strict=True))):
        assert letter(reply, shown) in ("A", "B", "C", "D", None)


@given(chosen=st.sampled_from("ABCD"), before=st.text(max_size=80))
def test_a_last_line_in_the_form_we_ask_for_wins(chosen: str, before: str) -> None:
    assert letter(f"{before}\n\nANSWER: {chosen}") == chosen or "<" in before


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param("Perhaps (B)? " + "-" * 100_000, None, id="A15-dashes"),
        pytest.param("Perhaps (B)? " + "*" * 100_000, None, id="A15-stars"),
        pytest.param("ANSWER: " + "$" * 100_000, None, id="A15-dollars"),
        pytest.param("ANSWER: B" + " " * 100_000, "B", id="A15-spaces"),
        pytest.param("\\boxed{" * 20_000, None, id="A15-braces"),
    ],
)
def test_a_degenerate_reply_is_read_at_once(reply: str, expected: str | None) -> None:
    begun = time.process_time()
    assert letter(reply) == expected
    assert time.process_time() - begun < 0.1


LONG = {key: f"{key.lower()} " * 900 for key in "ABCD"}
_HOSTILE = [
    "answer: B ",
    "answer:\n",
    "ANSWER: B\n",
    "a",
    "\n",
    "- ",
    "<think>",
    "\\text{",
    "\u0301\u0323",
    "if the answer is B, ",
    "B is ",
    "不选B",
]


@pytest.mark.parametrize("shown", [F1, LONG], ids=["F1", "long-options"])
@pytest.mark.parametrize("piece", _HOSTILE)
def test_a_megabyte_is_read_in_linear_time(piece: str, shown: dict[str, str]) -> None:
    begun = time.process_time()
    read_reply(piece * (1_000_000 // len(piece)), shown)
    assert time.process_time() - begun < 2
