"""Opening providers by kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from .. import plugins
from ..config import ProviderSettings
from .protocol import Provider, ProviderError

GROUP = "pytest_toolgate.providers"


class Opener(Protocol):
    """What the entry point of a provider kind is: a function that opens one."""

    def __call__(self, settings: ProviderSettings, run_directory: Path) -> Provider:
        """Open the provider.

        Args:
            settings: What the configuration says of it.
            run_directory: Private directory shared by the processes of the run.

        Raises:
            ProviderError: It cannot be used.
        """
        ...


def provider_kinds() -> Mapping[str, object]:
    """The installed kinds by name."""
    return plugins.names(GROUP)


def open_provider(settings: ProviderSettings, run_directory: Path) -> Provider:
    """Open the provider of these settings.

    Raises:
        ProviderError: It cannot be used.
    """
    try:
        opener: Opener = plugins.load(GROUP, settings.kind)
    except plugins.PluginError as error:
        raise ProviderError(f"provider `{settings.name}`: kind {error}") from error
    return opener(settings, run_directory)
