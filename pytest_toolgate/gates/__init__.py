"""The gates. Each is a function of a candidate and what it may use, and returns a `GateResult`."""

from .pipeline import Attempt, judge
from .result import GateResult
from .workbench import Run, Workbench

__all__ = ["Attempt", "GateResult", "Run", "Workbench", "judge"]
