"""Domains: the target software that candidates are about."""

from .protocol import Domain
from .registry import DomainError, domain_names, load_domain

__all__ = ["Domain", "DomainError", "domain_names", "load_domain"]
