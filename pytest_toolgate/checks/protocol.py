"""What an extra check is given, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ..candidate import Candidate
    from ..domains import Domain
    from ..sandbox import Interpreter

CheckVerdict = Literal["passed", "flagged", "rejected"]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class CheckError(Exception):
    """A check that could not be carried out, as one sentence: nothing is known about the candidate."""


class WatchError(Exception):
    """The candidate's own script, which has passed gate verify, fails when it is run once more for a check.

    It says something about the script, so it is no error of the check: a candidate is flagged for it.

    Attributes:
        run: How it ended.
    """

    def __init__(self, sentence: str, run: "CheckRun") -> None:
        """Args: sentence: What fails, without a full stop; run: how it ended."""
        super().__init__(sentence)
        self.run = run


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found.

    Attributes:
        verdict: `passed`; `flagged` for what a person should look at; `rejected` for what is wrong without doubt.
        sentence: What it found, one sentence without a full stop, for the candidate's author. It may say something of
            what passed, too, which goes into the record only.
        evidence: What shows it, in lines.
        name: Name of the check, of small letters, digits and `-`. A check that was found by entry point has the name of
            that; from a hook it must be given.
    """

    verdict: CheckVerdict
    sentence: str = ""
    evidence: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class CheckRun:
    """How a run of a script for a check ended.

    Attributes:
        ended: `exited`, or the limit that ended it, as in `Finished`.
        exit_code: Its exit status; None when it did not exit by itself.
        answer: The text behind `ANSWER:`; None when there is not exactly one such line, or it did not end well.
        matched: The candidate's own letter of the option that the answer stands for, None if for none.
        stdout: All that it printed.
        stderr: What it printed there: head and tail where it is long.
        reports: What the instrumentation reported, in order. It was in one process with the script, which can report
            whatever it likes: rely on no key and no type.
        seconds: Wall time.
    """

    ended: str
    exit_code: int | None
    answer: str | None
    matched: str | None
    stdout: str
    stderr: str
    reports: tuple[Mapping[str, Any], ...]
    seconds: float


class RunScript(Protocol):
    """Runs a script in the sandbox under the conditions of the first run of gate verify. The same is run only once."""

    def __call__(
        self,
        script: str | None = None,
        *,
        under: str = "",
        told: Mapping[str, Any] = _NOTHING,
        files: Mapping[str, bytes] = _NOTHING,
    ) -> CheckRun:
        """Run it.

        Args:
            script: What to run; None is the candidate's own script.
            under: Source of a module that is executed before the script, in its process. It finds the function
                `report(**values)`, whose JSON values become `CheckRun.reports`, and the mapping `TOLD`.
            told: What `TOLD` holds, JSON values.
            files: Further files beside the script.

        Raises:
            CheckError: The module under which it was to run has failed, or too many runs were asked for.
            WatchError: The candidate's own script, with nothing told, did not end as at gate verify. To those who have
                `run_script` from the hook that run is returned, without an answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class CheckTask:
    """What a check is given.

    Attributes:
        candidate: The candidate, with its answer, solution and tags. It has passed gate verify.
        domain: Its domain.
        interpreter: The interpreter that has the domain's software.
        answer: The text that the script printed behind `ANSWER:` in the first run of gate verify.
        run_script: Runs scripts in the sandbox, under the conditions of that run.
    """

    candidate: "Candidate"
    domain: "Domain"
    interpreter: "Interpreter"
    answer: str
    run_script: RunScript = field(repr=False)


Check = Callable[[CheckTask], CheckResult | None]
"""An extra check. It returns None where it has nothing to look at, and raises where it could not be carried out."""
