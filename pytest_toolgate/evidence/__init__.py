"""Whether what a database says holds: its rows against their chains, and its verdicts against what they rest on."""

from .findings import Finding, Findings
from .verifying import Verified, verify_database

__all__ = ["Finding", "Findings", "Verified", "verify_database"]
