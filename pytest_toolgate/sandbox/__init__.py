"""Run strangers' scripts, isolated by bubblewrap and bounded in time, memory, disk and output."""

from .inside.remove import remove_tree
from .interpreter import inspect_interpreter
from .job import Finished, GiB, Interpreter, Job, KiB, Limits, MiB, SandboxError
from .probe import probe
from .runner import run
from .slots import Slots, SlotTimeout

__all__ = [
    "Finished",
    "GiB",
    "Interpreter",
    "Job",
    "KiB",
    "Limits",
    "MiB",
    "SandboxError",
    "SlotTimeout",
    "Slots",
    "inspect_interpreter",
    "probe",
    "remove_tree",
    "run",
]
