"""Audits: screens and solvers over recorded candidates, under a name. They never touch the loop, nor feed it."""

from .names import AuditError, check_name, check_same, known_audits
from .pool import Recorded, find_pool, in_loop
from .rescreen import Rescreen, chosen
from .table import Stage, Table, reported_pool

__all__ = [
    "AuditError",
    "Recorded",
    "Rescreen",
    "Stage",
    "Table",
    "check_name",
    "check_same",
    "chosen",
    "find_pool",
    "in_loop",
    "known_audits",
    "reported_pool",
]
