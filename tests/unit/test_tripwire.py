"""Tripwires are found in any of their forms, wherever they stand, and nothing else is taken for one."""

import base64
import json
import time
from collections.abc import Callable
from urllib.parse import quote
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.gates.tripwire import LEAST, Tripwires, canary

TOKEN = "5e0c1d2a-93b7-4f18-a6e4-0c9b7d21f3aa"
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "itself": lambda text: text,
    "upper case": bytes.upper,
    "reversed": lambda text: text[::-1],
    "hexadecimal": lambda text: text.hex().encode(),
    "hexadecimal, upper case": lambda text: text.hex().upper().encode(),
    "hexadecimal, apart": lambda text: text.hex(" ").encode(),
    "hexadecimal of the reverse": lambda text: text[::-1].hex().encode(),
    "base64": base64.b64encode,
    "base64 for addresses": base64.urlsafe_b64encode,
    "base64 in lines": lambda text: b"\n".join(
        base64.b64encode(text)[at : at + 19] for at in range(0, 2 * len(text), 19)
    ),
    "base64 of the reverse": lambda text: base64.b64encode(text[::-1]),
    "base64 of upper case": lambda text: base64.b64encode(text.upper()),
    "base64, reversed": lambda text: base64.b64encode(text)[::-1],
    "URL": lambda text: quote(text, safe="").encode(),
    "URL, all of it": lambda text: b"".join(b"%%%02x" % byte for byte in text),
    "letter by letter": lambda text: b" ".join(bytes([byte]) for byte in text),
    "JSON": lambda text: json.dumps(text.decode("utf-8", "replace")).encode(),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text.decode("utf-8", "replace"))).encode(),
    "lines in JSON": lambda text: json.dumps("\n".join([text.decode()[:9], text.decode()[9:]])).encode(),
}


@pytest.mark.parametrize("form", FORMS)
@given(token=st.uuids(), before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_a_tripwire_is_found_in_any_form(form: str, token: UUID, before: bytes, after: bytes) -> None:
    wires = Tripwires({str(token): "the token"})
    said = wires.found(before + b" " + FORMS[form](str(token).encode()) + b" " + after)
    assert said is not None
    assert said.startswith("the token")


@given(
    before=st.binary(max_size=9),
    after=st.binary(max_size=9),
    text=st.text(st.characters(codec="utf-8"), min_size=LEAST),
)
def test_any_text_is_found_as_it_is_and_in_json(before: bytes, after: bytes, text: str) -> None:
    wires = Tripwires({text: "it"})
    assert wires.found(before + text.encode() + after)
    assert wires.found(json.dumps({"key": text}).encode())
    assert wires.found(json.dumps({"key": text}, ensure_ascii=False).encode())


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), token=st.uuids())
def test_base64_is_found_wherever_the_tripwire_begins(before: bytes, after: bytes, token: UUID) -> None:
    assert Tripwires({str(token): "it"}).found(base64.b64encode(before + str(token).encode() + after))


@given(text=st.binary(max_size=4000))
def test_nothing_else_is_taken_for_one(text: bytes) -> None:
    assert Tripwires({TOKEN: "it"}).found(text) is None


def test_a_part_is_not_enough() -> None:
    assert Tripwires({TOKEN: "it"}).found(TOKEN[:-1].encode()) is None


def test_it_says_which_one_and_in_which_form() -> None:
    wires = Tripwires({TOKEN: "the token", "another text of some length": "the canary"})
    assert wires.found(b"x" + TOKEN.encode()) == "the token"
    assert wires.found(b"Another Text Of Some Length") == "the canary"
    assert wires.found(b"another-text-of-some-length") == "the canary"
    assert wires.found(base64.b64encode(TOKEN.encode())) == "the token in base64"
    assert wires.found(TOKEN.encode().hex().encode()) == "the token in hexadecimal"
    assert wires.found(TOKEN[::-1].encode()) == "the token in reverse"


def test_what_is_short_is_no_tripwire() -> None:
    assert Tripwires({"x" * (LEAST - 1): "it"}).found(b"x" * 100) is None
    # Once all but letters and digits is taken out of it, nothing is left that could not stand there by chance.
    assert Tripwires({"---- a ---- b ---- c": "it"}).found(b"abc") is None
    assert Tripwires({"---- a ---- b ---- c": "it"}).found(b"---- A ---- B ---- C") == "it"


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"canary": TOKEN}, TOKEN),
        ({}, None),
        ({"canary": "short"}, None),
        ({"canary": ["a list of some length"]}, None),
        ({"canary": "the value of case-1"}, None),
        ({"canary": "finite element method"}, None),
        ({"canary": "3.141592653589793238"}, None),
    ],
)
def test_a_canary_is_long_and_mixed_and_not_in_what_is_shown(metadata: dict[str, object], found: str | None) -> None:
    assert canary(metadata, b"What is the Value of case-1?") == found


def test_the_cost_grows_with_the_text_alone() -> None:
    wires = Tripwires({TOKEN: "it", "x" * 1000: "long"})
    for text in (b"x" * 999 + b"y", b"\\n\\", b"5e0c1d2a"):
        begun = time.process_time()
        assert wires.found(text * (8_000_000 // len(text))) is None
        assert time.process_time() - begun < 20
