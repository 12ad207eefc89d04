"""Releases: what a database holds, as a folder that can be published."""

from .items import Item, Rejected, Release, Reproduced, ScriptEvidence
from .selection import ReleaseError

__all__ = ["Item", "Rejected", "Release", "ReleaseError", "Reproduced", "ScriptEvidence"]
