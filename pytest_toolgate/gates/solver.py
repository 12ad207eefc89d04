"""One run of one solver over one candidate: with the software or, as a control, without it."""

import json
import time
from typing import Any

from ..agents import Agent, AgentError, AgentRun, Task, agent_version, load_agent
from ..agents.protocol import ANSWER_FILE
from ..candidate import Candidate
from ..config import SolveSettings
from ..domains import load_domain
from ..providers import ProviderError
from ..sandbox import Interpreter, SandboxError, SlotTimeout, probe
from ..store.reuse import judged_agent_run
from .agent_runs import agent_run_key, counts_as_review, exit_warning, presentation_of, warnings_about
from .agent_task import NotAdmitted, Work, agent_task, in_time
from .answer_file import AnswerFile, read_answer_file
from .control import without_software
from .domain_preflight import domain_preflight
from .environment import Conditions, environment
from .job_files import problem_files
from .money import Admission, tokens_and_cost
from .result import GateResult, error, fault
from .seal import Seal
from .workbench import Workbench


def run_solver(
    candidate: Candidate, settings: SolveSettings, bench: Workbench, attempt_id: str, *, control: bool = False
) -> GateResult:
    """Give the question to an agent in a fresh workspace and judge what it leaves there.

    Args:
        candidate: The candidate.
        settings: The solver.
        bench: What gates work with.
        attempt_id: Key of the attempt.
        control: Leave the domain's packages out of what the agent has.
    """
    return _SolverRun(candidate, settings, bench, attempt_id, control=control).result()


class _SolverRun:
    def __init__(
        self, candidate: Candidate, settings: SolveSettings, bench: Workbench, attempt_id: str, *, control: bool
    ) -> None:
        self.candidate = candidate
        self.settings = settings.at(bench.settings.providers[settings.provider])
        self.bench = bench
        self.attempt_id = attempt_id
        self.control = control
        self.domain = load_domain(candidate.domain)
        self.presentation = presentation_of(candidate, settings, bench.run.seed, control=control)
        self.shown = self.presentation.show(candidate.options)
        self.provider = bench.settings.providers[settings.provider]
        self.seal = Seal(bench.run, candidate, self.domain)
        self.version: str | None = None
        self.begun = time.monotonic()

    def result(self) -> GateResult:
        try:
            interpreter = self.bench.interpreter(self.domain)
            self.version = agent_version(self.settings)
            key = agent_run_key(
                self.candidate,
                self.settings,
                self.provider,
                self.bench.run.seed,
                interpreter.packages,
                self.bench.settings.sandbox,
                control=self.control,
                agent_version=self.version,
            )
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
        probe(self.bench.settings.sandbox)
        hidden = self.bench.hidden(self.domain, self.candidate)
        if stop := domain_preflight(self.domain, interpreter, self.bench, hidden):
            return stop
        if self.control:
            hidden += without_software(self.domain, interpreter, self.bench, hidden)
        agent = load_agent(self.settings.agent)
        work = Work(
            key=self.attempt_id,
            question=self.candidate.question,
            options=self.shown,
            files=problem_files(self.candidate, self.shown, self.domain, interpreter),
            domain=self.domain,
            interpreter=interpreter,
            hidden=hidden,
            watch=self.seal.broken,
            control=self.control,
        )
        try:
            with agent_task(work, self.settings, self.bench) as (task, admission):
                return self._work(agent, task, admission, interpreter, key)
        except NotAdmitted as refused:
            return refused.result

    def _work(self, agent: Agent, task: Task, admission: Admission, interpreter: Interpreter, key: str) -> GateResult:
        self.begun = task.deadline - self.settings.time_limit
        try:
            run = agent(task)
        except AgentError as problem:
            return self._failed(problem, interpreter, key)
        except Exception as problem:
            self._failed(AgentError(fault(problem), "internal"), interpreter, key)
            raise
        finally:
            admission.end()
        run = in_time(run, task)
        answer = read_answer_file(task.workspace / ANSWER_FILE, self.shown)
        result = self._judge(run, answer)
        self._record(interpreter, key, run, answer, result)
        return result

    def _judge(self, run: AgentRun, answer: AnswerFile) -> GateResult:
        if found := self.seal.broken_by(run.transcript, answer):
            return error("sandbox", found, made=1)
        if self.control and (there := sorted({*run.used, *(run.called or ())})):
            names = ", ".join(f"`{name}`" for name in there)
            return error("sandbox", f"the control run had the software all the same: it used {names}", made=1)
        if run.ended == "timeout":
            left = f"; it had left `{answer.text[:40]}`" if answer.text else ""
            sentence = f"the agent was not done within {self.settings.time_limit:g} s{left}"
            return GateResult("review", "timeout", sentence, made=1)
        if answer.letter is None:
            return GateResult("review", answer.reason, f"{answer.sentence}{': ' if run.note else ''}{run.note}", made=1)
        warnings = () if self.control else warnings_about(run.used, run.called)
        warnings += exit_warning(run.transcript)
        return self._graded(self.presentation.original(answer.letter), warnings, made=1)

    def _graded(self, chosen: str, warnings: tuple[str, ...], *, made: int = 0, reused: int = 0) -> GateResult:
        if self.candidate.options[chosen] == self.candidate.value:
            return GateResult("passed", warnings=warnings, made=made, reused=reused)
        sentence = (
            f"the agent answered {chosen} `{self.candidate.options[chosen][:80]}`, "
            f"the proposed answer is {self.candidate.answer} `{self.candidate.value[:80]}`"
        )
        return GateResult("review", "wrong", sentence, warnings, made=made, reused=reused)

    def _reuse(self, row: dict[str, Any]) -> GateResult:
        if counts_as_review(row):
            result = GateResult("review", row["reason"], row["note"], reused=1)
        else:
            # The answer may have been edited since, so the recorded choice is graded again.
            called = None if row["called"] is None else json.loads(row["called"])
            warnings = () if self.control else warnings_about(json.loads(row["used"]), called)
            warnings += exit_warning(json.loads(row["transcript"]))
            result = self._graded(row["chosen"], warnings, reused=1)
        self._use(row["id"], result)
        return result

    def _use(self, row_id: str, result: GateResult) -> None:
        self.bench.store.append("uses", {
            "attempt_id": self.attempt_id,
            "kind": "agent_run",
            "used_id": row_id,
            "reused": result.reused > 0,
            "correct": None if result.verdict == "error" else result.verdict == "passed",
        })  # fmt: skip

    def _failed(self, problem: AgentError, interpreter: Interpreter, key: str) -> GateResult:
        # One of `sandbox` is void in any case, and may be the very sight of a tripwire.
        looked_at = () if problem.reason == "sandbox" else problem.transcript
        found = self.seal.broken_by(looked_at, AnswerFile())
        result = error("sandbox", found, made=1) if found else error(problem.reason, str(problem), made=1)
        run = AgentRun(
            "finished", problem.transcript, problem.turns, problem.tokens, problem.used, called=problem.called
        )
        self._record(interpreter, key, run, AnswerFile(), result)
        if problem.quota:
            self.bench.stop_paid_work(str(problem))
        return result

    def _record(
        self, interpreter: Interpreter, key: str, run: AgentRun, answer: AnswerFile, result: GateResult
    ) -> None:
        chosen = None if answer.letter is None else self.presentation.original(answer.letter)
        row_id = self.bench.store.append(
            "agent_runs",
            {
                "attempt_id": self.attempt_id,
                "run_id": self.bench.run.id,
                "reuse_key": key,
                "agent": self.settings.agent,
                "agent_version": self.version,
                "solver": self.settings.name,
                "control": self.control,
                "settings": self.settings.plain(),
                "seed": self.bench.run.seed,
                "presentation": str(self.presentation),
                "environment": {
                    **environment(interpreter, Conditions()),
                    "sandbox": self.bench.settings.sandbox,
                },
                "outcome": result.verdict,
                "reason": result.reason,
                "note": result.sentence,
                "answer": answer.text,
                "chosen": chosen,
                "value": None if chosen is None else self.candidate.options[chosen],
                "correct": None if chosen is None else self.candidate.options[chosen] == self.candidate.value,
                "used": list(run.used),
                "called": None if run.called is None else list(run.called),
                "transcript": list(run.transcript),
                "turns": run.turns,
                **tokens_and_cost(self.provider, self.settings.model, run.tokens),
                "wall": round(time.monotonic() - self.begun, 3),
            },
        )
        self._use(row_id, result)
