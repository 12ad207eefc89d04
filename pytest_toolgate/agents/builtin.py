"""The built-in agent: a model writes Python, the sandbox runs it, the output goes back to the model.

Model and keys stay outside of the sandbox, code stays inside. The protocol needs nothing but text (a code block
to run something, an `ANSWER:` line to finish), so that it works with models that cannot call functions.
"""

import dataclasses
import functools
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..candidate.matching import match_answer
from ..providers import Message, Request, Tokens
from ..providers.protocol import NO_TOKENS
from ..sandbox import Finished, Job, SandboxError, Slots, run
from ..screen.reading import read_reply
from . import inside
from .builtin_prompt import cut, instructions, question, recent
from .protocol import ANSWER_FILE, AgentError, AgentRun, Task

_BLOCK = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
_RESULT = re.compile(r"^RESULT:[ \t]*+(\S[^\n]*+)$", re.MULTILINE)
# What one turn may show of a script's output, in characters.
_SHOWN_OUTPUT = 1500
_SHOWN_ERROR = 1200
_MAX_SCRIPT = 64 * 1024
_LOOKED_AT = 64 * 1024
_EXPLAIN = "toolgate_explain"
# After so many scripts in a row without a usable result the conversation starts again from the question: a small
# model repeats what it sees, its own mistake most of all.
_FRESH_START = 2
# A single command never gets all of the remaining time: a loop without end must leave room for another try.
_COMMAND_SHARE = 0.5
_COMMAND_LEAST = 20.0


def solve(task: Task) -> AgentRun:
    """Work on the task until the model has answered or its time or turns are over."""
    return _Conversation(task).hold()


@dataclass(slots=True)
class _Conversation:
    task: Task
    history: list[Message] = field(default_factory=list)
    transcript: list[dict[str, Any]] = field(default_factory=list)
    scripts: set[str] = field(default_factory=set)
    mistakes: list[str] = field(default_factory=list)
    in_vain: int = 0
    waited: float = 0.0
    used: set[str] = field(default_factory=set)
    tokens: Tokens = NO_TOKENS
    turns: int = 0

    def hold(self) -> AgentRun:
        self.history = [Message("system", instructions(self.task)), Message("user", question(self.task))]
        while self.turns < self.task.settings.max_turns:
            if self._left() <= 0:
                return self._ended("timeout", "its time was over")
            reply = self._ask()
            if reply is None:
                return self._ended("timeout", "its time was over")
            feedback = self._act(reply)
            if feedback is None:
                return self._ended("finished", "")
            self._say("user", feedback)
            if self.in_vain == _FRESH_START:
                self._start_again()
        return self._ended("finished", f"it used up its {self.task.settings.max_turns} turns")

    def _act(self, reply: str) -> str | None:
        """Do what a reply asks for; returns what to tell the model, or None when it has answered."""
        block = _BLOCK.search(reply)
        if block and block[1].strip():
            return self._run(block[1])
        choice = read_reply(reply, self.task.options)
        if choice.letter is None:
            return (
                "That was neither a Python code block nor a final line. Write one ```python block that computes the "
                f"value and prints it as RESULT: <value>, or finish with ANSWER: and a letter.{self._time()}"
            )
        if not self.scripts:
            return f"Do not guess. First compute: write one ```python block that prints RESULT: <value>.{self._time()}"
        self._write_answer(choice.letter)
        return None

    def _run(self, script: str) -> str | None:
        if len(script) > _MAX_SCRIPT:
            return f"That script is too long to run; {_MAX_SCRIPT // 1024} KiB is the limit."
        finished = self._execute(script)
        output = finished.stdout.decode("utf-8", "replace")
        complaint = finished.stderr.decode("utf-8", "replace")
        entry = {"role": "command", "script": script, "ended": finished.ended, "exit_code": finished.exit_code}
        self.transcript.append(entry | {"stdout": cut(output, 4000), "stderr": cut(complaint, 4000)})
        self.used.update(finished.used)
        repeated = script.strip() in self.scripts
        self.scripts.add(script.strip())
        if os.path.lexists(self.task.workspace / ANSWER_FILE):
            return None
        return self._feedback(finished, output, complaint, repeated=repeated)

    def _execute(self, script: str) -> Finished:
        wall = max(1.0, min(self._left(), max(_COMMAND_LEAST, self._left() * _COMMAND_SHARE)))
        job = Job(
            interpreter=self.task.interpreter,
            script=_with_explanations(script).encode("utf-8", "replace"),
            files={**self.task.files, f"{_EXPLAIN}.py": _explanations()},
            limits=dataclasses.replace(self.task.limits, wall=wall),
            watch=self.task.domain.packages,
            workspace=self.task.workspace,
            hidden=self.task.hidden,
        )
        try:
            with self._place(self.task.cpu_slots):
                return run(job)
        except SandboxError as problem:
            raise self._error(str(problem), "sandbox") from problem

    @contextmanager
    def _place(self, slots: Slots) -> Iterator[None]:
        """Hold a place. What other workers do until it is free is no work of this agent."""
        begun = time.monotonic()
        with slots.hold():
            self.waited += time.monotonic() - begun
            yield

    def _feedback(self, finished: Finished, output: str, complaint: str, *, repeated: bool) -> str:
        parts = []
        if output.strip():
            parts.append(f"Output:\n{cut(output, _SHOWN_OUTPUT)}")
        if finished.ended != "exited":
            self._mistaken(f"was stopped: {finished.ended}")
            parts.append(f"The script was stopped: {finished.ended} after {finished.wall:.0f} s.")
        elif finished.exit_code != 0 and not self._names_an_option(output):
            self._mistaken(f"failed: {_last_line(complaint)}")
            parts.append(f"The script failed:\n{cut(complaint, _SHOWN_ERROR, keep_end=True)}")
            parts.append("Correct it and write the whole script again.")
        else:
            parts.append(self._about_result(output))
        if repeated:
            parts.append("You have run this same script before. Do it in another way.")
        return "\n".join(parts) + self._time()

    def _about_result(self, output: str) -> str:
        """Say which option the printed result rounds to: the reader of a multiple-choice question does no less."""
        result = _last_result(output)
        if not result:
            return "Print the value that the question asks for as a line RESULT: <value>, with all its digits."
        match = match_answer(result, self.task.options)
        if match.letter is not None:
            return (
                f"RESULT {result[:60]} is option {match.letter}. If your script does what the question says, "
                f"finish with the line ANSWER: {match.letter}"
            )
        self._mistaken(f"gave {result[:60]}, which is none of the options")
        return (
            f"RESULT {result[:60]} is none of the options. Read the question again, find what your script does "
            "otherwise, and write the corrected script."
        )

    def _names_an_option(self, output: str) -> bool:
        """Whether a result had been printed that is one of the options, whatever went wrong after it."""
        result = _last_result(output)
        return bool(result) and match_answer(result, self.task.options).letter is not None

    def _mistaken(self, what: str) -> None:
        self.mistakes.append(what)
        self.in_vain += 1

    def _start_again(self) -> None:
        """Go back to the question, keeping of what went before only what was wrong with it."""
        errors = "\n".join(f"- a script {mistake}" for mistake in dict.fromkeys(self.mistakes))
        self.in_vain = 0
        self.history = self.history[:1]
        self._say(
            "user", f"{question(self.task)}\nEarlier attempts were wrong:\n{errors}\nTake another way.{self._time()}"
        )

    def _ask(self) -> str | None:
        """The model's next reply; None when time ran out while waiting for it."""
        settings = self.task.settings
        messages = recent(self.history)
        with self._place(self.task.call_slots):
            begun = time.monotonic()
            stop = self.task.may_pay()
            self.waited += time.monotonic() - begun
            if stop:
                raise self._error(stop[1], stop[0])
            request = Request(settings.model, messages, settings.reasoning, settings.max_output_tokens, self._left())
            response = self.task.provider.ask(request)
        self.turns += 1
        self.waited += response.waited
        self.tokens += response.tokens
        if response.status == "failed":
            # Only a model that has answered before is known to be slow rather than dead.
            if self._left() <= 0 and self.turns > 1:
                return None
            raise self._error(f"the agent's model failed: {response.error}", "provider", quota=response.quota)
        if response.status == "refused":
            raise self._error(f"the agent's model refused: {response.error}", "agent")
        self._say("assistant", response.text, model_served=response.model_served, latency=round(response.latency, 3))
        return response.text

    def _say(self, role: str, text: str, **more: object) -> None:
        self.transcript.append({"role": role, "text": text, **more})
        self.history.append(Message("assistant" if role == "assistant" else "user", text))

    def _write_answer(self, letter: str) -> None:
        """Leave the answer as any agent does. The workspace was a stranger's a moment ago: follow no link."""
        path = self.task.workspace / ANSWER_FILE
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(letter)

    def _left(self) -> float:
        return self.task.deadline + self.waited - time.monotonic()

    def _time(self) -> str:
        turns = self.task.settings.max_turns - self.turns
        return f"\n({max(0, int(self._left()))} seconds and {turns} turns left.)"

    def _ended(self, ended: str, note: str) -> AgentRun:
        return AgentRun(
            "timeout" if ended == "timeout" else "finished",
            tuple(self.transcript),
            self.turns,
            self.tokens,
            tuple(sorted(self.used)),
            note,
            self.waited,
        )

    def _error(self, sentence: str, reason: str, *, quota: bool = False) -> AgentError:
        return AgentError(sentence, reason, quota=quota, transcript=tuple(self.transcript), tokens=self.tokens)


def _with_explanations(script: str) -> str:
    # A __future__ import must come first, and is worth more than an explanation.
    return script if "__future__" in script else f"import {_EXPLAIN}\n{script}"


@functools.cache
def _explanations() -> bytes:
    return files(inside).joinpath("explain.py").read_bytes()


def _last_result(output: str) -> str:
    results = _RESULT.findall(output[-_LOOKED_AT:])
    return results[-1].strip() if results else ""


def _last_line(complaint: str) -> str:
    lines = [line for line in complaint.strip().splitlines() if not line.startswith("NOTE: ")]
    return lines[-1][:160] if lines else "no message"
