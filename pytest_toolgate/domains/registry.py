"""Finding domains by entry point."""

import functools
from collections.abc import Mapping

from ..plugins import load_all
from .protocol import Domain


@functools.cache
def known_domains() -> Mapping[str, Domain]:
    """Every installed domain by name."""
    return {name: domain for name, domain in load_all("pytest_toolgate.domains").items() if isinstance(domain, Domain)}
