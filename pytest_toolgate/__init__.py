"""Decide by execution whether a proposed benchmark item deserves to exist."""

__version__ = "0.1.0"
