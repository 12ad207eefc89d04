"""What of a record is for the public: no keys, and no place of the machine that it was made on."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from ..sandbox.profile import ROOM
from ..store import Store

HOST: Final = "<host>"
HOME: Final = "<home>"
HIDDEN: Final = "<hidden>"
_HOMES: Final = re.compile(r"/(?:home|Users)/[^/\s'\"`:;,<>|]+|/root(?=/)")
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]*[@?][^\s'\"<>]*", re.IGNORECASE)
_WHERE_PATHS_ARE: Final = (
    "SELECT settings AS text FROM runs UNION SELECT machine FROM runs UNION "
    "SELECT environment FROM script_runs UNION SELECT environment FROM agent_runs"
)
_LEAST_KEY: Final = 6


class Public:
    """Makes values public; see `of_store`."""

    def __init__(self, places: Iterable[str] = (), secrets: Iterable[str] = ()) -> None:
        """Say what is not to be seen.

        Args:
            places: Directories of the machine.
            secrets: Keys, passwords.
        """
        hidden = {**dict.fromkeys(places, HOST), **dict.fromkeys(secrets, HIDDEN)}
        longest_first = sorted(filter(None, hidden), key=lambda text: (-len(text), text))
        self._hidden = hidden
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """A text without places and secrets, in characters that every encoding holds."""
        text = writable(text)
        text = _URL.sub(lambda match: without_credentials(match[0]), text)
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._hidden[match[0]], text)
        return _HOMES.sub(HOME, text)

    def value(self, value: Any) -> Any:  # noqa: ANN401 - any JSON type
        """The same for JSON; a text that is a path as a whole keeps its last part."""
        if isinstance(value, Mapping):
            return {writable(name): self.value(each) for name, each in value.items() if not _left_out(name, each)}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, str):
            if is_path(value) and len(PurePosixPath(value).parts) > 2 and not value.startswith(ROOM):
                return f"{HOST}/{writable(PurePosixPath(value).name)}"
            return self.text(value)
        return value


def of_store(store: Store) -> Public:
    """What must not be seen of a database: the places and the keys that its settings name, and this machine's own."""
    places: set[str] = set()
    secrets: set[str] = set()
    for row in store.query(_WHERE_PATHS_ARE):
        for key, text in _texts(json.loads(row["text"])):
            if is_path(text) and not text.startswith(ROOM):
                places |= set(_place(text))
            if key == "base_url":
                secrets |= set(_credentials(text))
            if key == "api_key_env" and len(held := os.environ.get(text, "")) >= _LEAST_KEY:
                secrets.add(held)
    return Public(places, secrets)


def writable(text: str) -> str:
    """The text, with what no encoding can hold written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def is_path(text: str) -> bool:
    """Whether a text is an absolute path as a whole."""
    return text.startswith("/") and "\n" not in text and len(text) > 1


def without_credentials(url: str) -> str:
    """An address without user, password and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _left_out(name: str, value: object) -> bool:
    """The run's tripwire, and its private directory, which is gone."""
    return name == "seal" or (name == "directory" and isinstance(value, str) and not value.startswith(ROOM))


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON type
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, str):
        yield key, value


def _place(text: str) -> Iterator[str]:
    """The directory that a path gives away: of a program, the one that its `bin` is in."""
    path = PurePosixPath(text)
    place = path.parent.parent if path.parent.name == "bin" else path
    # `/usr` and the like are the same on every machine.
    if len(place.parts) > 2 and place.parts[:2] not in (("/", "usr"), ("/", "bin"), ("/", "dev"), ("/", "proc")):
        yield str(place)


def _credentials(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        yield from (each for each in (parts.password, parts.query) if each and len(each) >= _LEAST_KEY)
    except ValueError:
        return
