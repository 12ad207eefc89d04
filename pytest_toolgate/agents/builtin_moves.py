"""What a reply of the built-in agent's model asks for. Pure, and never raising: a model may write anything."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..providers import Response, Tool, ToolCall
from ..screen.reading import read_reply

RUN: Final = Tool(
    "run_python",
    "Run one complete Python script and return what it prints, or its error.",
    {
        "type": "object",
        "properties": {"script": {"type": "string", "description": "The complete script."}},
        "required": ["script"],
        "additionalProperties": False,
    },
)
MAX_SCRIPT: Final = 64 * 1024  # characters
# Every character of a script may be an escape of six in the arguments of a call.
MAX_ARGUMENTS: Final = 6 * MAX_SCRIPT + 1024
_BLOCK = re.compile(r"```[ \t]*+(?:python3?|py)?+[ \t]*+\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
# A call that its server has not recognised as one, or that a small model has put into words.
_SPELT_OUT = re.compile(rf'\{{\s*+"name"\s*+:\s*+"{RUN.name}"\s*+,\s*+"(?:arguments|parameters)"\s*+:\s*+')


@dataclass(frozen=True, slots=True)
class Move:
    """What to do next: run a script, take a result, or say what is wrong.

    Attributes:
        script: To be run; empty for none.
        complaint: What is wrong with a call.
        in_text: The script stands in the text of a reply that calls no tool.
        result: What to leave as the result, such as the letter of an answer; empty for none.
    """

    script: str = ""
    complaint: str = ""
    in_text: bool = False
    result: str = ""


def read_move(response: Response, options: Mapping[str, str]) -> Move:
    """The move of a reply: its first call, else the first script in its text, else its answer.

    Args:
        response: The reply.
        options: Letter -> text, as shown to the model.
    """
    complaint = ""
    if response.calls:
        script, complaint = script_of(response.calls[0])
        if script:
            return _run(Move(script))
    elif script := _spelt_out(response.text):
        return _run(Move(script, in_text=True))
    block = _BLOCK.search(response.text)
    if block and block[1].strip():
        return _run(Move(block[1], in_text=not response.calls))
    if complaint:
        return Move(complaint=complaint)
    return Move(result=(read_reply(response.text, options).letter or "") if options else "")


def script_of(call: ToolCall) -> tuple[str, str]:
    """The script of a call, or what is wrong with the call."""
    if call.name != RUN.name:
        return "", f"There is no tool `{call.name}`. Call `{RUN.name}`."
    if len(call.arguments) > MAX_ARGUMENTS:
        return "", f"The arguments are too long; a script has {MAX_SCRIPT // 1024} KiB at most."
    wanted = f'Call `{RUN.name}` with {{"script": "..."}}, the whole script as one text.'
    try:
        arguments = json.loads(call.arguments, strict=False)
    except (ValueError, RecursionError) as problem:
        at = f" ({problem})" if isinstance(problem, json.JSONDecodeError) else ""
        return "", f"The arguments are not JSON{at}. {wanted}"
    script = arguments.get("script") if isinstance(arguments, dict) else None
    if not isinstance(script, str) or not script.strip():
        return "", f"The arguments hold no text `script`. {wanted}"
    return _storable(script), ""


def _run(move: Move) -> Move:
    if len(move.script) <= MAX_SCRIPT:
        return move
    complaint = f"That script is too long to run; {MAX_SCRIPT // 1024} KiB is the limit."
    return Move(complaint=complaint, in_text=move.in_text)


def _spelt_out(text: str) -> str:
    """The script of a call that is written in the text of a reply; empty if there is none."""
    found = _SPELT_OUT.search(text)
    if not found:
        return ""
    try:
        arguments, _ = json.JSONDecoder(strict=False).raw_decode(text, found.end())
    except (ValueError, RecursionError):
        return ""
    script = arguments.get("script") if isinstance(arguments, dict) else None
    return _storable(script) if isinstance(script, str) and script.strip() else ""


def _storable(script: str) -> str:
    # JSON can spell half a character, which no file can hold.
    return script.encode("utf-8", "replace").decode()
