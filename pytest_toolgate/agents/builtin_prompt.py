"""What the built-in agent's model is told: the task, and how to run a script and to finish."""

from ..candidate.model import LETTERS
from .builtin_moves import RUN
from .protocol import Task


def instructions(task: Task, *, functions: bool) -> str:
    """How to work, as the system message.

    Args:
        task: The solve.
        functions: The model has the tool; else it writes code blocks.
    """
    settings = task.settings
    run = (
        f"call {RUN.name} with one complete script"
        if functions
        else "reply with one complete script in a ```python block"
    )
    return (
        f"You answer a multiple-choice question by computing. You have Python with {task.domain.title}, NumPy and no "
        "network. The four options differ in digits only: never guess, never estimate by hand.\n"
        f"To compute, {run}. It is run and you are shown its output. "
        "Follow the question to the letter, and print the value it asks for, unrounded, as the last line: "
        "print('RESULT:', value). Write no ANSWER inside a script.\n"
        "When a RESULT is one of the options and you trust your script, reply with one line: ANSWER: and its letter.\n"
        f"You have {settings.time_limit:g} seconds and {settings.most_turns} turns in all.\n"
        + (task.domain.notes if settings.hints else "")
    )


def question(task: Task) -> str:
    """The question with its options, and what to do first."""
    options = "\n".join(f"{letter}) {task.options[letter]}" for letter in LETTERS)
    return f"{task.question.strip()}\n\n{options}\n\nWrite the script."


def proposing(task: Task, *, functions: bool) -> str:
    """How to work on a proposal, as the system message."""
    settings = task.settings
    run = f"call {RUN.name} with one complete script" if functions else "reply with one complete ```python block"
    return (
        f"You write a benchmark question that only running {task.domain.title} can answer. You have Python with "
        f"{task.domain.title}, NumPy and no network.\n"
        f"To try something, {run}. It is run and you are shown its output.\n"
        "To finish, reply with the whole candidate file in one ```yaml block. The first one ends your work.\n"
        f"You have {settings.time_limit:g} seconds and {settings.most_turns} turns in all.\n"
    )


def no_proposal(*, functions: bool) -> str:
    """What to say to a reply that neither runs something nor is a proposal."""
    run = f"call {RUN.name}" if functions else "write one ```python block"
    return f"To try something, {run}. To finish, write the whole candidate file in one ```yaml block."


def no_move(*, functions: bool) -> str:
    """What to say to a reply that asks for nothing."""
    block, run = ("call of the tool", f"Call {RUN.name} with a script") if functions else (
        "Python code block", "Write one ```python block",
    )  # fmt: skip
    return (
        f"That was neither a {block} nor a final line. {run} that computes the value and prints it as "
        "RESULT: <value>, or finish with ANSWER: and a letter."
    )


def guessed(*, functions: bool) -> str:
    """What to say to an answer before any script."""
    run = f"call {RUN.name} with a script" if functions else "write one ```python block"
    return f"Do not guess. First compute: {run} that prints RESULT: <value>."


def cut(text: str, most: int, *, keep_end: bool = False) -> str:
    """At most so many characters of a text, and a word on what is left out: the middle, or all but the end."""
    text = text.strip()
    if len(text) <= most:
        return text
    if keep_end:
        return "... " + text[-most:]
    return f"{text[: most // 2]}\n[{len(text) - most} characters cut]\n{text[-most // 2 :]}"
