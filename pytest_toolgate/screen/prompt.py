"""The prompt of a no-tool screen. The builder is given question and shown options, nothing else."""

from collections.abc import Mapping

INSTRUCTION = (
    "Answer the following multiple-choice question. You have no tools. "
    "Exactly one of the four options is right. "
    "Reply with one line and nothing else: the word ANSWER, a colon, and the letter of the option you choose "
    "(A, B, C or D)."
)


def build_prompt(question: str, shown: Mapping[str, str]) -> tuple[str, str]:
    """The system instruction and the user message of one presentation.

    Args:
        question: The question, as written.
        shown: Letter -> option text, in the order of this presentation.
    """
    options = "\n".join(f"{letter}) {text}" for letter, text in shown.items())
    return INSTRUCTION, f"{question.strip()}\n\n{options}"
