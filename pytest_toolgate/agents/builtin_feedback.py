"""What the built-in agent's model is told of a script that it had run. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..candidate.matching import match_answer
from ..sandbox import Finished
from .builtin_prompt import cut

_RESULT = re.compile(r"^RESULT:[ \t]*+(\S[^\n]*+)$", re.MULTILINE)
# What one turn may show of a script's output, in characters.
_SHOWN_OUTPUT = 1500
_SHOWN_ERROR = 1200
_LOOKED_AT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Feedback:
    """What to tell the model.

    Attributes:
        text: The words.
        mistake: What was wrong with the script, to be put after "a script"; empty if nothing is known to be.
    """

    text: str
    mistake: str = ""


def about(finished: Finished, options: Mapping[str, str], *, repeated: bool) -> Feedback:
    """What a script came to.

    Args:
        finished: How it ended, and what it printed.
        options: Letter -> text, as shown to the model.
        repeated: The same script has been run before.
    """
    output = finished.stdout.decode("utf-8", "replace")
    if finished.ended == "exited" and (finished.exit_code == 0 or _names_an_option(output, options)):
        outcome = _about_result(output, options)
    else:
        outcome = _about_failure(finished)
        if finished.ended == "exited":
            outcome = Feedback(f"{outcome.text}\nCorrect it and write the whole script again.", outcome.mistake)
    return _told(output, outcome, repeated=repeated)


def about_run(finished: Finished, *, repeated: bool) -> Feedback:
    """What a script came to that was to find something out, and nothing that could be right or wrong.

    Args:
        finished: How it ended, and what it printed.
        repeated: The same script has been run before.
    """
    output = finished.stdout.decode("utf-8", "replace")
    if finished.ended == "exited" and finished.exit_code == 0:
        return _told(output, Feedback("" if output.strip() else "The script printed nothing."), repeated=repeated)
    return _told(output, _about_failure(finished), repeated=repeated)


def _told(output: str, outcome: Feedback, *, repeated: bool) -> Feedback:
    """What was printed, and what it comes to."""
    printed = f"Output:\n{cut(output, _SHOWN_OUTPUT)}" if output.strip() else ""
    again = "You have run this same script before. Do it in another way." if repeated else ""
    return Feedback("\n".join(filter(None, (printed, outcome.text, again))), outcome.mistake)


def _about_failure(finished: Finished) -> Feedback:
    if finished.ended != "exited":
        sentence = f"The script was stopped: {finished.ended} after {finished.wall:.0f} s."
        return Feedback(sentence, f"was stopped: {finished.ended}")
    complaint = finished.stderr.decode("utf-8", "replace")
    sentence = f"The script failed:\n{cut(complaint, _SHOWN_ERROR, keep_end=True)}"
    return Feedback(sentence, f"failed: {_last_line(complaint)}")


def _about_result(output: str, options: Mapping[str, str]) -> Feedback:
    """Say which option the printed result rounds to: the reader of a multiple-choice question does no less."""
    result = _last_result(output)
    if not result:
        return Feedback("Print the value that the question asks for as a line RESULT: <value>, with all its digits.")
    match = match_answer(result, options)
    if match.letter is not None:
        return Feedback(
            f"RESULT {result[:60]} is option {match.letter}. If your script does what the question says, "
            f"finish with the line ANSWER: {match.letter}"
        )
    return Feedback(
        f"RESULT {result[:60]} is none of the options. Read the question again, find what your script does "
        "otherwise, and write the corrected script.",
        f"gave {result[:60]}, which is none of the options",
    )


def _names_an_option(output: str, options: Mapping[str, str]) -> bool:
    """Whether a result had been printed that is one of the options, whatever went wrong after it."""
    result = _last_result(output)
    return bool(result) and match_answer(result, options).letter is not None


def _last_result(output: str) -> str:
    results = _RESULT.findall(output[-_LOOKED_AT:])
    return results[-1].strip() if results else ""


def _last_line(complaint: str) -> str:
    lines = [line for line in complaint.strip().splitlines() if not line.startswith("NOTE: ")]
    return lines[-1][:160] if lines else "no message"
