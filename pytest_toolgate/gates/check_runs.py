"""Runs of a script for an extra check: as gate verify runs it, and where asked under an instrumentation."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as package_files
from types import MappingProxyType
from typing import Any

from ..candidate import Candidate
from ..candidate.presentation import draw_moved
from ..checks import CheckError, CheckRun, WatchError
from ..domains import Domain
from ..sandbox import Finished, Interpreter, Job, Limits, MiB
from .environment import conditions
from .evidence import last_words
from .job_files import problem_files
from .script_answer import read_run
from .script_run import script_runs
from .workbench import Workbench

MOST_RUNS = 24
# An instrumented script is slower than the script itself, and what it was slowed by is no fault of its own.
PATIENCE = 2.0
_BEGUN = {"begun": True}  # what is reported once the instrumentation is in place
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class CheckRuns:
    """The runs for all checks of one candidate: what two checks ask for alike is run once."""

    def __init__(self, candidate: Candidate, domain: Domain, interpreter: Interpreter, bench: Workbench) -> None:
        self._candidate = candidate
        self._domain = domain
        self._interpreter = interpreter
        self._bench = bench
        self._done: dict[tuple[str, str, str, tuple[tuple[str, bytes], ...]], tuple[CheckRun, str]] = {}

    def __call__(
        self,
        script: str | None = None,
        *,
        under: str = "",
        told: Mapping[str, Any] = _NOTHING,
        files: Mapping[str, bytes] = _NOTHING,
    ) -> CheckRun:
        """See `checks.RunScript`."""
        source = self._candidate.solution if script is None else script
        text = json.dumps(dict(told), sort_keys=True)
        key = (source, under, text, tuple(sorted(files.items())))
        if key not in self._done:
            if len(self._done) >= MOST_RUNS:
                raise CheckError(f"the checks of one candidate may run scripts {MOST_RUNS} times, and asked for more")
            self._done[key] = self._run(source, under, text, files)
        run, failed = self._done[key]
        if script is None and not told and failed:
            # Gate verify has seen it end well, and the instrumentation has begun: it is the script that does otherwise.
            watched = " under watch" if under else ""
            raise WatchError(f"the script fails when it is run once more{watched}: {failed}", run)
        return run

    def _run(self, source: str, under: str, told: str, files: Mapping[str, bytes]) -> tuple[CheckRun, str]:
        """How it ended, and how it failed; empty if it gave an answer."""
        candidate = self._candidate
        mark = hashlib.sha256("\0".join((source, under, told)).encode("utf-8", "replace")).hexdigest()
        [shown] = draw_moved(self._bench.run.seed, candidate.fingerprint, candidate.answer, 1)
        job = self._job(
            _instrumented(source, under, told, mark) if under else source, files, shown.show(candidate.options)
        )
        finished: Finished | None = None
        for run in script_runs(job, self._bench):
            finished = run.finished
        assert finished is not None
        reports, stderr = _reports(finished.stderr, mark)
        begun = [report for report in reports if report == _BEGUN]
        if under and not begun:
            raise CheckError(f"the instrumentation of a check did not begin{last_words(finished)}")
        answer = read_run(dataclasses.replace(finished, stderr=stderr), job.limits, candidate, shown)
        ended_well = answer.reason in ("", "mismatch", "ambiguous", "unreadable")
        made = CheckRun(
            ended=finished.ended,
            exit_code=finished.exit_code,
            answer=answer.text if ended_well else None,
            matched=answer.matched,
            stdout=finished.stdout.decode("utf-8", "replace"),
            stderr=stderr.decode("utf-8", "replace"),
            reports=tuple(report for report in reports if report != _BEGUN),
            seconds=finished.wall,
        )
        return made, "" if ended_well else re.sub("^the script ", "it ", answer.sentence)

    def _job(self, script: str, files: Mapping[str, bytes], options: dict[str, str]) -> Job:
        settings, under = self._bench.settings.verify, conditions(0)
        return Job(
            interpreter=self._interpreter,
            script=script.encode(),
            files={**problem_files(self._candidate, options, self._domain, self._interpreter), **files},
            limits=Limits(
                wall=min(PATIENCE * settings.time_limit, 1e6),
                memory=settings.memory,
                disk=settings.disk,
                stderr=4 * MiB,
            ),
            env=under.env(),
            threads=under.threads,
            directory=under.directory,
            watch=self._domain.packages,
            warm=self._bench.warm_start(self._domain),
            hidden=self._bench.hidden(self._domain, self._candidate),
            tier=self._bench.settings.sandbox,
        )


@cache
def _start() -> str:
    return (package_files("pytest_toolgate.checks") / "inside" / "start.py").read_text("utf-8")


def _instrumented(source: str, under: str, told: str, mark: str) -> str:
    head = f"SOURCE = {source!r}\nUNDER = {under!r}\nTOLD = __import__('json').loads({told!r})\nMARK = {mark!r}\n"
    return head + _start()


def _reports(stderr: bytes, mark: str) -> tuple[tuple[Mapping[str, Any], ...], bytes]:
    """What was reported, and what the script itself has written."""
    reports: list[Mapping[str, Any]] = []
    rest: list[bytes] = []
    for line in stderr.split(b"\n"):
        if not line.startswith(mark.encode()):
            rest.append(line)
            continue
        try:
            values = json.loads(line[len(mark) :])
            json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            continue  # cut, where far too much was written; or the script's own, nested or of half characters
        if isinstance(values, dict):
            reports.append(values)
    return tuple(reports), b"\n".join(rest)
