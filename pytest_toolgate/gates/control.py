"""The environment of a control run: the domain's own interpreter, in which its packages cannot be imported.

Found out and proven once per run and domain. What is left out is what `pip list` or an import would find; a copy of the
software that lies elsewhere in what an agent sees would have to be built or found by the agent, without network.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ..domains import Domain
from ..locking import locked
from ..sandbox import Interpreter, SandboxError, locate_packages
from ..whole_file import write_whole
from .evidence import last_line, limit_exceeded
from .proof import LIMITS, run_proof
from .result import escaped
from .workbench import Workbench

# A package that is found and fails to load is there, for whoever repairs it.
_PROOF = """
import importlib
import sys

for name in {packages!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name == name:
            continue
    except BaseException:
        pass
    sys.exit(f"the package `{{name}}` is still there")
"""


def without_software(
    domain: Domain, interpreter: Interpreter, bench: Workbench, hidden: Sequence[Path]
) -> tuple[Path, ...]:
    """What has to be hidden, beside what is hidden anyway, for the domain's packages to be missing.

    Raises:
        SandboxError: They cannot be hidden here, or the machinery failed.
        SlotTimeout: No place became free in time.
    """
    missing = locate_packages(interpreter.python, domain.packages)
    name = hashlib.sha256(domain.name.encode()).hexdigest()[:16]
    kept = bench.run.directory / f"control-{name}.json"
    # First the lock and then the place: nobody who has a place waits for this lock.
    with locked(kept.with_suffix(".lock")):
        if not kept.exists():
            write_whole(kept, json.dumps(_prove(domain, interpreter, bench, (*hidden, *missing))))
    if found := json.loads(kept.read_text("utf-8")):
        raise SandboxError(found)
    return missing


def _prove(domain: Domain, interpreter: Interpreter, bench: Workbench, hidden: Sequence[Path]) -> str:
    """Why some of the software can be imported all the same, empty if none can."""
    finished = run_proof(_PROOF.format(packages=domain.packages), domain, interpreter, bench, hidden)
    if finished.ended == "exited" and finished.exit_code == 0:
        return ""
    ended = finished.ended in ("exited", "killed")
    why = last_line(finished.stderr) if ended else limit_exceeded(finished, LIMITS)
    tier = bench.settings.sandbox
    remedy = "" if tier == "bubblewrap" else f"; control runs need `sandbox: bubblewrap`, not `{tier}`"
    return escaped(f"the software of the domain `{domain.name}` cannot be hidden from a control run: {why}{remedy}")
