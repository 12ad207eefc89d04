"""Replies as models write them, more than the page of the parser has: every row of `replies/*.txt` is read.

A row is a reading and a reply: `B` that option, `-` none, `B?` that option or none, where none is no harm. `⏎` is the
end of a line, `\\u200b` a character that nobody sees. A heading names other options than the usual ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_toolgate.screen.reading import read_reply

from .items import F1

FILES = sorted((Path(__file__).parent / "replies").glob("*.txt"))
_ROW = re.compile(r"(?P<reading>[A-D-])(?P<either>\??) +(?P<reply>.+)")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


def _sections() -> Iterator[tuple[str, dict[str, str], list[str]]]:
    for file in FILES:
        for section in re.split("^## ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            heading, *rows = filter(None, section.split("\n"))
            texts = heading.removeprefix("Options: ").split(" | ") if heading.startswith("Options: ") else F1.values()
            yield f"{file.stem}-{heading}", dict(zip("ABCD", texts, strict=True)), rows


SECTIONS = list(_sections())


@pytest.mark.parametrize(("shown", "rows"), [pytest.param(*section, id=name) for name, *section in SECTIONS])
def test_every_reply_is_read_as_it_was_meant(shown: dict[str, str], rows: list[str]) -> None:
    misread = []
    for row in rows:
        match = _ROW.fullmatch(row)
        assert match, f"`{row}` is no row"
        reply = _ESCAPED.sub(lambda code: chr(int(code[1], 16)), match["reply"].replace("⏎", "\n"))
        read = read_reply(reply, shown).letter or "-"
        if read not in (match["reading"], "-" if match["either"] else match["reading"]):
            misread.append(f"{read} instead of {row}")
    assert misread == []


def test_there_are_rows_of_every_file() -> None:
    assert len(FILES) == 8
    assert sum(len(rows) for _, _, rows in SECTIONS) > 1000
