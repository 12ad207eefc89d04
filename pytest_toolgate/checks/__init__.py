"""Extra checks of what execution alone cannot see; they run between the gates verify and screen."""

from .protocol import Check, CheckError, CheckResult, CheckRun, CheckTask, CheckVerdict, RunScript, WatchError
from .registry import check_names, load_check

__all__ = [
    "Check",
    "CheckError",
    "CheckResult",
    "CheckRun",
    "CheckTask",
    "CheckVerdict",
    "RunScript",
    "WatchError",
    "check_names",
    "load_check",
]
