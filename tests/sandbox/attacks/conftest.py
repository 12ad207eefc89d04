"""Each way is run once for all tests that look at it, whichever workers they are on."""

import fcntl
import os
from collections.abc import Callable
from functools import cache

import pytest

from .attack import Way
from .variants import VARIANTS
from .ways import Report, run

type Reports = Callable[[str, Way], Report]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """The report of a variant and a way; made by whoever asks first, while others that ask wait."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent

    @cache
    def report(variant: str, way: Way) -> Report:
        with (place / "attacks.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            kept = place / f"attacks-{variant}-{way}.json"
            if not kept.exists():
                kept.write_text(run(way, place / f"attacks-{variant}-{way}", VARIANTS[variant]).to_json())
            return Report.from_json(kept.read_text())

    return report
