"""Finding checks by entry point."""

from collections.abc import Collection

from .. import plugins
from .protocol import Check, CheckError

GROUP = "pytest_toolgate.checks"


def check_names() -> Collection[str]:
    """The installed checks; none of them is loaded."""
    return plugins.names(GROUP).keys()


def load_check(name: str) -> Check:
    """One check.

    Raises:
        CheckError: It cannot be loaded, or is none.
    """
    try:
        check = plugins.load(GROUP, name)
    except plugins.PluginError as error:
        raise CheckError(f"check {error}") from error
    if not callable(check):
        raise CheckError(f"check `{name}`: its entry point is not a function")
    found: Check = check
    return found
