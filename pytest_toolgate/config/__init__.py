"""The configuration file `toolgate.yaml`, checked and typed."""

from .generator import GenerateSettings
from .model import GATES, Accept, Budget, DomainSettings, ScreenSettings, Settings, Severity, Tier, VerifySettings
from .provider import EMBEDDED, Prices, ProviderSettings, Retries
from .reading import ConfigError, read_settings
from .solver import SolveSettings

__all__ = [
    "EMBEDDED",
    "GATES",
    "Accept",
    "Budget",
    "ConfigError",
    "DomainSettings",
    "GenerateSettings",
    "Prices",
    "ProviderSettings",
    "Retries",
    "ScreenSettings",
    "Settings",
    "Severity",
    "SolveSettings",
    "Tier",
    "VerifySettings",
    "read_settings",
]
