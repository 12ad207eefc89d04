"""Strings that only somebody who left the sealed workspace can know, and how they are found again. Pure.

They are looked for as they are, reversed, and in base64, hexadecimal and URL-quoted form, whatever the case and
whatever stands between letters and digits. Each form costs one search through a text, so the cost grows with its
length alone.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

LEAST: Final = 16
"""Characters that a tripwire must have: nobody writes as many by chance."""
# So many letters and digits must be left of a form once all else is taken out of it.
_LEAST_LEFT: Final = 12
_JSON_BREAKS: Final = (b"\\n", b"\\r", b"\\t")
_OTHERS: Final = bytes(byte for byte in range(256) if not bytes([byte]).isalnum())


class Tripwires:
    """What is looked for. Those that are too short are left out."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Prepare the search.

        Args:
            texts: Tripwire -> what it is, in words.
        """
        self._whole: dict[bytes, str] = {}
        self._squeezed: dict[bytes, str] = {}
        for text, name in texts.items():
            if len(text) < LEAST:
                continue
            for kind, form in _plain(text):
                self._whole.setdefault(form.lower(), f"{name}{kind}")
            for kind, form in (*_plain(text), *_coded(text)):
                if len(bare := squeezed(form)) >= _LEAST_LEFT:
                    self._squeezed.setdefault(bare, f"{name}{kind}")

    def found(self, text: bytes) -> str | None:
        """What is in a text: which tripwire, and in which form; None if nothing is."""
        for forms, form_of in ((self._whole, bytes.lower), (self._squeezed, squeezed)):
            if forms:
                looked_at = form_of(text)
                for form, name in forms.items():
                    if form in looked_at:
                        return name
        return None


def squeezed(text: bytes) -> bytes:
    """The letters, in lower case, and digits of a text; line breaks as JSON writes them are neither."""
    for each in _JSON_BREAKS:
        text = text.replace(each, b"")
    return text.translate(None, _OTHERS).lower()


def canary(metadata: Mapping[str, Any], shown: bytes) -> str | None:
    """The canary of a candidate, unless it is none that only who has seen it could write.

    One without letters, or without digits, could be words or a number that an honest solve comes to.
    """
    text = metadata.get("canary")
    if not isinstance(text, str) or len(text) < LEAST:
        return None
    mixed = any(each.isalpha() for each in text) and any(each.isdecimal() for each in text)
    return text if mixed and not Tripwires({text: "it"}).found(shown) else None


def _plain(text: str) -> Iterator[tuple[str, bytes]]:
    """The text and its reverse, as UTF-8 and as JSON may write them."""
    for kind, written in (("", text), (" in reverse", text[::-1])):
        yield kind, written.encode("utf-8", "replace")
        yield kind, json.dumps(written)[1:-1].encode()
        yield kind, json.dumps(written, ensure_ascii=False)[1:-1].encode("utf-8", "replace")


def _coded(text: str) -> Iterator[tuple[str, bytes]]:
    """What codes make of it; base64 makes three things of a text, by how much stands before it."""
    yield " in URL-quoted form", quote(text, safe="", errors="replace").encode()
    for written in dict.fromkeys((text, text.lower(), text.upper(), text[::-1])):
        data = written.encode("utf-8", "replace")
        yield " in hexadecimal", data.hex().encode()
        yield " in hexadecimal", data.hex()[::-1].encode()
        for before in range(3):
            coded = base64.b64encode(bytes(before) + data)
            # The first and the last characters depend on what surrounds it.
            coded = coded[(0, 2, 3)[before] : len(coded) - (0, 3, 2)[(before + len(data)) % 3]]
            yield " in base64", coded
            yield " in base64", coded[::-1]
