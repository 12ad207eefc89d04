"""Replies put together from statements and from what only looks like one: the last statement is read, or nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .items import F1
from .test_reading import letter

# `statement`, `mention` or `filling`; the letter it is about; its text.
Part = tuple[str, str, str]

STATEMENTS = (
    "ANSWER: {x}", "Answer: {x}", "**ANSWER: {x}**", "ANSWER: ({x})", "The answer is {x}.", "So the answer is {x}.",
    "Therefore, the correct answer is {x}) {v}.", "Final answer: {x}", "$\\boxed{{{x}}}$", "I would pick {x}.",
    "I choose {x}.", "Die Antwort ist {x}.", "答案是{x}。", "La respuesta es {x}.", "Ответ: {x}", "{x} is correct.",
    "Option {x} is the right answer.", "The correct option is {x}.", "<answer>{x}</answer>", '{{"answer": "{x}"}}',
    "ANSWER: {x}) {v}", "ANSWER: {v}", "The answer is {x} because it fits.", "ANSWER: {x}, since the flux is small",
    "Answer: **{x}. {v}**", "The final answer is: $\\boxed{{{x}}}$. I hope it is correct.", "My answer: {x}",
)  # fmt: skip
MENTIONS = (
    "{x} is too large.", "{x} is wrong.", "Option {x} can be excluded.", "The answer is not {x}.", "Not {x}.",
    "I would not pick {x}.", "The answer cannot be {x}.", "If the load were zero, the answer would be {x}.",
    "Many people say the answer is {x}.", "It could be {x}.", "Is the answer {x}?", "Maybe {x}?",
    "{x}) {v} is too small.", "With linear elements one gets {v}, option {x}.", "{x} looks plausible.",
    "Perhaps the answer is {x}?", "Let {x} be the matrix.", "We have {x} = 3.", "Suppose the answer is {x}.",
    "I doubt that {x} is correct.", "Choosing {x} would be naive.", "- {x}: {v}", "({x}) {v}: no",
    "Let me check {x}.", "答案不是{x}。", "Die Antwort ist nicht {x}.", "La respuesta no es {x}.",
    "如果选{x}，则能量过大。", "{x} ist falsch.",
    "The answer is between {x} and {y}.", "Either {x} or {y}.", "The answer is {x} or {y}.", "| {x} | {v} |",
    "Options {x} and {y} differ in the fourth digit.", "{x} vs {y}", "A common mistake gives {x}.",
    "One may guess that the answer is {x}.", "At first sight the answer is {x}, but let us see.",
    "Whether the answer is {x} depends on the mesh.", "It is unlikely that the answer is {x}.",
    "The expected format is ANSWER: {x}.", "ANSWER: {x} or {y}", "ANSWER: not {x}", "ANSWER: {x}?",
    "ANSWER: {x} is wrong", "ANSWER: {x} ({w})",
)  # fmt: skip
FILLINGS = ("Let me think.", "The mesh is deformed.", "A numerical solution is needed.", "I cannot run code.", "")


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """One statement or mention of an option, or neither."""
    x, y = draw(st.permutations("ABCD"))[:2]
    kind, forms = draw(st.sampled_from((("statement", STATEMENTS), ("mention", MENTIONS), ("filling", FILLINGS))))
    return kind, x, draw(st.sampled_from(forms)).format(x=x, y=y, v=F1[x], w=F1[y])


@settings(max_examples=600)
@given(st.lists(st.tuples(parts(), st.sampled_from([" ", "\n", "\n\n"])), min_size=1, max_size=4))
def test_the_last_statement_is_read_or_nothing(pieces: list[tuple[Part, str]]) -> None:
    reply, stated = "", None
    for (kind, chosen, text), space in pieces:
        # Only a sentence that has ended can be followed by another one on its line.
        reply += text + (space if text.endswith((".", "?", "。")) else "\n")
        stated = chosen if kind == "statement" else stated
    assert letter(reply) in (stated, None)


@pytest.mark.parametrize("form", STATEMENTS)
def test_a_statement_is_read_whatever_is_mentioned_before_it(form: str) -> None:
    statement = form.format(x="B", v=F1["B"])
    for before in ("", *FILLINGS, *MENTIONS[:-1]):
        text = before.format(x="C", y="D", v=F1["C"])
        assert letter(f"{text}\n\n{statement}") == "B", text


@pytest.mark.parametrize("form", MENTIONS)
def test_a_mention_alone_is_no_answer(form: str) -> None:
    for space in ("", "\n\n"):
        mention = form.format(x="C", y="D", v=F1["C"], w=F1["D"])
        assert letter(f"Let me think.{space}\n{mention}") is None
        assert letter(f"{mention}\n{space}The mesh is deformed.") is None
