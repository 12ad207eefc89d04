"""The gates. Each is a function of a candidate and what it may use, and returns a `GateResult`."""

from .pipeline import Attempt, Origin, judge, judge_recorded
from .result import GateResult
from .workbench import Run, Workbench

__all__ = ["Attempt", "GateResult", "Origin", "Run", "Workbench", "judge", "judge_recorded"]
