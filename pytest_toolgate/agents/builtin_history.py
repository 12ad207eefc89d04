"""The built-in agent's conversation as its model gets to see it: no more than a small context holds. Pure."""

import dataclasses
from collections.abc import Sequence
from typing import Final

from ..providers import Message, Response
from .builtin_moves import script_of
from .builtin_prompt import cut

# Characters.
_HISTORY: Final = 14_000
_REPLY: Final = 10_000
_ONE_AT_A_TIME: Final = "Not done. One call at a time: only the first call of a reply is."


def spoken(response: Response) -> Message:
    """A reply as a turn of the conversation."""
    return Message("assistant", response.text, response.calls)


def answered(response: Response, feedback: str) -> list[Message]:
    """What comes back for a reply: to its first call if it has any, the others being turned away."""
    if not response.calls:
        return [Message("user", feedback)]
    first, *others = response.calls
    return [
        Message("tool", feedback, result_of=first.id),
        *(Message("tool", _ONE_AT_A_TIME, result_of=call.id) for call in others),
    ]


def recent(history: Sequence[Message]) -> tuple[Message, ...]:
    """The instructions, the question, and as many of the latest turns as fit, each with what came back for it."""
    opening, rest = history[:2], history[2:]
    turns: list[list[Message]] = []
    for message in rest:
        if message.role == "assistant" or not turns:
            turns.append([])
        turns[-1].append(_bounded(message))
    kept: list[Message] = []
    size = 0
    for turn in reversed(turns):
        size += sum(_size(message) for message in turn)
        if size > _HISTORY and kept:
            break
        kept = turn + kept
    return (*opening, *kept)


def in_words(history: Sequence[Message]) -> list[Message]:
    """The same conversation without tools: a call becomes a code block, its result what the user says."""
    words: list[Message] = []
    for message in history:
        if message.role == "tool":
            if message.content != _ONE_AT_A_TIME:
                words.append(Message("user", message.content))
        elif message.calls:
            script, _ = script_of(message.calls[0])
            block = f"```python\n{script}\n```" if script else message.calls[0].arguments
            words.append(Message("assistant", "\n".join(filter(None, (message.content, block)))))
        else:
            words.append(message)
    return words


def _bounded(message: Message) -> Message:
    if message.role != "assistant":
        return message
    # What is not JSON goes back as an empty object, and a script that is cut would be shown as the model's own.
    calls = tuple(
        call if len(call.arguments) <= _REPLY else dataclasses.replace(call, arguments="{}") for call in message.calls
    )
    return dataclasses.replace(message, content=cut(message.content, _REPLY), calls=calls)


def _size(message: Message) -> int:
    return len(message.content) + sum(len(call.arguments) for call in message.calls)
