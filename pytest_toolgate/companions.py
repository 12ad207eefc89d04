"""What stands ready beside a run, in its controlling process, and begins to work when a worker first asks for it."""

from collections.abc import Collection
from typing import Protocol

from .config import EMBEDDED, Settings
from .gates import Run
from .gates.workbench import FORMS, WARM
from .sandbox import Keepsakes, WarmKeeper


class Companion(Protocol):
    """It lives as long as the run."""

    def start(self) -> None:
        """Stand ready."""
        ...

    def stop(self) -> None:
        """End, with all that was started; may be called again."""
        ...


def companions(settings: Settings, run: Run, providers: Collection[str] = ()) -> list[Companion]:
    """Those that a run with these settings needs, none of them started.

    Args:
        settings: The configuration.
        run: The run.
        providers: Names of those that it needs besides the gates'.
    """
    found: list[Companion] = []
    for name in sorted({*settings.providers_of(run.gates), *providers}):
        if settings.providers[name].kind == EMBEDDED:
            from .providers.embedded import Launcher

            found.append(Launcher(run.directory, name))
    if settings.verify.warm and "verify" in run.gates:
        Keepsakes(run.database.parent / FORMS).prune()
        (run.directory / WARM).mkdir(mode=0o700)
        found.append(WarmKeeper(run.directory / WARM))
    return found
