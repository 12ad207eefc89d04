"""Whether each wrong option says which mistake it comes from."""

from ..candidate.model import LETTERS, Candidate
from ..candidate.numbers import plain


def unexplained(candidate: Candidate) -> tuple[str, ...]:
    """The wrong letters for which `distractors` names no mistake, in order."""
    return tuple(
        letter
        for letter in LETTERS
        if letter != candidate.answer and not plain(candidate.distractors.get(letter, ""))
    )  # fmt: skip


def unexplained_sentence(candidate: Candidate) -> str | None:
    """The same as a reason to refuse what a generator left, None where every wrong option is explained."""
    letters = unexplained(candidate)
    if not letters:
        return None
    return (
        f"`distractors` names no mistake for {', '.join(letters)}: say of each wrong option from which realistic "
        "mistake its value comes"
    )
