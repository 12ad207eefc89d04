"""Reading any reply: never an exception, always linear time, and our own form always understood."""

import time

import pytest
from hypothesis import given
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
