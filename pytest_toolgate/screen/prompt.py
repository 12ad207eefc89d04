"""The prompt of a no-tool screen. The builder is given question and shown options, nothing else.

A cue screen leaves out one of the two: what a model still gets right, the other one gives away.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ..config.model import Mode

INSTRUCTION = (
    "Answer the following multiple-choice question. You have no tools. "
    "Exactly one of the four options is right. "
    "Reply with one line and nothing else: the word ANSWER, a colon, and the letter of the option you choose "
    "(A, B, C or D)."
)
_CHOICES_ONLY = (
    "These are the four options of a multiple-choice question. The question itself is withheld, and you have no tools. "
    "Exactly one of the four options is right. Pick the most plausible one. "
    "Reply with one line and nothing else: the word ANSWER, a colon, and the letter of the option you choose "
    "(A, B, C or D)."
)
_QUESTION_ONLY = (
    "Answer the following question. You have no tools. "
    "If you cannot work the answer out, state your best guess. "
    "Reply with one line and nothing else: the word ANSWER, a colon, and the value that answers the question, "
    "as a plain decimal number without a unit where it is a number."
)
INSTRUCTIONS: Mapping[Mode | None, str] = MappingProxyType(
    {None: INSTRUCTION, "choices-only": _CHOICES_ONLY, "question-only": _QUESTION_ONLY}
)
"""The system instruction of each mode; None is the ordinary screen."""


def build_prompt(question: str, shown: Mapping[str, str], mode: Mode | None = None) -> tuple[str, str]:
    """The system instruction and the user message of one presentation.

    Args:
        question: The question, as written.
        shown: Letter -> option text, in the order of this presentation.
        mode: Which part alone is shown; None shows both.
    """
    options = "\n".join(f"{letter}) {text}" for letter, text in shown.items())
    parts = {None: f"{question.strip()}\n\n{options}", "choices-only": options, "question-only": question.strip()}
    return INSTRUCTIONS[mode], parts[mode]
