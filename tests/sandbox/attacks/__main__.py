"""Run every attack both ways and write docs/attacks.md from what they come to: `make attacks-page`."""

import tempfile
from pathlib import Path

from .attack import Way
from .page import PAGE, render
from .variants import VARIANTS
from .ways import run

with tempfile.TemporaryDirectory(prefix="toolgate-attacks-") as place:
    stock = VARIANTS["stock"]
    ways: tuple[Way, ...] = ("candidate", "agent")
    results = {way: run(way, Path(place, way), stock).results for way in ways}
PAGE.write_text(render(results), "utf-8")
