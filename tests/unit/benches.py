"""What gates work with, in a directory of the test's own: a real database, a real run directory."""

import sys
from collections.abc import Callable
from pathlib import Path

from pytest_toolgate.config import EMBEDDED, Budget, Prices, ProviderSettings, ScreenSettings, Settings
from pytest_toolgate.gates import Run, Workbench
from pytest_toolgate.store import Store

MODEL = "m"
LAB = ProviderSettings("lab", prices={MODEL: Prices(1.0, None, 1.0)})
OWN = ProviderSettings("own", kind=EMBEDDED)
LIGHT = ScreenSettings("light", "lab", MODEL)
LOCAL = ScreenSettings("local", "own", "any")
Make = Callable[..., Workbench]
# A power of two, so that sums are exact.
USD = 0.25


def workbench(directory: Path, settings: Settings, gates: tuple[str, ...] = ("lint", "screen")) -> Workbench:
    """The workbench of one process of the run that lives in a directory; several processes may each make theirs."""
    (directory / "run").mkdir(exist_ok=True)
    run = Run("run", 0, directory / "run", directory, gates, directory / "toolgate.db", directory / "accepted")
    return Workbench(run, settings, Store(run.database), Path(sys.executable))


def capped(directory: Path, usd: float | None = None, per_candidate: float | None = None) -> Workbench:
    """The workbench of a run with these caps in USD, of all and of each candidate."""
    return workbench(directory, Settings(providers={"lab": LAB, "own": OWN}, budget=Budget(usd, per_candidate)))


def record(own: Workbench, attempt: str = "a", usd: float | None = USD, **changes: object) -> None:
    """A reply that was paid for."""
    row = {
        "attempt_id": attempt, "run_id": own.run.id, "reuse_key": "k", "screen": "light", "call_index": 0,
        "settings": {}, "provider": "lab", "base_url": "u", "model_asked": MODEL, "seed": 0, "presentation": "ABCD",
        "status": "answered", "text": "", "note": "", "cost": usd, "requests": 1, "latency": 0.1,
    }  # fmt: skip
    own.store.append("replies", row | changes)
