"""Reading any reply: never an exception, always linear time, our own form always understood, no letter of a word."""

import re
import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_toolgate.candidate.presentation import ORDERS, Presentation
from pytest_toolgate.screen.reading import read_reply

from .items import F1
from .test_reading import letter

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


# --- any text ---------------------------------------------------------------------------------------------------

_OPTION = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=30)
_WORDS = [
    "is",
    "not",
    "or",
    "the ",
    "answer",
    "Answer",
    "ANSWER",
    "correct",
    "Wait",
    "option ",
    "答案",
    "是",
    "です",
    "Ответ",
]
_SIGNS = [
    ":",
    " ",
    "\n",
    "\n\n",
    ".",
    ",",
    "?",
    "(",
    ")",
    "**",
    "$",
    "\\boxed{",
    "}",
    '"',
    "{",
    "|",
    "~~",
    "```",
    "—",
    "-",
]
_PIECES = st.sampled_from(
    [*_WORDS, *_SIGNS, "B", "a", "C", "0.060723", "Question", "<think>", "</think>", "<|im_end|>"]
)
_ANY = st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join))


@given(reply=_ANY, texts=st.lists(_OPTION, min_size=4, max_size=4))
def test_no_reply_raises(reply: str, texts: list[str]) -> None:
    for shown in (F1, dict(zip("ABCD", texts, strict=True))):
        assert letter(reply, shown) in ("A", "B", "C", "D", None)


@given(
    chosen=st.sampled_from("ABCD"),
    before=st.one_of(
        st.text(max_size=80),
        # Not the words that begin another question, or thinking: what stands behind those is not our answer.
        st.lists(st.sampled_from([*_WORDS, *_SIGNS, "A", "B", "ANSWER: A\n", "The answer is B. "]), max_size=30).map(
            "".join
        ),
    ),
)
def test_a_last_line_in_the_form_we_ask_for_wins(chosen: str, before: str) -> None:
    assert letter(f"{before}\n\nANSWER: {chosen}") == chosen or "<" in before


# Letters of any shape, the ones that the parser takes for A to D and the ones that it does not.
_STANDING = re.compile(r"(?<![^\W\d_])[A-Da-d](?![^\W\d_])")
_NO_LETTER = st.lists(
    st.sampled_from(
        [*_WORDS, *_SIGNS, "Apple", "Bad ", "Cannot ", "Dad", "abcd", "E", "x", "0.0607", "12", "Banana", "È"]
    ),
    max_size=30,
).map("".join)


@given(st.one_of(_NO_LETTER, st.text(st.characters(exclude_categories=["So"]))))
def test_a_text_in_which_no_letter_stands_alone_is_no_answer(reply: str) -> None:
    assume(not _STANDING.search(unicodedata.normalize("NFKC", reply)))
    assert letter(reply) is None


# --- any length -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param("Perhaps (B)? " + "-" * 100_000, None, id="A15-dashes"),
        pytest.param("Perhaps (B)? " + "*" * 100_000, None, id="A15-stars"),
        pytest.param("ANSWER: " + "$" * 100_000, None, id="A15-dollars"),
        pytest.param("ANSWER: B" + " " * 100_000, "B", id="A15-spaces"),
        pytest.param("\\boxed{" * 20_000, None, id="A15-braces"),
        pytest.param("(" * 100_000 + "B" + ")" * 100_000, None, id="A15-brackets"),
        pytest.param("ANSWER: B\n" * 10_000, "B", id="A15-the-same"),
        pytest.param("ANSWER: B or C\n" * 5_000, None, id="A15-several"),
    ],
)
def test_a_degenerate_reply_is_read_at_once(reply: str, expected: str | None) -> None:
    quickest = 1.0
    for _ in range(3):
        begun = time.process_time()
        assert letter(reply) == expected
        quickest = min(quickest, time.process_time() - begun)
    assert quickest < 0.5


LONG = {key: f"{key.lower()} " * 900 for key in "ABCD"}
_FLOODS = [
    *("answer: B ", "answer:\n", "ANSWER: B\n", "ANSWER: A) ", "answer (", "a", "A\n", "\n", "- A: x\n", "*", "("),
    *("<think>", "</think>", "~~a", "<s>", "<|im_end|>", "```\n", "\\boxed{", "\\boxed{B} ", "\u0301\u0323"),
    *("if the answer is B, ", "B is correct. ", "答案是B", "Question: ", "Wait, B. ", "No, ", '{"answer": "B", '),
    *("0.060723 ", "answer: 0.060723 ", "。", "i.e. ", "or ", "| A "),
]


@pytest.mark.parametrize(
    ("piece", "shown"), [*((piece, F1) for piece in _FLOODS), ("a ", LONG), ("answer: b ", LONG), ("答案是B", LONG)]
)
def test_a_megabyte_is_read_in_linear_time(piece: str, shown: dict[str, str]) -> None:
    def seconds(size: int) -> float:
        reply = piece * (size // len(piece))
        begun = time.process_time()
        read_reply(reply, shown)
        return time.process_time() - begun

    # Eight times the text: twice that for noise, where a quadratic pattern would take sixty-four times as long.
    assert seconds(1_000_000) < 16 * seconds(125_000) + 0.5
