"""What a run of a script came to, in words and figures: the sentence of a limit, and the lines below a verdict."""

from collections.abc import Sequence

from ..sandbox import Finished, GiB, KiB, Limits, MiB

# What is shown of a script's last words: lines, characters of each, and bytes that are looked at.
_LINES = 10
_WIDTH = 200
_LOOKED_AT = 16 * KiB


def limit_exceeded(finished: Finished, limits: Limits) -> str:
    """The limit that ended a run, and what was reached, as one sentence."""
    if finished.ended == "timeout":
        cpu = f", {finished.cpu:.1f} s of it on a processor" if finished.peak_memory else ""
        return (
            f"the script did not finish within its time limit of {limits.wall:g} s: "
            f"it was ended after {finished.wall:.1f} s{cpu}"
        )
    if finished.ended == "output-limit":
        written = size(finished.stdout_bytes)
        return f"the script exceeded its output limit of {size(limits.stdout)}: it wrote {written} to stdout"
    if finished.ended == "memory-limit":
        held = size(finished.peak_memory)
        if finished.peak_memory > limits.memory:
            return f"the script exceeded its memory limit of {size(limits.memory)}: it held {held}"
        words = last_words(finished)
        return f"the script ran out of memory under its limit of {size(limits.memory)}, when it held {held}{words}"
    if finished.files_made > limits.entries:
        return f"the script exceeded its disk limit of {limits.entries} files: it had made {finished.files_made}"
    written = size(finished.disk_used)
    if finished.disk_used > limits.disk:
        return f"the script exceeded its disk limit of {size(limits.disk)}: it had written {written}"
    words = last_words(finished)
    return f"the script ran out of disk under its limit of {size(limits.disk)}, when it had written {written}{words}"


def evidence(heading: str, finished: Finished, answers: Sequence[str]) -> str:
    """What one run used and printed, as lines below a sentence.

    Args:
        heading: Which run it was, and under which conditions.
        finished: How it ended.
        answers: The answers that it had printed.
    """
    lines = [
        f"{heading}: {_answered(answers)}",
        f"  {_figures(finished)}",
        *_tail("stdout", finished.stdout),
        *_tail("stderr", finished.stderr),
    ]
    return "\n".join(lines)


def size(count: int) -> str:
    """A number of bytes as people read it."""
    for unit, name in ((GiB, "GiB"), (MiB, "MiB"), (KiB, "KiB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"


def last_words(finished: Finished) -> str:
    """The last line of stderr, to be put behind a sentence; empty where there is none."""
    line = last_line(finished.stderr)
    return f": {line}" if line else ""


def last_line(stderr: bytes) -> str:
    """The last line that is not empty, in one piece."""
    lines = stderr[-4 * KiB :].decode("utf-8", "replace").strip().splitlines()
    return " ".join(lines[-1].split())[:300] if lines else ""


def _answered(answers: Sequence[str]) -> str:
    if not answers:
        return "it printed no answer"
    if len(answers) > 1:
        return f"it printed {len(answers)} answers"
    return f"it answered `{' '.join(answers[0].split())[:80]}`"


def _figures(finished: Finished) -> str:
    wall = f"{finished.wall:.2f} s of wall time"
    streams = f"{size(finished.stdout_bytes)} of stdout, {size(finished.stderr_bytes)} of stderr"
    if not finished.peak_memory:
        return f"{wall}, {streams}; the rest is not known, since its sandbox had to be ended from outside"
    return (
        f"{wall}, {finished.cpu:.2f} s of CPU time, {size(finished.peak_memory)} of memory, "
        f"{size(finished.disk_used)} on disk, {streams}"
    )


def _tail(name: str, output: bytes) -> list[str]:
    lines = output[-_LOOKED_AT:].decode("utf-8", "replace").splitlines()
    shown = [line.rstrip() for line in lines if line.strip()][-_LINES:]
    if not shown:
        return []
    cut = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..." for line in shown]
    return [f"  last lines of {name}:", *(f"    {line}" for line in cut)]
