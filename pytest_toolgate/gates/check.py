"""Extra checks, after verify and before the screens: a script can agree with its answer and not with its question."""

import dataclasses
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..candidate import Candidate
from ..checks import CheckError, CheckResult, CheckRun, CheckTask, WatchError, load_check
from ..config import Severity
from ..domains import Domain, DomainError, load_domain
from ..sandbox import SandboxError, SlotTimeout
from ..store import StoreError
from .check_runs import CheckRuns
from .result import GateResult, error, escaped, fault, passed, rejected
from .workbench import Workbench

CHECK: Final = "check"
HOOK: Final = "pytest_toolgate_check"
_NAME = re.compile("[a-z0-9][a-z0-9-]{0,63}")
_LONGEST_SENTENCE = 1000
_LONGEST_EVIDENCE = 20_000


def check(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult | None:
    """Apply all checks that are due to a candidate; None where none of them has anything to look at.

    The first one that rejects ends it, and so does the first one that could not be carried out.
    """
    try:
        domain = load_domain(candidate.domain)
        due = checks_due(domain, bench.settings.checks)
        if not due and bench.check_hook is None:
            return None
        interpreter = bench.interpreter(domain)
        runs = CheckRuns(candidate, domain, interpreter, bench)
        task = CheckTask(candidate, domain, interpreter, _printed(bench, attempt_id), runs)
        return _Checks(task, bench, attempt_id).result(due)
    except SandboxError as problem:
        return error("sandbox", str(problem))
    except (DomainError, SlotTimeout) as problem:
        return error("environment", str(problem))


def _printed(bench: Workbench, attempt_id: str) -> str:
    """What the script printed in the first run of gate verify."""
    sql = "SELECT answer FROM script_runs WHERE attempt_id = ? AND number = 0 ORDER BY time DESC, rowid DESC LIMIT 1"
    rows = bench.store.query(sql, [attempt_id])
    return str(rows[0]["answer"]) if rows else ""


def checks_due(domain: Domain, configured: Mapping[str, Severity]) -> list[str]:
    """Names of the checks that candidates of a domain go through: the domain's own first, then what is configured."""
    return [name for name in dict.fromkeys((*domain.checks, *configured)) if configured.get(name) != "off"]


class _Checks:
    """The checks of one candidate."""

    def __init__(self, task: CheckTask, bench: Workbench, attempt_id: str) -> None:
        self.task = task
        self.bench = bench
        self.attempt_id = attempt_id
        self.warnings: list[str] = []
        self.looked = False

    def result(self, due: Sequence[str]) -> GateResult | None:
        for name in due:
            if self.bench.ended:
                return error("interrupted", "the session has ended")
            if stop := self._apply(name):
                return stop
        if self.bench.check_hook is not None and (stop := self._apply(HOOK)):
            return stop
        return passed(*self.warnings) if self.looked else None

    def _apply(self, name: str) -> GateResult | None:
        """Apply one check, or the hook; what ends the gate, if anything."""
        begun = time.monotonic()
        try:
            found = self._hooked() if name == HOOK else _found([load_check(name)(self.task)], name)
        except (SandboxError, SlotTimeout, StoreError):
            raise
        except WatchError as problem:
            found = [_failing(str(problem), name)]
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is no verdict on the candidate
            sentence = str(problem) if isinstance(problem, CheckError) else fault(problem)
            sentence = f"the check `{name}` could not be carried out: {sentence}"
            self._record(CheckResult("passed", sentence, name=name), "error", begun)
            return error(CHECK, sentence)
        for result in found:
            verdict = self._verdict(result)
            self._record(result, verdict, begun)
            if verdict == "rejected":
                return rejected(result.name, "\n".join(filter(None, (result.sentence, result.evidence))))
            if verdict == "flagged":
                self.warnings.append(f"{result.name}: {result.sentence}")
        return None

    def _hooked(self) -> list[CheckResult]:
        """What the session's own checks find. That one of them meets a script that fails must silence no other."""
        hook = self.bench.check_hook
        if hook is None:
            return []
        sentences: list[str] = []

        def run_script(*args: Any, **options: Any) -> CheckRun:  # noqa: ANN401 - as `RunScript` has them
            try:
                return self.task.run_script(*args, **options)
            except WatchError as problem:
                sentences.append(str(problem))
                return problem.run

        found = _found(hook(dataclasses.replace(self.task, run_script=run_script)), "")
        return found + [_failing(sentence, HOOK) for sentence in dict.fromkeys(sentences)]

    def _verdict(self, result: CheckResult) -> str:
        """What a finding comes to, which the configuration may say."""
        severity = self.bench.settings.checks.get(result.name)
        if result.verdict == "passed" or severity is None:
            return result.verdict
        return "rejected" if severity == "reject" else "flagged"

    def _record(self, result: CheckResult, verdict: str, begun: float) -> None:
        self.looked = True
        self.bench.store.append("checks", {
            "attempt_id": self.attempt_id,
            "name": result.name,
            "verdict": verdict,
            "sentence": escaped(result.sentence),
            "evidence": escaped(result.evidence),
            "seconds": round(time.monotonic() - begun, 3),
        })  # fmt: skip


def _failing(sentence: str, name: str) -> CheckResult:
    return CheckResult("flagged", " ".join(sentence.split())[:_LONGEST_SENTENCE], name=name)


def _found(results: Sequence[object], name: str) -> list[CheckResult]:
    """What checks have handed back, in bounds. A check of another's making may hand back anything."""
    found = []
    for result in results:
        if result is None:
            continue
        if not isinstance(result, CheckResult):
            raise CheckError(f"it returned {type(result).__name__} where a CheckResult or None is due")
        named = name or result.name
        if not _NAME.fullmatch(named):
            raise CheckError(f"its result needs a name of small letters, digits and `-`, not {named!r}")
        if result.verdict not in ("passed", "flagged", "rejected"):
            raise CheckError(f"the verdict of `{named}` is {result.verdict!r}, which is none")
        sentence = " ".join(str(result.sentence).split())[:_LONGEST_SENTENCE]
        if not sentence and result.verdict != "passed":
            raise CheckError(f"the finding of `{named}` has no sentence")
        evidence = str(result.evidence)[:_LONGEST_EVIDENCE]
        found.append(dataclasses.replace(result, name=named, sentence=sentence, evidence=evidence))
    return found
