"""Finding domains by entry point."""

from collections.abc import Collection

from .. import plugins
from .protocol import Domain

GROUP = "pytest_toolgate.domains"


class DomainError(Exception):
    """A domain that is installed and cannot be used, as one sentence."""


def domain_names() -> Collection[str]:
    """The installed domains; none of them is loaded."""
    return plugins.names(GROUP).keys()


def load_domain(name: str) -> Domain:
    """One domain.

    Raises:
        DomainError: It cannot be loaded, or is none.
    """
    try:
        domain = plugins.load(GROUP, name)
    except plugins.PluginError as error:
        raise DomainError(f"domain {error}") from error
    if not isinstance(domain, Domain):
        raise DomainError(f"domain `{name}`: its entry point is not a Domain")
    return domain
