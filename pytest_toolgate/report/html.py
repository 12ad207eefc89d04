"""The report as one file of HTML that opens from disk and asks for nothing: styles, script and plots are in it."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..analysis import Analysis
from ..analysis.items import MOST_ITEMS
from ..analysis.templates import RULE
from ..gates.result import escaped
from ..store import Store, now
from ..store.record import read_record
from ..whole_file import write_whole
from . import plots
from .records import LONGEST, shortened
from .terminal import money, tokens

MOST_RECORDS: Final = 1000
"""Accepted items whose record is on the page."""
_ALL_RECORDS: Final = 32_000_000
_SHORTEST: Final = 4_000
_PAIRS: Final = 200


def write_html(path: Path, found: Analysis, store: Store) -> None:
    """Write the file, so that a reader sees the old one or the new one, never a part.

    Args:
        path: The file.
        found: What it shows.
        store: The database, for the records of accepted items.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page(found, store).encode("utf-8", "backslashreplace"))


def page(found: Analysis, store: Store) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("pytest_toolgate.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    style, script = _own("page.css"), _own("page.js")
    return environment.get_template("page.html.j2").render(
        found=found,
        plots=plots,
        money=money,
        tokens=tokens,
        rule=RULE,
        version=__version__,
        written=now(),
        accepted=_accepted(found, store),
        most_records=MOST_RECORDS,
        most_items=MOST_ITEMS,
        most_pairs=_PAIRS,
        style=Markup(style),  # our own file
        script=Markup(script),  # our own file
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
    )


def _shown(value: Any) -> Any:  # noqa: ANN401 - whatever a template shows
    """A stranger's text without what changes the direction of others, or what no encoding can hold."""
    return escaped(value) if type(value) is str else value


def _own(name: str) -> str:
    return files("pytest_toolgate.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _accepted(found: Analysis, store: Store) -> Iterator[Mapping[str, Any]]:
    """Each accepted item with its record, one after the other: all of them at once need not be in memory."""
    listed = found.accepted[:MOST_RECORDS]
    longest = max(_SHORTEST, min(LONGEST, _ALL_RECORDS // max(1, len(listed))))
    for item in listed:
        parts, is_cut = shortened(read_record(store, item.attempt), longest)
        yield {"item": item, "parts": parts, "cut": is_cut}
