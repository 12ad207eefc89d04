"""How much of what an agent's own program says that it did is kept."""

import json
from collections.abc import Sequence
from typing import Any, Final

_MOST: Final = 2 * 1024**2  # characters of a transcript, as JSON


def bounded(transcript: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The transcript, or its beginning and its end with a word between them on what is missing."""
    sizes = [len(json.dumps(entry)) for entry in transcript]
    if sum(sizes) <= _MOST:
        return tuple(transcript)
    head = _fitting(sizes)
    tail = len(sizes) - _fitting(sizes[::-1])
    missing = {"role": "cut", "text": f"{tail - head} entries are left out here"}
    return (*transcript[:head], missing, *transcript[tail:])


def _fitting(sizes: Sequence[int]) -> int:
    """How many of the first entries fit into half of the room."""
    left = _MOST // 2
    for number, size in enumerate(sizes):
        left -= size
        if left < 0:
            return number
    return len(sizes)
