"""Finding exporters by entry point."""

from collections.abc import Collection

from .. import plugins
from .protocol import Exporter

GROUP = "pytest_toolgate.exporters"


class ExporterError(Exception):
    """A format that cannot be written, as one sentence."""


def exporter_names() -> Collection[str]:
    """The installed formats; none of them is loaded."""
    return plugins.names(GROUP).keys()


def load_exporter(name: str) -> Exporter:
    """One exporter.

    Raises:
        ExporterError: It cannot be loaded, or is none.
    """
    try:
        exporter = plugins.load(GROUP, name)
    except plugins.PluginError as error:
        raise ExporterError(f"format {error}") from error
    if not callable(exporter):
        raise ExporterError(f"format `{name}`: its entry point is not a function")
    found: Exporter = exporter
    return found
