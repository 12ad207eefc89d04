"""One solve by a program of somebody else's: started in the sandbox, joined to its model, and asked what it did."""

import dataclasses
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..sandbox import Finished, Job, MiB, Program, SandboxError, run
from ..sandbox.profile import SYSTEM
from .gateway import Gateway
from .invocation import Invocation, Story
from .protocol import AgentError, AgentRun, Task
from .transcript import bounded

# A program that is written in JavaScript or Rust runs dozens of threads before it does anything.
_PROCESSES: Final = 512
_STDOUT: Final = 32 * MiB
_ENTRIES: Final = 50_000
_LAST_WORDS: Final = 300  # characters
# How a program that failed says that its model refused it: too many requests, or a key that is not taken.
_REFUSED: Final = re.compile(rb"\b(?:401|429)\b")
_LOOKED_AT: Final = 16 * 1024  # bytes at the end of what it said
_LONGEST_ARGUMENT: Final = 128 * 1024 - 1


def work(task: Task, invoke: Callable[[Task], Invocation], read: Callable[[bytes, bytes], Story]) -> AgentRun:
    """Let the program work on the task.

    Args:
        task: The solve.
        invoke: How the program is started.
        read: What its stdout and stderr say.

    Raises:
        AgentError: It could not be run, or could not do its work and left no answer.
    """
    gateway = Gateway(task)
    with gateway.preparing():
        invocation = invoke(task)
        _check_arguments(invocation)
    with gateway.at_work():
        finished = _run(task, invocation, gateway)
        waited = gateway.waited_in_all
    # Taking its sandbox down and waiting for a reply that is on its way are no time of the program's.
    ended_at = finished.started_at + finished.wall
    # What it says of a call that was refused for want of time is no failure of its own.
    late = finished.ended == "timeout" or ended_at >= task.deadline + waited
    story = read(finished.stdout, finished.stderr)
    transcript = (*bounded(story.transcript), _ending(finished))
    tokens = gateway.tokens
    if story.tokens is not None and (tokens.input is None or tokens.output is None):
        tokens = story.tokens  # what a program says, its commands can say in its name
    problem = gateway.problem or _unsealed(task, finished) or _failed(task, finished, story, gateway, late=late)
    if problem is not None:
        raise AgentError(
            str(problem),
            problem.reason,
            quota=problem.quota,
            transcript=transcript,
            tokens=tokens,
            turns=gateway.calls,
            used=finished.used,
            called=finished.called,
        )
    return AgentRun(
        ended="timeout" if late else "finished",
        transcript=transcript,
        turns=gateway.calls,
        tokens=tokens,
        used=finished.used,
        called=finished.called,
        note=f"it used up its {task.settings.most_turns} turns" if gateway.spent else story.failure or story.note,
        waited=waited,
        ended_at=ended_at,
    )


def _run(task: Task, invocation: Invocation, gateway: Gateway) -> Finished:
    left = task.deadline + gateway.waited_in_all - time.monotonic()
    limits = dataclasses.replace(
        task.limits, wall=max(0.001, left), stdout=_STDOUT, processes=_PROCESSES, entries=_ENTRIES
    )
    job = Job(
        interpreter=task.interpreter,
        script=b"",
        files=task.files,
        limits=limits,
        env=invocation.env,
        watch=task.domain.packages,
        workspace=task.workspace,
        hidden=task.hidden,
        program=Program(invocation.command, gateway, _shown(task, invocation), invocation.files, invocation.nested),
    )
    try:
        return run(job)
    except SandboxError as problem:
        raise gateway.problem or AgentError(str(problem), "sandbox") from problem


def _shown(task: Task, invocation: Invocation) -> tuple[Path, ...]:
    """What the program sees of the host beside what scripts do: nothing that is hidden from them.

    Raises:
        AgentError: Something hidden would be seen.
    """
    hidden = [path.resolve() for path in task.hidden]
    shown = dict.fromkeys(path.resolve() for path in (*invocation.shown, *task.settings.show))
    for path in shown:
        if not path.exists():
            raise AgentError(f"{path}, which the agent is to be shown, does not exist")
    for path in task.settings.show:
        if inside := next((place for place in hidden if path.resolve().is_relative_to(place)), None):
            raise AgentError(f"`show` names {path}, but no agent may see {inside}; keep it elsewhere", "sandbox")
    # What every script sees has its holes already; shown once more, what is hidden in it would be there again.
    seen = (*task.interpreter.prefixes, *map(Path, SYSTEM))
    more = tuple(path for path in shown if not any(path.is_relative_to(place) for place in seen))
    for path in more:
        if within := next((place for place in hidden if place.is_relative_to(path)), None):
            raise AgentError(f"the agent would be shown all of {path}, but no agent may see {within}", "sandbox")
    return more


def _unsealed(task: Task, finished: Finished) -> AgentError | None:
    """Whether the program shows something that it cannot know; all that it printed, not what is kept of it alone."""
    for name, printed in (("stdout", finished.stdout), ("stderr", finished.stderr)):
        if found := task.watch(printed, f"the {name} of its program"):
            return AgentError(found, "sandbox")
    return None


def _failed(task: Task, finished: Finished, story: Story, gateway: Gateway, *, late: bool) -> AgentError | None:
    """Why nothing is known about the candidate, if that is so.

    An answer that is there counts, however the program came to its end; only a time limit is a verdict without one.
    """
    if gateway.spent:
        return None
    if late:
        # Only a model that has answered before is known to be slow rather than dead.
        said = gateway.refusal or f"not within {task.settings.time_limit:g} s"
        return AgentError(f"the agent's model has never answered: {said}", "provider") if gateway.silent else None
    if os.path.lexists(task.workspace / task.result):
        return None
    if finished.ended not in ("exited", "killed"):
        return AgentError(f"the agent was ended for its {finished.ended}: {_last_words(finished)}")
    if finished.excess:
        return AgentError(f"the agent was ended for {finished.excess}: {_last_words(finished)}")
    if gateway.refusal:
        return AgentError(f"the agent's model refused its request: {gateway.refusal}", "provider")
    if story.failure:
        return AgentError(f"the agent failed: {story.failure}")
    if story.whole:
        return None
    if finished.ended == "killed" or finished.exit_code or story.whole is False:
        ended = f"signal {finished.signal}" if finished.ended == "killed" else f"exit status {finished.exit_code}"
        sentence = f"the agent ended with {ended} and left no {task.result}: {_last_words(finished)}"
        refused = _REFUSED.search(finished.stdout[-_LOOKED_AT:] + b"\n" + finished.stderr[-_LOOKED_AT:])
        return AgentError(sentence, "provider" if refused else "agent")
    return None


def _check_arguments(invocation: Invocation) -> None:
    """The kernel's own limits on the arguments of a program, said before it says them."""
    for argument in invocation.command:
        size = len(argument.encode("utf-8", "surrogateescape"))
        if "\0" in argument or size > _LONGEST_ARGUMENT:
            raise AgentError(
                f"the prompt cannot be given to a program as an argument: that has at most {_LONGEST_ARGUMENT} bytes "
                f"and no NUL among them, and this one has {size}"
            )


def _ending(finished: Finished) -> dict[str, Any]:
    """The last entry of a transcript: how the program ended, and what that took."""
    return {
        "role": "end",
        "ended": finished.ended,
        "exit_code": finished.exit_code,
        "signal": finished.signal,
        "excess": finished.excess,
        "wall": round(finished.wall, 3),
        "cpu": round(finished.cpu, 3),
        "peak_memory": finished.peak_memory,
        "disk_used": finished.disk_used,
        "stderr": finished.stderr[-4000:].decode("utf-8", "replace"),
    }


def _last_words(finished: Finished) -> str:
    lines = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:_LAST_WORDS] if lines else "it said nothing"
