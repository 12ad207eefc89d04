"""The files that scripts and agents find beside them."""

import json

from ..candidate import Candidate
from ..domains import Domain
from ..sandbox import Interpreter


def problem_files(
    candidate: Candidate, options: dict[str, str], domain: Domain, interpreter: Interpreter
) -> dict[str, bytes]:
    """The question and the options as shown, without the answer, and the domain's stand-ins."""
    return {"problem.json": problem(candidate, options), **stand_ins(domain, interpreter)}


def problem(candidate: Candidate, options: dict[str, str]) -> bytes:
    """What `problem.json` says: the whole problem, without the answer."""
    told = {"id": candidate.id, "question": candidate.question, "options": options}
    return json.dumps(told, ensure_ascii=False, indent=2).encode("utf-8", "replace")


def stand_ins(domain: Domain, interpreter: Interpreter) -> dict[str, bytes]:
    """An empty module for each that only some builds of the domain ship and this interpreter lacks."""
    return {
        f"{module}.py": b""
        for module in domain.stand_ins
        if not any(name.replace("-", "_").startswith(module) for name in interpreter.packages)
    }
