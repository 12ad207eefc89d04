"""Extension points: domains, providers, agents, checks, exporters are found by entry point, so that users add some."""

import functools
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any


class PluginError(Exception):
    """An installed extension that cannot be loaded, as one sentence."""


@functools.cache
def names(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, none of them imported."""
    return {point.name: point for point in entry_points(group=group)}


def load(group: str, name: str) -> Any:  # noqa: ANN401 - what the extension exports
    """The object behind one entry point.

    Raises:
        PluginError: It is not installed or fails to import.
    """
    point = names(group).get(name)
    if point is None:
        raise PluginError(f"`{name}` is not installed; there is {', '.join(sorted(names(group))) or 'none'}")
    try:
        return point.load()
    except Exception as error:
        raise PluginError(f"`{name}` from `{point.value}` cannot be loaded: {type(error).__name__}: {error}") from error
