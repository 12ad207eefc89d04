"""The calls of an agent to its model: proven once, recorded as they come.

Killed at any instant, none that was paid for is lost.
"""

import dataclasses
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ..agents import AgentError
from ..agents.protocol import Watch
from ..config import SolveSettings
from ..providers import Call, Passed, PassesOn, Provider, Request, Response
from .money import Admission, unheard_cost, what_it_took
from .preflight import preflight
from .screen import KEPT_TEXT
from .workbench import Workbench


class AgentCalls:
    """A provider, as one agent run has it."""

    def __init__(
        self,
        inner: Provider,
        bench: Workbench,
        attempt_id: str,
        settings: SolveSettings,
        admission: Admission,
        control: bool,
        watch: Watch,
    ) -> None:
        self._inner = inner
        self._bench = bench
        self._attempt_id = attempt_id
        self._settings = settings
        self._admission = admission
        self._control = control
        self._watch = watch
        self._replies = 0

    @property
    def base_url(self) -> str:
        """Address of the server."""
        return self._inner.base_url

    def ask(self, request: Request) -> Response:
        """Make one call and record what came back.

        Raises:
            AgentError: The preflight has failed, or the request shows a tripwire, so no call is made.
        """
        conversation = dataclasses.asdict(request)
        written = json.dumps(conversation, default=str).encode()
        if found := self._watch(written):
            raise AgentError(found, "sandbox", transcript=({"role": "request", **conversation},))
        return self._kept(request.model, len(written), lambda: self._inner.ask(request))

    def pass_on(self, call: Call) -> Passed:
        """Pass one call of an agent's own program on and record what came back.

        Raises:
            AgentError: The preflight has failed, or the provider passes nothing on, so no call is made.
        """
        inner = self._inner
        if not isinstance(inner, PassesOn):
            raise AgentError(f"provider `{self._settings.provider}` is of a kind that passes no calls on", "provider")
        received: list[Passed] = []

        def ask() -> Response:
            received.append(inner.pass_on(call))
            return received[0].response

        response = self._kept(call.model, len(call.body), ask, call.holding_up)
        return dataclasses.replace(received[0], response=response)

    def _kept(
        self,
        model: str,
        size: int,
        ask: Callable[[], Response],
        holding_up: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Response:
        begun = time.monotonic()
        with holding_up():
            # An agent may work without a model, so the first call decides that there is one to prove.
            stop = preflight(self._bench, self._settings)
        if stop:
            raise AgentError(stop.sentence, stop.reason)
        proving = time.monotonic() - begun
        response = ask()
        self._record(model, size, response)
        self._admission.release()
        return dataclasses.replace(response, waited=response.waited + proving)

    def _record(self, model: str, size: int, response: Response) -> None:
        self._replies += 1
        took = what_it_took(self._bench.settings.providers[self._settings.provider], model, response)
        abandoned = response.status == "failed" and response.unheard > 0
        if abandoned:
            took["cost"] = unheard_cost(self._bench, self._settings, size, response.unheard)
        self._bench.store.append("agent_replies", {
            "attempt_id": self._attempt_id,
            "run_id": self._bench.run.id,
            "solver": self._settings.name,
            "control": self._control,
            "number": self._replies,
            "provider": self._settings.provider,
            "base_url": self._inner.base_url,
            "model_asked": model,
            "status": "abandoned" if abandoned else response.status,
            "text": response.said[:KEPT_TEXT],
            "note": response.error,
            **took,
        })  # fmt: skip
