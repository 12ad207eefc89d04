"""Reading a reply: the choice it states, in the many ways of stating one."""

import pytest

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
        ("Let's say B is the load.", None),
        ("I would say B.", "B"),
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
    ("text", "expected"),
    [
        ("ANSWER: C. The answer would be A with linear elements.", None),
        ("ANSWER: C\n\nMost people say the answer is A.", "C"),
        ("ANSWER: C\n\nThe answer would be A with linear elements.", None),
        ("ANSWER: C\n\nSorry, I was wrong: the answer is A.", "A"),
    ],
)
def test_prose_behind_the_asked_line_does_not_replace_it(text: str, expected: str | None) -> None:
    """A right answer must not turn into a wrong one, which would let the candidate through."""
    assert letter(text) == expected


def test_a_later_line_of_the_asked_form_is_a_changed_mind() -> None:
    assert letter("ANSWER: C\nNo, the answer is A.\nANSWER: A") == "A"
