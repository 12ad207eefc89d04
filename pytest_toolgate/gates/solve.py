"""Gate 3: can an agent that has the software get it right?"""

import dataclasses
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..agents import AgentError, AgentRun, Task, load_agent
from ..agents.protocol import ANSWER_FILE
from ..candidate import Candidate
from ..candidate.presentation import draw
from ..config import ProviderSettings, SolveSettings
from ..domains import load_domain
from ..providers import Provider, ProviderError, Request, Response, Tokens
from ..sandbox import Interpreter, Limits, SandboxError, SlotTimeout, probe, remove_tree
from ..store.reuse import judged_agent_run, reuse_key
from .answer_file import AnswerFile, read_answer_file
from .money import Admission, cost, what_it_took
from .preflight import preflight
from .result import GateResult, error, fault
from .screen import KEPT_TEXT
from .verify import environment, problem_files
from .workbench import Workbench

NO_TOOL = "solved without running the software"


def solve(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Give the question to the configured agent in a fresh workspace and judge what it leaves there."""
    settings = bench.settings.solve
    if settings is None:
        raise ValueError("the solve gate needs `solve` in the configuration")
    return _Solve(candidate, settings, bench, attempt_id).result()


def agent_run_key(
    candidate: Candidate, settings: SolveSettings, provider: ProviderSettings, seed: int, packages: Mapping[str, str]
) -> str:
    """The key under which an agent run is found again: neither answer nor script has any part in it."""
    return reuse_key(
        presented=candidate.presented,
        domain=candidate.domain,
        packages=dict(packages),
        seed=seed,
        version=__version__,
        server=provider.server(),
        **dataclasses.asdict(settings),
    )


class _Solve:
    """One solve of one candidate."""

    def __init__(self, candidate: Candidate, settings: SolveSettings, bench: Workbench, attempt_id: str) -> None:
        self.candidate = candidate
        self.settings = settings
        self.bench = bench
        self.attempt_id = attempt_id
        self.domain = load_domain(candidate.domain)
        self.presentation = draw(bench.run.seed, candidate.presented, f"solve {settings.agent}", 0)
        self.shown = self.presentation.show(candidate.options)
        self.provider = bench.settings.providers[settings.provider]
        self.admission = Admission(bench, attempt_id, settings)
        self.replies = 0
        self.begun = time.monotonic()

    def result(self) -> GateResult:
        try:
            interpreter = self.bench.interpreter(self.domain)
            key = agent_run_key(self.candidate, self.settings, self.provider, self.bench.run.seed, interpreter.packages)
            recorded = None if self.bench.run.fresh else judged_agent_run(self.bench.store, key)
            if recorded:
                return self._reuse(recorded)
            return self._run(interpreter, key)
        except SandboxError as problem:
            return error("sandbox", str(problem))
        except ProviderError as problem:
            return error("provider", str(problem))
        except AgentError as problem:
            return error(problem.reason, str(problem))
        except SlotTimeout as problem:
            return error("environment", str(problem))

    def _run(self, interpreter: Interpreter, key: str) -> GateResult:
        probe()
        agent = load_agent(self.settings.agent)
        provider = self.bench.provider(self.settings.provider)
        # The clock starts with a place at the model, so that a time limit does not measure the other workers.
        with self.bench.agent_slots(self.settings.provider).hold(), _workspace(self.bench.run.directory) as workspace:
            refused = self._may_pay()
            self.admission.release()  # the agent asks again for each of its calls
            if refused:
                return error(*refused)
            self.begun = time.monotonic()
            task = Task(
                question=self.candidate.question,
                options=self.shown,
                files=problem_files(self.candidate, self.shown, self.domain, interpreter),
                workspace=workspace,
                domain=self.domain,
                interpreter=interpreter,
                settings=self.settings,
                provider=_Kept(provider, self),
                limits=Limits(memory=self.bench.settings.verify.memory, disk=self.bench.settings.verify.disk),
                hidden=self.bench.hidden(self.candidate),
                call_slots=self.bench.call_slots(self.settings.provider),
                cpu_slots=self.bench.cpu_slots(),
                deadline=self.begun + self.settings.time_limit,
                may_pay=self._may_pay,
            )
            try:
                run = agent(task)
            except AgentError as problem:
                return self._failed(problem, interpreter, key)
            except Exception as problem:
                self._failed(AgentError(fault(problem), "internal"), interpreter, key)
                raise
            finally:
                self.admission.release()
            if time.monotonic() >= task.deadline + run.waited:
                # The gate keeps the time, whatever the agent says: an answer it was still working on comes too late.
                run = dataclasses.replace(run, ended="timeout")
            answer = read_answer_file(workspace / ANSWER_FILE, self.shown)
            result = self._judge(run, answer)
            self._record(interpreter, key, run, answer, result)
            return result

    def _may_pay(self) -> tuple[str, str] | None:
        self.admission.release()
        stop = self.admission.admit()
        return (stop.reason, stop.sentence) if stop else None

    def keep(self, request: Request, response: Response, base_url: str) -> None:
        """Record one reply of the agent's model before anything else happens with it."""
        self.replies += 1
        self.bench.store.append("agent_replies", {
            "attempt_id": self.attempt_id,
            "run_id": self.bench.run.id,
            "number": self.replies,
            "provider": self.settings.provider,
            "base_url": base_url,
            "model_asked": request.model,
            "status": response.status,
            "text": response.text[:KEPT_TEXT],
            "note": response.error,
            **what_it_took(self.provider, request.model, response),
        })  # fmt: skip

    def _judge(self, run: AgentRun, answer: AnswerFile) -> GateResult:
        if run.ended == "timeout":
            left = f"; it had left `{answer.text[:40]}`" if answer.text else ""
            sentence = f"the agent was not done within {self.settings.time_limit:g} s{left}"
            return GateResult("review", "timeout", sentence, made=1)
        if answer.letter is None:
            return GateResult("review", answer.reason, f"{answer.sentence}{': ' if run.note else ''}{run.note}", made=1)
        return self._graded(self.presentation.original(answer.letter), run.used, made=1)

    def _graded(self, chosen: str, used: tuple[str, ...], *, made: int = 0, reused: int = 0) -> GateResult:
        warnings = () if used else (NO_TOOL,)
        if self.candidate.options[chosen] == self.candidate.value:
            return GateResult("passed", warnings=warnings, made=made, reused=reused)
        sentence = (
            f"the agent answered {chosen} `{self.candidate.options[chosen][:80]}`, "
            f"the proposed answer is {self.candidate.answer} `{self.candidate.value[:80]}`"
        )
        return GateResult("review", "wrong", sentence, warnings, made=made, reused=reused)

    def _reuse(self, row: dict[str, Any]) -> GateResult:
        use = {"attempt_id": self.attempt_id, "kind": "agent_run", "used_id": row["id"], "reused": True}
        self.bench.store.append("uses", use)
        if row["chosen"] is None or row["reason"] == "timeout":
            return GateResult("review", row["reason"], row["note"], reused=1)
        # The answer may have been edited since, so the recorded choice is graded again.
        return self._graded(row["chosen"], tuple(json.loads(row["used"])), reused=1)

    def _failed(self, problem: AgentError, interpreter: Interpreter, key: str) -> GateResult:
        result = error(problem.reason, str(problem), made=1)
        run = AgentRun("finished", problem.transcript, tokens=problem.tokens)
        self._record(interpreter, key, run, AnswerFile(), result)
        if problem.quota:
            self.bench.stop_paid_work(str(problem))
        return result

    def _record(
        self, interpreter: Interpreter, key: str, run: AgentRun, answer: AnswerFile, result: GateResult
    ) -> None:
        chosen = None if answer.letter is None else self.presentation.original(answer.letter)
        tokens: Tokens = run.tokens
        row_id = self.bench.store.append(
            "agent_runs",
            {
                "attempt_id": self.attempt_id,
                "run_id": self.bench.run.id,
                "reuse_key": key,
                "agent": self.settings.agent,
                "settings": dataclasses.asdict(self.settings),
                "seed": self.bench.run.seed,
                "presentation": str(self.presentation),
                "environment": environment(interpreter),
                "outcome": result.verdict,
                "reason": result.reason,
                "note": result.sentence,
                "answer": answer.text,
                "chosen": chosen,
                "value": None if chosen is None else self.candidate.options[chosen],
                "correct": None if chosen is None else self.candidate.options[chosen] == self.candidate.value,
                "used": list(run.used),
                "transcript": list(run.transcript),
                "turns": run.turns,
                "input_tokens": tokens.input,
                "cached_tokens": tokens.cached,
                "output_tokens": tokens.output,
                "reasoning_tokens": tokens.reasoning,
                "cost": cost(self.provider, self.settings.model, tokens),
                "wall": round(time.monotonic() - self.begun, 3),
            },
        )
        use = {"attempt_id": self.attempt_id, "kind": "agent_run", "used_id": row_id, "reused": False}
        self.bench.store.append("uses", use)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A provider whose replies are recorded as they come: killed at any instant, none that was paid for is lost."""

    inner: Provider
    solve: _Solve

    @property
    def base_url(self) -> str:
        """Address of the server."""
        return self.inner.base_url

    def ask(self, request: Request) -> Response:
        """Make one call and record what came back.

        Raises:
            AgentError: The preflight has failed, so no call is made.
        """
        begun = time.monotonic()
        # An agent may work without a model, so the first call decides that there is one to prove.
        if stop := preflight(self.solve.bench, self.solve.settings):
            raise AgentError(stop.sentence, stop.reason)
        proving = time.monotonic() - begun
        response = self.inner.ask(request)
        self.solve.keep(request, response, self.inner.base_url)
        self.solve.admission.release()
        return dataclasses.replace(response, waited=response.waited + proving)


@contextmanager
def _workspace(run_directory: Path) -> Iterator[Path]:
    """A fresh directory, gone afterwards whatever it holds then; what cannot be removed goes with the run's own."""
    directory = Path(tempfile.mkdtemp(prefix="solve-", dir=run_directory))
    try:
        yield directory
    finally:
        remove_tree(directory)
