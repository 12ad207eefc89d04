"""Gate 1: does the script, without the answer at hand, reproduce the answer?"""

from dataclasses import dataclass

from ..candidate import Candidate
from ..candidate.presentation import Presentation, draw_moved
from ..domains import Domain, DomainError, load_domain
from ..sandbox import Finished, Interpreter, Job, Limits, SandboxError, SlotTimeout
from .domain_preflight import domain_preflight, missing_package, not_installed
from .environment import Conditions, conditions, environment
from .evidence import evidence
from .job_files import problem_files
from .result import GateResult, error, passed, rejected
from .script_answer import Answer, against, answer_lines, read_run
from .script_run import ScriptRun, script_runs
from .workbench import Workbench

_KEPT_OUTPUT = 64 * 1024


def verify(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Run the script as often as configured and compare the options it arrives at."""
    try:
        domain = load_domain(candidate.domain)
        interpreter = bench.interpreter(domain)
        if stop := domain_preflight(domain, interpreter, bench, bench.hidden(domain, candidate)):
            return stop
        return _Verification(candidate, domain, interpreter, bench, attempt_id).result()
    except SandboxError as problem:
        return error("sandbox", str(problem))
    except (DomainError, SlotTimeout) as problem:
        return error("environment", str(problem))


@dataclass(frozen=True, slots=True)
class _Run:
    """One run that counts, with what it said and what is told of it."""

    finished: Finished
    answer: Answer
    evidence: str


class _Verification:
    """One candidate at gate 1."""

    def __init__(
        self, candidate: Candidate, domain: Domain, interpreter: Interpreter, bench: Workbench, attempt_id: str
    ) -> None:
        self.candidate = candidate
        self.domain = domain
        self.interpreter = interpreter
        self.bench = bench
        self.attempt_id = attempt_id
        self.repeats = bench.settings.verify.repeats

    def result(self) -> GateResult:
        candidate = self.candidate
        runs: list[_Run] = []
        for number, shown in enumerate(
            draw_moved(self.bench.run.seed, candidate.fingerprint, candidate.answer, self.repeats)
        ):
            run = self._run(number, shown)
            package = missing_package(run.finished)
            # A submodule that does not exist is the script's own mistake.
            if package in (*self.domain.packages, *self.domain.stand_ins):
                return error("environment", not_installed(package, self.domain, self.interpreter))
            runs.append(run)
            reason = against([each.answer for each in runs], [bool(each.finished.used) for each in runs], self.repeats)
            if reason == "not-reproducible":
                return _not_reproducible(runs[0], run, number)
            if reason == "tool-unused":
                names = ", ".join(f"`{name}`" for name in self.domain.packages)
                return rejected(
                    reason, f"the script never ran {names}: it does not need the software to print its answer"
                )
            if reason:
                earlier = f"run {number + 1} of {self.repeats}: " if number else ""
                after = f"; run 1 answered `{runs[0].answer.text}`\n{runs[0].evidence}" if number else ""
                return rejected(reason, f"{earlier}{run.answer.sentence}{after}\n{run.evidence}")
        warned = any(b"Traceback (most recent call last)" in run.finished.stderr for run in runs)
        return passed(*(["the script printed a traceback and then its answer"] if warned else []))

    def _run(self, number: int, shown: Presentation) -> _Run:
        """Run the script under the conditions of one run; every run is recorded, the last one counts."""
        under = conditions(number)
        job = self._job(shown, under)
        for run in script_runs(job, self.bench):
            answer = read_run(run.finished, job.limits, self.candidate, shown)
            self._record(number, shown, under, run, answer)
        heading = f"run {number + 1} of {self.repeats}, {under}"
        if run.alone:
            heading += ", alone after a timeout with little CPU time"
        if run.warm:
            heading += ", started warm"
        return _Run(run.finished, answer, evidence(heading, run.finished, answer_lines(run.finished.stdout)))

    def _job(self, shown: Presentation, under: Conditions) -> Job:
        settings = self.bench.settings.verify
        options = shown.show(self.candidate.options)
        return Job(
            interpreter=self.interpreter,
            script=self.candidate.solution.encode(),
            files=problem_files(self.candidate, options, self.domain, self.interpreter),
            limits=Limits(wall=settings.time_limit, memory=settings.memory, disk=settings.disk),
            env=under.env(),
            threads=under.threads,
            directory=under.directory,
            watch=self.domain.packages,
            warm=self.bench.warm_start(self.domain),
            hidden=self.bench.hidden(self.domain, self.candidate),
            tier=self.bench.settings.sandbox,
        )

    def _record(self, number: int, shown: Presentation, under: Conditions, run: ScriptRun, answer: Answer) -> None:
        finished = run.finished
        self.bench.store.append("script_runs", {
            "attempt_id": self.attempt_id,
            "number": number,
            "alone": run.alone,
            "presentation": str(shown),
            "environment": environment(self.interpreter, under, warm=run.warm),
            "sandbox": finished.tier,
            "ended": finished.ended,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "answer": answer.text,
            "matched": answer.matched,
            "wall": round(finished.wall, 3),
            "cpu": round(finished.cpu, 3),
            "peak_memory": finished.peak_memory,
            "disk_used": finished.disk_used,
            "files_made": finished.files_made,
            "used": list(finished.used),
            "called": None if finished.called is None else list(finished.called),
            "stdout": _kept(finished.stdout),
            "stdout_bytes": finished.stdout_bytes,
            "stderr": _kept(finished.stderr),
            "stderr_bytes": finished.stderr_bytes,
        })  # fmt: skip


def _kept(output: bytes) -> str:
    """Output as it is stored: its end, where answers and errors stand."""
    cut = output[-_KEPT_OUTPUT:]
    text = cut.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text if len(cut) == len(output) else f"[{len(output) - len(cut)} bytes cut]\n{text}"


def _not_reproducible(first: _Run, other: _Run, number: int) -> GateResult:
    sentence = (
        f"run 1 answered `{first.answer.text}`, run {number + 1} answered `{other.answer.text}`, "
        f"with other letters and another hash seed, thread count and working directory"
    )
    return rejected("not-reproducible", f"{sentence}\n{first.evidence}\n{other.evidence}")
