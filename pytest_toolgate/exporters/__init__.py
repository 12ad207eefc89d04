"""Formats of a release: one file each, found by entry point."""

from .protocol import Exporter, MissingExtra
from .registry import ExporterError, exporter_names, load_exporter

__all__ = ["Exporter", "ExporterError", "MissingExtra", "exporter_names", "load_exporter"]
