"""What an exporter is."""

from pathlib import Path
from typing import Protocol

from ..release.items import Release


class MissingExtra(Exception):  # noqa: N818 - it says what is missing
    """A format needs a package that is not installed, as one sentence that says how to install it."""


class Exporter(Protocol):
    """Writes one format of a release, as a function found by entry point in the group `pytest_toolgate.exporters`."""

    def __call__(self, release: Release, folder: Path, /) -> None:
        """Write files.

        What is written must follow from the release alone, so that the same release gives the same bytes, and must
        hold the canary. Every text of a release may be hostile to the format that it is written in.

        Args:
            release: What is released.
            folder: An empty folder for this format alone. All that is in it afterwards is published.

        Raises:
            MissingExtra: A package is missing.
        """
