"""Run strangers' scripts, isolated by bubblewrap and bounded in time, memory, disk and output."""

from .inside.remove import remove_tree
from .interpreter import inspect_interpreter, locate_packages
from .job import Door, Finished, GiB, Interpreter, Job, KiB, Limits, MiB, Program, SandboxError, WarmStart
from .keepsakes import Keepsakes
from .probe import probe
from .runner import run
from .slots import Slots, SlotTimeout
from .warm_keeper import WarmKeeper

__all__ = [
    "Door",
    "Finished",
    "GiB",
    "Interpreter",
    "Job",
    "Keepsakes",
    "KiB",
    "Limits",
    "MiB",
    "Program",
    "SandboxError",
    "SlotTimeout",
    "Slots",
    "WarmKeeper",
    "WarmStart",
    "inspect_interpreter",
    "locate_packages",
    "probe",
    "remove_tree",
    "run",
]
