"""What one finished run of a script says."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from ..candidate import Candidate
from ..candidate.matching import match_answer
from ..candidate.presentation import Presentation
from ..sandbox import Finished, Limits
from .evidence import last_words, limit_exceeded


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run of a script said.

    Attributes:
        reason: Why it is no answer; empty when the script matched an option.
        sentence: The same in words.
        text: The text behind `ANSWER:`, None when there is not exactly one such line.
        matched: The candidate's own letter of the option it stands for.
    """

    reason: str = ""
    sentence: str = ""
    text: str | None = None
    matched: str | None = None


def read_run(finished: Finished, limits: Limits, candidate: Candidate, shown: Presentation) -> Answer:
    """What one finished run says; limits come first, then how it ended, then what it printed."""
    printed = answer_lines(finished.stdout)
    before = "; an answer had been printed before" if printed else ""
    if finished.ended == "killed":
        words = last_words(finished)
        why = f": it had {finished.excess}, which is too many" if finished.excess else ""
        return Answer("killed", f"the script was killed by {_signal(finished.signal)}{why or words}{before}")
    if finished.ended != "exited":
        return Answer(finished.ended, f"{limit_exceeded(finished, limits)}{before}")
    if finished.exit_code != 0:
        words = last_words(finished)
        return Answer("exit-status", f"the script exited with status {finished.exit_code}{words}{before}")
    return _read_output(printed, finished, candidate, shown)


def against(answers: Sequence[Answer], used: Sequence[bool], repeats: int) -> str:
    """Why the runs of a script so far speak against it; empty if they do not. All runs but the last have answered.

    Args:
        answers: What each run has said.
        used: Whether each has run the domain's software.
        repeats: Runs that are due.
    """
    *earlier, last = answers
    if last.reason in ("mismatch", "ambiguous") and earlier:
        return "not-reproducible"
    if last.reason:
        return last.reason
    return "tool-unused" if len(answers) == repeats and not all(used) else ""


def _signal(number: int | None) -> str:
    try:
        return f"signal {number} ({signal.Signals(number or 0).name})"
    except ValueError:
        return f"signal {number}"


def answer_lines(stdout: bytes) -> list[str]:
    """The texts behind `ANSWER:` at the start of a line."""
    lines = stdout.split(b"\n")
    return [
        line.removesuffix(b"\r")[len(b"ANSWER:") :].decode("utf-8", "replace").strip()
        for line in lines
        if line.startswith(b"ANSWER:")
    ]


def _read_output(printed: list[str], finished: Finished, candidate: Candidate, shown: Presentation) -> Answer:
    if not printed:
        return Answer("no-answer", "no line of stdout starts with `ANSWER:`" + _near_miss(finished.stdout))
    if len(printed) > 1:
        hint = "; under MPI, print on rank 0 only" if len(set(printed)) == 1 else ""
        values = ", ".join(f"`{text[:40]}`" for text in printed[:4])
        return Answer(
            "many-answers", f"the script printed {len(printed)} answers ({values}) where exactly one is due{hint}"
        )
    match = match_answer(printed[0], shown.show(candidate.options))
    if match.letter is None:
        # Said in the candidate's own letters: its author has never seen the others.
        match = match_answer(printed[0], candidate.options)
        return Answer(match.reason, match.sentence, printed[0])
    matched = shown.original(match.letter)
    if matched != candidate.answer:
        sentence = (
            f"the script's answer `{printed[0][:80]}` is option {matched} `{candidate.options[matched][:80]}`, "
            f"and the proposed answer is {candidate.answer} `{candidate.value[:80]}`"
        )
        if printed[0] == match.letter:
            sentence += (
                "; options are re-lettered for every run: print the value, or look its letter up in problem.json"
            )
        return Answer("mismatch", sentence, printed[0], matched)
    return Answer("", "", printed[0], matched)


def _near_miss(stdout: bytes) -> str:
    for line in stdout[-65536:].decode("utf-8", "replace").splitlines():
        if "answer" in line.casefold():
            return f"; the nearest is `{line.strip()[:120]}`"
    return ""
