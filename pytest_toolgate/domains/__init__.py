"""Domains: the target software that candidates are about."""

from .protocol import Domain
from .registry import known_domains

__all__ = ["Domain", "known_domains"]
