"""The configuration file `toolgate.yaml`, checked and typed."""

from .model import (
    EMBEDDED,
    GATES,
    Budget,
    DomainSettings,
    Prices,
    ProviderSettings,
    Retries,
    ScreenSettings,
    Settings,
    SolveSettings,
    VerifySettings,
)
from .reading import ConfigError, read_settings

__all__ = [
    "EMBEDDED",
    "GATES",
    "Budget",
    "ConfigError",
    "DomainSettings",
    "Prices",
    "ProviderSettings",
    "Retries",
    "ScreenSettings",
    "Settings",
    "SolveSettings",
    "VerifySettings",
    "read_settings",
]
