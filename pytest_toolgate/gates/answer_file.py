"""Reading the one file an agent is judged by. It was written by a stranger's program."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..candidate.matching import exact_option

MAX_BYTES = 1024


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """What the file says.

    Attributes:
        letter: The shown letter it holds, or stands for.
        reason: `no-answer` or `bad-answer-file`, empty when there is a letter.
        sentence: The same in words.
        text: Its content as far as it was read.
    """

    letter: str | None = None
    reason: str = ""
    sentence: str = ""
    text: str | None = None


def read_answer_file(path: Path, shown: Mapping[str, str]) -> AnswerFile:
    """Judge the file: a regular one of at most 1 KiB that holds one letter or exactly one option's text."""
    try:
        # Not followed if it is a link, and not waited for if it is a FIFO.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return AnswerFile(None, "no-answer", f"the agent left no {path.name}")
    except OSError:
        return AnswerFile(None, "bad-answer-file", f"{path.name} is not a regular file that can be read")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return AnswerFile(None, "bad-answer-file", f"{path.name} is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    return read_answer(data, shown, path.name)


def read_answer(data: bytes, shown: Mapping[str, str], name: str) -> AnswerFile:
    """Judge the content of an answer file."""
    if len(data) > MAX_BYTES:
        return AnswerFile(None, "bad-answer-file", f"{name} is larger than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return AnswerFile(None, "bad-answer-file", f"{name} is not text", data.decode("utf-8", "replace"))
    if not text:
        return AnswerFile(None, "no-answer", f"{name} is empty", text)
    letter = text if text in shown else exact_option(text, shown)
    if letter is None:
        return AnswerFile(
            None,
            "bad-answer-file",
            f"{name} holds `{text[:80]}`, neither one letter nor one option's text",
            text,
        )
    return AnswerFile(letter, text=text)
