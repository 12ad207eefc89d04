"""Before the first script of a domain: does its software work at all?

Found out once per run, by whichever process comes first, by running the domain's own proof in the sandbox. Where it
fails, no candidate of the domain is judged and none is blamed: each ends as `error: environment`. What our machinery
does wrong meanwhile proves nothing, and the next candidate tries again.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from ..domains import Domain
from ..locking import locked
from ..sandbox import Finished, Interpreter
from ..whole_file import write_whole
from .evidence import last_line, limit_exceeded
from .proof import LIMITS, run_proof
from .result import GateResult, error, escaped
from .workbench import Run, Workbench

_MISSING_MODULE = re.compile(r"^(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
_FOUND = "domain-*.json"


def domain_preflight(
    domain: Domain, interpreter: Interpreter, bench: Workbench, hidden: Sequence[Path]
) -> GateResult | None:
    """None when the domain's software works, else what ends the gate of each of its candidates.

    Raises:
        SandboxError: The machinery failed, so nothing is known about the domain.
        SlotTimeout: No place became free in time.
    """
    name = hashlib.sha256(domain.name.encode()).hexdigest()[:16]
    kept = bench.run.directory / _FOUND.replace("*", name)
    if (found := _read(kept)) is None:
        # First the lock and then the place: nobody who has a place waits for this lock.
        with locked(kept.with_suffix(".lock")):
            if (found := _read(kept)) is None:
                found = escaped(_prove(domain, interpreter, bench, hidden))
                write_whole(kept, json.dumps(found))
    return error("environment", found) if found else None


def failed_domains(run: Run) -> list[str]:
    """Why domains of a run could not be used, a sentence for each."""
    return sorted(filter(None, map(_read, run.directory.glob(_FOUND))))


def missing_package(finished: Finished) -> str | None:
    """The module whose absence has ended a script."""
    if finished.ended != "exited" or finished.exit_code == 0:
        return None
    match = _MISSING_MODULE.match(last_line(finished.stderr))
    return match[1] if match else None


def not_installed(package: str, domain: Domain, interpreter: Interpreter) -> str:
    """What is said of a package of the domain that is missing."""
    return (
        f"the package `{package}` of the domain `{domain.name}` is not installed in {interpreter.python}; "
        f"install it there, or set `domains.{domain.name}.python` to an interpreter that has it"
    )


def _prove(domain: Domain, interpreter: Interpreter, bench: Workbench, hidden: Sequence[Path]) -> str:
    """Why the domain's software does not work, empty if it does."""
    imports = "".join(f"import {package}\n" for package in domain.packages)
    finished = run_proof(domain.proof or imports, domain, interpreter, bench, hidden)
    if finished.ended == "exited" and finished.exit_code == 0:
        return ""
    if package := missing_package(finished):
        return not_installed(package, domain, interpreter)
    if finished.ended == "exited":
        why = last_line(finished.stderr) or f"its proof exited with status {finished.exit_code}"
    elif finished.ended == "killed":
        why = f"its proof was killed by signal {finished.signal}"
    else:
        why = limit_exceeded(finished, LIMITS).replace("the script", "its proof", 1)
    return f"the domain `{domain.name}` does not work in {interpreter.python}: {why}"


def _read(kept: Path) -> str | None:
    try:
        return str(json.loads(kept.read_text("utf-8")))
    except FileNotFoundError:
        return None
