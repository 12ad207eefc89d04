"""File names: Linux allows any bytes in them, and nothing that stores or sends text does."""

import os
from pathlib import Path

SUFFIXES = (".yaml", ".yml", ".json")
"""How the name of a candidate file ends."""


def in_utf8(path: Path) -> Path:
    """The path with bytes that are not UTF-8 written out, for people, records and node ids; not for opening."""
    return Path(os.fsencode(path).decode("utf-8", "backslashreplace"))
