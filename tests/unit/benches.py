"""What gates work with, in a directory of the test's own: a real database, a real run directory."""

import sys
from pathlib import Path

from pytest_toolgate.config import Settings
from pytest_toolgate.gates import Run, Workbench
from pytest_toolgate.store import Store


def workbench(directory: Path, settings: Settings, gates: tuple[str, ...] = ("lint", "screen")) -> Workbench:
    """The workbench of one process of the run that lives in a directory; several processes may each make theirs."""
    (directory / "run").mkdir(exist_ok=True)
    run = Run("run", 0, directory / "run", directory, gates, directory / "toolgate.db", directory / "accepted")
    return Workbench(run, settings, Store(run.database), Path(sys.executable))
