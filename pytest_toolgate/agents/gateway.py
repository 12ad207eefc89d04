"""Where the model calls of an agent's own program arrive, and from where they go on to the provider.

The program runs in a network in which there is nothing but this. It gets neither the provider's key nor its address;
each of its calls is admitted, kept to the pace and the retries of the provider, and recorded, like any other call.
Replies are handed on whole: only so can a place for running commands be taken before the program acts on one.
"""

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http import HTTPStatus
from typing import Final

from ..providers import Call, Passed, PassesOn, ProviderError, Tokens
from ..providers.protocol import NO_TOKENS, Api
from ..providers.rendered import is_openais_own
from ..sandbox import SlotTimeout
from .admitted import objection, to_send
from .door import Answer, Asked, Door, refused
from .held import HeldUp
from .protocol import AgentError, Task

# Below the address of a provider: what makes a reply, by the protocol it is made in.
_PROTOCOLS: Final[Mapping[str, Api]] = {"responses": "responses", "chat/completions": "chat", "messages": "messages"}
_PREFIX: Final = "/v1/"
# What of a request the server is to know besides its body.
_HEADERS: Final = ("accept", "anthropic-version", "anthropic-beta")
# An agent may mend what is wrong with a request; with the rest there is nothing it could do.
_MENDABLE: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, 422})
# Programs wait and ask again when they read other errors. We have done so already, and end them.
_OVER: Final = HTTPStatus.FORBIDDEN
# Seconds for a reply that is on its way when the program has ended before its time; it is paid for all the same.
_GRACE: Final = 3.0


class Gateway:
    """The calls of one solve: see `sandbox.job.Door`, which it is.

    Attributes:
        calls: Calls so far that have come to their end.
        silent: Its model was asked, and has never answered.
        tokens: What they used.
        problem: Why the solve cannot go on, once it cannot.
        refusal: What was wrong with the last call, if anything was.
        spent: It has asked for more calls than it may make.
    """

    def __init__(self, task: Task) -> None:
        """Prepare it; it answers once the sandbox hands over a socket.

        Args:
            task: The solve.

        Raises:
            AgentError: The provider cannot be asked by a program of somebody else's.
        """
        if not isinstance(task.provider, PassesOn):
            raise AgentError("its provider is of a kind that passes no calls on", "provider")
        self._provider = task.provider
        self._hosted = is_openais_own(task.provider.base_url)
        self._task = task
        self._door: Door | None = None
        self._held = HeldUp()
        self._before = 0.0
        self._preparing = ExitStack()
        # A place for running commands, which changes hands between the threads of connections and the solve's own.
        self._place = ExitStack()
        self._placing = threading.Lock()
        self._asking = threading.Lock()
        self._given_up: Future[None] = Future()
        self._over = False
        self.calls = 0
        self.silent = False
        self.tokens: Tokens = NO_TOKENS
        self.problem: AgentError | None = None
        self.refusal = ""
        self.spent = False

    # --- what the sandbox asks ------------------------------------------------------------------------------

    @property
    def waited(self) -> float:
        """Seconds for which the program has been held up by us since it may run."""
        return self._held.seconds - self._before

    @property
    def closed(self) -> bool:
        """Whether the program is to be ended."""
        return self.problem is not None or self.spent

    def open(self, listener: socket.socket) -> None:
        """Answer whoever connects, from now on, as the program begins."""
        self._preparing.close()
        self._before = self._held.seconds
        self._door = Door(listener, self.answer)

    # --- what the agent asks --------------------------------------------------------------------------------

    @property
    def waited_in_all(self) -> float:
        """Seconds in which we held the solve up: to prepare it, and for want of a place for running commands."""
        return self._held.seconds

    def preparing(self) -> AbstractContextManager[None]:
        """While the program is looked up and proven, which is no time of the solve."""
        return self._held.during()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While the program may run: with a place for running commands in hand, but for the time of its calls.

        Until its sandbox is made, it is held up by us.
        """
        self._take_place()
        self._preparing.enter_context(self._held.during())
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        self._preparing.close()  # where there was no sandbox
        with self._placing:
            self._over = True
        self._give_place()
        if self._door is not None:
            self._door.end()
        # What comes of a call under way belongs into the record of this solve, but nobody waits for it for long.
        if not self._asking.acquire(timeout=_GRACE):
            self._given_up.set_result(None)
            if not self._asking.acquire(timeout=_GRACE):
                return
        self._asking.release()

    # --- a call ---------------------------------------------------------------------------------------------

    def answer(self, asked: Asked) -> Answer:
        """What the program gets for one request of its own; one call at a time."""
        path = asked.path.partition("?")[0]
        if asked.method != "POST":
            return self._tell(path)
        name = path.removeprefix(_PREFIX)
        if name not in _PROTOCOLS:
            return refused(HTTPStatus.NOT_FOUND, f"there is only {_PREFIX} with {', '.join(_PROTOCOLS)} here")
        try:
            request = json.loads(asked.body)
            model = request["model"]
            wrong = objection(request, _PROTOCOLS[name])
            body = to_send(request, _PROTOCOLS[name], self._task.settings.max_output_tokens, hosted=self._hosted)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            return refused(HTTPStatus.BAD_REQUEST, "the request is no JSON object that names a model")
        if model != self._task.settings.model:
            return refused(HTTPStatus.BAD_REQUEST, f"there is only the model {self._task.settings.model} here")
        if wrong:
            return refused(HTTPStatus.BAD_REQUEST, wrong)
        if found := self._task.watch(asked.body, "a request to its model"):
            return self._stop(AgentError(found, "sandbox"))
        del request
        try:
            return self._reply(name, body, asked.headers)
        except AgentError as problem:
            return self._stop(problem)
        except ProviderError as problem:
            return self._stop(AgentError(str(problem), "provider"))
        except SlotTimeout as problem:
            return self._stop(AgentError(str(problem), "environment"))
        except Exception as problem:  # noqa: BLE001 - it must not vanish with the thread it happens in
            return self._stop(AgentError(f"{type(problem).__name__}: {problem}", "internal"))

    def _tell(self, path: str) -> Answer:
        """The list of models, which is known; and that somebody is here."""
        if path == f"{_PREFIX}models":
            model = {"id": self._task.settings.model, "object": "model", "created": 0, "owned_by": "toolgate"}
            return Answer(HTTPStatus.OK, json.dumps({"object": "list", "data": [model]}).encode())
        return refused(HTTPStatus.OK if path == "/" else HTTPStatus.NOT_FOUND, "nothing but models is here")

    def _reply(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if self._over or self.problem is not None:
            return _too_late()
        if self.calls >= self._task.settings.most_turns:
            self.spent = True
            return refused(_OVER, f"its {self._task.settings.most_turns} calls are made")
        self._give_place()  # until the reply is here, the program has nothing to run
        passed = self._pass_on(path, body, headers)
        if passed is None:
            return _too_late()
        response = passed.response
        if response.status == "failed" and passed.status not in _MENDABLE:
            # Only a model that has answered before is known to be slow rather than dead.
            if self._over or (self._left() <= 0 and not self.silent):
                return refused(_OVER, "the time is over")
            raise AgentError(f"the agent's model failed: {response.error}", "provider", quota=response.quota)
        self._take_place()
        return Answer(passed.status or HTTPStatus.BAD_GATEWAY, passed.body, passed.content_type)

    def _pass_on(self, path: str, body: bytes, headers: Mapping[str, str]) -> Passed | None:
        """What came back; None when the program has ended meanwhile, and nothing was asked."""
        task = self._task
        with ExitStack() as place:
            with self._held.during():
                place.enter_context(task.call_slots.hold())
                stop = None if self._over else task.may_pay()
            if stop:
                raise AgentError(stop[1], stop[0])
            with self._asking:
                if self._over:
                    return None
                sent = {name: headers[name] for name in _HEADERS if name in headers}
                call = Call(
                    _PROTOCOLS[path],
                    path,
                    body,
                    {"content-type": "application/json", **sent},
                    task.settings.model,
                    max(0.001, self._left()),
                    self._held.during,
                    self._given_up,
                )
                self.silent = self.silent or not self.calls
                passed = self._provider.pass_on(call)
                response = passed.response
                if self._given_up.done():
                    return None  # it is on the record, and says nothing of the program
                self.calls += 1
                self.silent = self.silent and response.status == "failed"
                self.tokens += response.tokens
                self.refusal = response.error if response.status == "failed" else ""
                return passed

    def _stop(self, problem: AgentError) -> Answer:
        if not self._over:  # afterwards it is nobody's
            self.problem = self.problem or problem
        # Why is for the record: paths, addresses and the sums of others are no business of the program.
        return refused(_OVER, "the solve cannot go on")

    # --- places and time ------------------------------------------------------------------------------------

    def _left(self) -> float:
        return self._task.deadline + self._held.seconds - time.monotonic()

    def _take_place(self) -> None:
        with self._held.during(), ExitStack() as taken:
            taken.enter_context(self._task.cpu_slots.hold())
            with self._placing:
                if not self._over:  # else it has come too late, and goes back at once
                    self._place = taken.pop_all()

    def _give_place(self) -> None:
        with self._placing:
            place, self._place = self._place, ExitStack()
        place.close()


def _too_late() -> Answer:
    return refused(_OVER, "the solve is over")
