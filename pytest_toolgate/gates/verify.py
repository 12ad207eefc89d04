"""Gate 1: does the script, without the answer at hand, reproduce the answer?"""

import json
import re
from dataclasses import dataclass

from ..candidate import Candidate
from ..candidate.matching import match_answer
from ..candidate.presentation import Presentation, draw_moved
from ..domains import Domain, DomainError, load_domain
from ..sandbox import Finished, Interpreter, Job, Limits, SandboxError, SlotTimeout, run
from .result import GateResult, error, passed, rejected
from .workbench import Workbench

# Hash seeds of the runs: a script whose answer hangs on the order of a set gives itself away.
_HASH_SEEDS = ("0", "2718281", "31415926")
_MISSING_MODULE = re.compile(r"^(?:ModuleNotFoundError|ImportError): (?:No module named '([\w.]+)'|.*)$")
_KEPT_OUTPUT = 64 * 1024


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


def verify(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Run the script as often as configured and compare the options it arrives at."""
    settings = bench.settings.verify
    answers: list[Answer] = []
    notes: list[str] = []
    unused = False
    try:
        domain = load_domain(candidate.domain)
        interpreter = bench.interpreter(domain)
        for number, shown in enumerate(
            draw_moved(bench.run.seed, candidate.fingerprint, candidate.answer, settings.repeats)
        ):
            with bench.cpu_slots().hold():
                finished = run(_job(candidate, domain, interpreter, shown, number, bench))
            answer = read_run(finished, candidate, shown)
            _record(bench, attempt_id, number, shown, interpreter, finished, answer)
            if missing := _missing_package(finished, domain):
                sentence = (
                    f"the package `{missing}` of the domain `{domain.name}` is not installed in {interpreter.python}"
                )
                return error("environment", sentence)
            if answer.reason in ("mismatch", "ambiguous") and answers:
                sentence = f"run 1 answered `{answers[0].text}`, run {number + 1} answered `{answer.text}`"
                return rejected("not-reproducible", f"{sentence}, with other letters and another hash seed")
            if answer.reason:
                return rejected(answer.reason, answer.sentence)
            answers.append(answer)
            unused |= not finished.used
            if b"Traceback (most recent call last)" in finished.stderr:
                notes.append("the script printed a traceback and then its answer")
    except SandboxError as problem:
        return error("sandbox", str(problem))
    except (DomainError, SlotTimeout) as problem:
        return error("environment", str(problem))
    if unused:
        names = ", ".join(f"`{name}`" for name in domain.packages)
        return rejected(
            "tool-unused", f"the script never ran {names}: it does not need the software to print its answer"
        )
    return passed(*dict.fromkeys(notes))


def read_run(finished: Finished, candidate: Candidate, shown: Presentation) -> Answer:
    """What one finished run says; limits come first, then how it ended, then what it printed."""
    printed = answer_lines(finished.stdout)
    before = "; an answer had been printed before" if printed else ""
    last = _last_line(finished.stderr)
    if finished.ended == "timeout":
        return Answer("timeout", f"the script did not finish within its time limit ({finished.wall:.1f} s){before}")
    if finished.ended in ("memory-limit", "disk-limit", "output-limit"):
        return Answer(
            finished.ended, f"the script exceeded its {finished.ended.replace('-', ' ')}{_tail(last)}{before}"
        )
    if finished.ended == "killed":
        return Answer("killed", f"the script was killed by signal {finished.signal}{_tail(last)}{before}")
    if finished.exit_code != 0:
        return Answer("exit-status", f"the script exited with status {finished.exit_code}{_tail(last)}{before}")
    return _read_output(printed, finished, candidate, shown)


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


def _job(
    candidate: Candidate, domain: Domain, interpreter: Interpreter, shown: Presentation, number: int, bench: Workbench
) -> Job:
    settings = bench.settings.verify
    return Job(
        interpreter=interpreter,
        script=candidate.solution.encode(),
        files=problem_files(candidate, shown.show(candidate.options), domain, interpreter),
        limits=Limits(wall=settings.time_limit, memory=settings.memory, disk=settings.disk),
        env={"PYTHONHASHSEED": _HASH_SEEDS[number % len(_HASH_SEEDS)]},
        watch=domain.packages,
        hidden=bench.hidden(candidate),
    )


def problem_files(
    candidate: Candidate, options: dict[str, str], domain: Domain, interpreter: Interpreter
) -> dict[str, bytes]:
    """The files that a script or an agent finds: the question and the options as shown, without the answer."""
    problem = {"id": candidate.id, "question": candidate.question, "options": options}
    files = {"problem.json": json.dumps(problem, ensure_ascii=False, indent=2).encode()}
    for module in domain.stand_ins:
        if not any(name.replace("-", "_").startswith(module) for name in interpreter.packages):
            files[f"{module}.py"] = b""
    return files


def environment(interpreter: Interpreter) -> dict[str, object]:
    """What the record says about the interpreter."""
    return {
        "python": str(interpreter.python),
        "version": interpreter.version,
        "packages": dict(interpreter.packages),
        "threads": 1,
    }


def _record(
    bench: Workbench,
    attempt_id: str,
    number: int,
    shown: Presentation,
    interpreter: Interpreter,
    finished: Finished,
    answer: Answer,
) -> None:
    bench.store.append(
        "script_runs",
        {
            "attempt_id": attempt_id,
            "number": number,
            "presentation": str(shown),
            "environment": environment(interpreter),
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
            "used": list(finished.used),
            "stdout": kept(finished.stdout),
            "stderr": kept(finished.stderr),
        },
    )


def kept(output: bytes) -> str:
    """Output as it is stored: its end, where answers and errors stand."""
    cut = output[-_KEPT_OUTPUT:]
    text = cut.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text if len(cut) == len(output) else f"[{len(output) - len(cut)} bytes cut]\n{text}"


def _missing_package(finished: Finished, domain: Domain) -> str | None:
    if finished.ended != "exited" or finished.exit_code == 0:
        return None
    match = _MISSING_MODULE.match(_last_line(finished.stderr))
    # A submodule that does not exist is the script's own mistake.
    return match[1] if match and match[1] in (*domain.packages, *domain.stand_ins) else None


def _last_line(stderr: bytes) -> str:
    lines = stderr[-4096:].decode("utf-8", "replace").strip().splitlines()
    return " ".join(lines[-1].split())[:300] if lines else ""


def _tail(last: str) -> str:
    return f": {last}" if last else ""


def _near_miss(stdout: bytes) -> str:
    for line in stdout[-65536:].decode("utf-8", "replace").splitlines():
        if "answer" in line.casefold():
            return f"; the nearest is `{line.strip()[:120]}`"
    return ""
