"""What the built-in agent's model is told: the task, and as much of the conversation as a small context holds."""

from ..candidate.model import LETTERS
from ..providers import Message
from .protocol import Task

# Characters.
_HISTORY = 14_000


def instructions(task: Task) -> str:
    """How to work, as the system message."""
    return (
        f"You answer a multiple-choice question by computing. You have Python with {task.domain.title}, NumPy and no "
        "network. The four options differ in digits only: never guess, never estimate by hand.\n"
        "To compute, reply with one complete script in a ```python block. It is run and you are shown its output. "
        "Follow the question to the letter, and print the value it asks for, unrounded, as the last line: "
        "print('RESULT:', value). Write no ANSWER inside a script.\n"
        "When a RESULT is one of the options and you trust your script, reply with one line: ANSWER: and its letter.\n"
        + (task.domain.notes if task.settings.hints else "")
    )


def question(task: Task) -> str:
    """The question with its options, and what to do first."""
    options = "\n".join(f"{letter}) {task.options[letter]}" for letter in LETTERS)
    return f"{task.question.strip()}\n\n{options}\n\nWrite the script."


def recent(history: list[Message]) -> tuple[Message, ...]:
    """The instructions, the question, and as much of the latest turns as a small context holds."""
    opening, rest = history[:2], history[2:]
    size = 0
    recent: list[Message] = []
    for message in reversed(rest):
        size += len(message.content)
        if size > _HISTORY and recent:
            break
        recent.insert(0, message)
    if recent and recent[0].role == "user":
        recent = recent[1:]
    return (*opening, *recent)


def cut(text: str, most: int, *, keep_end: bool = False) -> str:
    """At most so many characters of a text, and a word on what is left out: the middle, or all but the end."""
    text = text.strip()
    if len(text) <= most:
        return text
    if keep_end:
        return "... " + text[-most:]
    return f"{text[: most // 2]}\n[{len(text) - most} characters cut]\n{text[-most // 2 :]}"
