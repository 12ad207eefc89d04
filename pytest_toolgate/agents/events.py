"""Reading what agents' programs print: one JSON object a line."""

import io
import json
from collections.abc import Iterator
from typing import Any, Final

# What is printed is a stranger's: read whole, some megabytes of brackets would take gigabytes here.
_LONGEST: Final = 4 * 1024**2  # bytes of a line
_MOST: Final = 10_000  # events
MOST_PARTS: Final = 16
"""How many parts of one event are to be kept."""


def events(stdout: bytes) -> Iterator[dict[str, Any]]:
    """The objects; other lines are left out, as one that was cut by a limit on output is, and what is too much."""
    found = 0
    for line in io.BytesIO(stdout):
        if len(line) > _LONGEST:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event
            found += 1
            if found == _MOST:
                return
