"""Candidate files: reading them, what they hold, and how they are identified."""

from .faults import CandidateError, Fault
from .model import LETTERS, Candidate, presented_hash
from .schema import read_candidate

__all__ = ["LETTERS", "Candidate", "CandidateError", "Fault", "presented_hash", "read_candidate"]
