"""docs/replies.md is the specification of the parser: every row of its table is read."""

import re
from collections import Counter

import pytest

from pytest_toolgate.screen.prompt import build_prompt
from pytest_toolgate.screen.reading import read_reply

from .pages import ROOT

_ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")
_SPAN = re.compile(r"(`+) ?(.*?) ?\1")
_REPEATED = re.compile(r"⟨([^⟩]+) × ([0-9]+)⟩")


def _tables() -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The options and the rows of the page."""
    rows = [
        [cell.strip().replace(r"\|", "|") for cell in _CELL.split(row)]
        for row in _ROW.findall((ROOT / "docs" / "replies.md").read_text("utf-8"))
    ]
    options = {cells[0]: _code(cells[1]) for cells in rows if len(cells) == 2 and cells[0] in "ABCD"}
    table = [(cells[0], _code(cells[1]), cells[2]) for cells in rows if len(cells) == 4 and cells[1].startswith("`")]
    return options, table


def _code(cell: str) -> str:
    span = _SPAN.fullmatch(cell)
    assert span, f"{cell} is not a reply in backticks"
    return span[2]


def _written_out(reply: str) -> str:
    prompt = "\n\n".join(build_prompt("What is the energy to six decimals?", OPTIONS))
    reply = reply.replace("⏎", "\n").replace("⟨prompt⟩", prompt)
    return _REPEATED.sub(lambda short: short[1] * int(short[2]), reply)


OPTIONS, TABLE = _tables()


@pytest.mark.parametrize(("kind", "reply", "reading"), TABLE)
def test_a_row_of_the_table(kind: str, reply: str, reading: str) -> None:
    assert reading in ("A", "B", "C", "D", "none")
    assert (read_reply(_written_out(reply), OPTIONS).letter or "none") == reading


def test_the_table_is_whole_and_in_order() -> None:
    """Each kind stands together; no row is left out because its cells could not be told apart."""
    text = (ROOT / "docs" / "replies.md").read_text("utf-8").partition("| kind |")[2]
    assert len(TABLE) == len(text.splitlines()) - 2
    assert list(OPTIONS) == ["A", "B", "C", "D"]
    kinds = [kind for kind, _, _ in TABLE]
    assert len(dict.fromkeys(kinds)) == sum(kind != before for kind, before in zip(kinds, ["", *kinds], strict=False))
    assert max(Counter(reply for _, reply, _ in TABLE).values()) == 1
