"""The built-in agent: a model writes Python, the sandbox runs it, the output goes back to the model.

Model and keys stay outside of the sandbox, code stays inside. A model that can call functions has one that runs a
script; with any other the protocol needs nothing but text: a code block to run something. An `ANSWER:` line finishes,
or, where a candidate is to be proposed, a block that holds its file.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..providers import Message, Request, Response, Tokens
from ..providers.protocol import NO_TOKENS
from ..sandbox import Finished, SandboxError, Slots
from .builtin_goal import Goal, goal_of, leave
from .builtin_history import answered, in_words, recent, spoken
from .builtin_moves import RUN
from .builtin_prompt import cut
from .builtin_script import run_script
from .protocol import AgentError, AgentRun, Task

# After so many scripts in a row without a usable result the conversation starts again from the question: a small
# model repeats what it sees, its own mistake most of all.
_FRESH_START = 2
# A single command never gets all of the remaining time: a loop without end must leave room for another try.
_COMMAND_SHARE = 0.5
_COMMAND_LEAST = 20.0
# What the transcript keeps of an output or of the arguments of a call, and of what the model says; characters.
_KEPT = 4000
_KEPT_WORDS = 64 * 1024


def solve(task: Task) -> AgentRun:
    """Work on the task until the model has answered or its time or turns are over."""
    return _Conversation(task).hold()


@dataclass(slots=True)
class _Conversation:
    task: Task
    functions: bool = False
    history: list[Message] = field(default_factory=list)
    transcript: list[dict[str, Any]] = field(default_factory=list)
    scripts: set[str] = field(default_factory=set)
    mistakes: list[str] = field(default_factory=list)
    in_vain: int = 0
    waited: float = 0.0
    used: set[str] = field(default_factory=set)
    called: set[str] | None = field(default_factory=set)
    tokens: Tokens = NO_TOKENS
    turns: int = 0
    goal: Goal = field(init=False)

    def __post_init__(self) -> None:
        self.goal = goal_of(self.task)

    def hold(self) -> AgentRun:
        self.functions = self.task.settings.tools != "blocks"
        self.history = [self._instructions(), Message("user", self.goal.first())]
        while self.turns < self.task.settings.most_turns:
            if self._left() <= 0:
                return self._ended("timeout", "its time was over")
            response = self._ask()
            if response is None:
                return self._ended("timeout", "its time was over")
            feedback = self._act(response)
            if feedback is None:
                return self._ended("finished", "")
            self._tell(response, feedback + self._time())
            if self.in_vain == _FRESH_START:
                self._start_again()
        return self._ended("finished", f"it used up its {self.task.settings.most_turns} turns")

    def _act(self, response: Response) -> str | None:
        """Do what a reply asks for; returns what to tell the model, or None when it is done."""
        move = self.goal.read(response)
        if move.in_text and self.functions and self.task.settings.tools == "auto":
            self._go_on_with_blocks()
        if move.script:
            return self._run(move.script)
        if move.complaint:
            cut_off = " Your reply was cut off; write a shorter one." if response.status == "truncated" else ""
            return move.complaint + cut_off
        if not move.result:
            return self.goal.no_move(functions=self.functions)
        if not self.scripts and (advice := self.goal.too_soon(functions=self.functions)):
            return advice
        leave(self.task.workspace / self.task.result, move.result)
        return None

    def _run(self, script: str) -> str | None:
        finished = self._execute(script)
        streams = {name: getattr(finished, name).decode("utf-8", "replace") for name in ("stdout", "stderr")}
        entry = {"role": "command", "script": script, "ended": finished.ended, "exit_code": finished.exit_code}
        self.transcript.append(entry | {name: cut(text, _KEPT) for name, text in streams.items()})
        self.used.update(finished.used)
        self.called = None if self.called is None or finished.called is None else self.called | {*finished.called}
        for name, printed in (("stdout", finished.stdout), ("stderr", finished.stderr)):
            if found := self.task.watch(printed, f"the {name} of a command"):
                raise self._error(found, "sandbox")
        repeated = script.strip() in self.scripts
        self.scripts.add(script.strip())
        if os.path.lexists(self.task.workspace / self.task.result):
            return None
        feedback = self.goal.feedback(finished, repeated=repeated)
        if feedback.mistake:
            self.mistakes.append(feedback.mistake)
            self.in_vain += 1
        return feedback.text

    def _execute(self, script: str) -> Finished:
        wall = max(1.0, min(self._left(), max(_COMMAND_LEAST, self._left() * _COMMAND_SHARE)))
        try:
            with self._place(self.task.cpu_slots):
                return run_script(self.task, script, wall)
        except SandboxError as problem:
            raise self._error(str(problem), "sandbox") from problem

    @contextmanager
    def _place(self, slots: Slots) -> Iterator[None]:
        """Hold a place. What other workers do until it is free is no work of this agent."""
        begun = time.monotonic()
        with slots.hold():
            self.waited += time.monotonic() - begun
            yield

    def _start_again(self) -> None:
        """Go back to the question, keeping of what went before only what was wrong with it."""
        errors = "\n".join(f"- a script {mistake}" for mistake in dict.fromkeys(self.mistakes))
        text = f"{self.goal.first()}\nEarlier attempts were wrong:\n{errors}\nTake another way.{self._time()}"
        self.in_vain = 0
        self.transcript.append({"role": "user", "text": text})
        self.history = [self._instructions(), Message("user", text)]

    def _go_on_with_blocks(self) -> None:
        """Offer no tools any more."""
        self.functions = False
        self.history = [self._instructions(), *in_words(self.history[1:])]

    def _instructions(self) -> Message:
        return Message("system", self.goal.instructions(functions=self.functions))

    def _ask(self) -> Response | None:
        """The model's next reply; None when time ran out while waiting for it."""
        response = self._call()
        if response.tools_refused and self.functions and self.task.settings.tools == "auto":
            self.transcript.append({"role": "system", "text": f"Without tools from here on: {response.error}"})
            self._go_on_with_blocks()
            response = self._call()
        self.turns += 1
        self.tokens += response.tokens
        if response.status == "failed":
            # Only a model that has answered before is known to be slow rather than dead.
            if self._left() <= 0 and self.turns > 1:
                return None
            raise self._error(f"the agent's model failed: {response.error}", "provider", quota=response.quota)
        if response.status == "refused":
            raise self._error(f"the agent's model refused: {response.error}", "agent")
        calls = [{"name": call.name, "arguments": cut(call.arguments, _KEPT)} for call in response.calls]
        entry = {"role": "assistant", "text": cut(response.text, _KEPT_WORDS)} | ({"calls": calls} if calls else {})
        served = {"model_served": response.model_served, "latency": round(response.latency, 3)}
        self.transcript.append(entry | served)
        self.history.append(spoken(response))
        return response

    def _call(self) -> Response:
        """One call, with a place for it and leave to pay for it."""
        settings = self.task.settings
        with self._place(self.task.call_slots):
            begun = time.monotonic()
            stop = self.task.may_pay()
            self.waited += time.monotonic() - begun
            if stop:
                raise self._error(stop[1], stop[0])
            request = Request(
                settings.model,
                recent(self.history),
                settings.reasoning,
                settings.max_output_tokens,
                self._left(),
                (RUN,) if self.functions else (),
            )
            try:
                response = self.task.provider.ask(request)
            except AgentError as problem:
                raise self._error(str(problem), problem.reason, quota=problem.quota) from problem
        self.waited += response.waited
        return response

    def _tell(self, response: Response, feedback: str) -> None:
        """Tell the model what came of its reply."""
        messages = answered(response, feedback)
        self.transcript.append({"role": messages[0].role, "text": feedback})
        self.history += messages

    def _left(self) -> float:
        return self.task.deadline + self.waited - time.monotonic()

    def _time(self) -> str:
        turns = self.task.settings.most_turns - self.turns
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
            self._called(),
        )

    def _called(self) -> tuple[str, ...] | None:
        return None if self.called is None else tuple(sorted(self.called))

    def _error(self, sentence: str, reason: str, *, quota: bool = False) -> AgentError:
        return AgentError(
            sentence,
            reason,
            quota=quota,
            transcript=tuple(self.transcript),
            tokens=self.tokens,
            turns=self.turns,
            used=tuple(sorted(self.used)),
            called=self._called(),
        )
