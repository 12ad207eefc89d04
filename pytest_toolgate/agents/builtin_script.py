"""One script of the built-in agent's model, run in its workspace."""

import dataclasses
import functools
from importlib.resources import files

from ..sandbox import Finished, Job, run
from . import inside
from .protocol import Task

_EXPLAIN = "toolgate_explain"


def run_script(task: Task, script: str, wall: float) -> Finished:
    """Run a script, whose errors explain themselves to a model.

    Args:
        task: The solve.
        script: The script.
        wall: Seconds it gets.

    Raises:
        SandboxError: The machinery failed.
    """
    job = Job(
        interpreter=task.interpreter,
        script=_with_explanations(script).encode("utf-8", "replace"),
        files={**task.files, f"{_EXPLAIN}.py": _explanations()},
        limits=dataclasses.replace(task.limits, wall=wall),
        watch=task.domain.packages,
        workspace=task.workspace,
        hidden=task.hidden,
        tier=task.tier,
    )
    return run(job)


def _with_explanations(script: str) -> str:
    # A __future__ import must come first, and is worth more than an explanation.
    return script if "__future__" in script else f"import {_EXPLAIN}\n{script}"


@functools.cache
def _explanations() -> bytes:
    return files(inside).joinpath("explain.py").read_bytes()
