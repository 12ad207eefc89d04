"""A run that a command makes itself, as the controlling process of a pytest session makes its own."""

import fcntl
import secrets
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..companions import companions
from ..config import Settings
from ..gates import Run, Workbench
from ..run_directory import close_run, open_run
from ..store import new_id
from .errors import CommandError


@contextmanager
def own_run(
    settings: Settings,
    *,
    seed: int,
    gates: tuple[str, ...],
    database: Path,
    accepted: Path,
    alone: tuple[str, str],
    providers: Collection[str] = (),
    audit: str | None = None,
) -> Iterator[Workbench]:
    """Begin a run, and end it whatever happens.

    Args:
        settings: The configuration.
        seed: Of every permutation.
        gates: Those to pass.
        database: The database file.
        accepted: Directory of accepted items.
        alone: What is worked on, of which no two runs at once are good for anything: as part of a file name, and what
            to say of another run that is at work on it.
        providers: Names of those that are needed besides the gates'.
        audit: Name of the audit; None for a run of the loop.

    Raises:
        CommandError: The database cannot be opened, or another run is at work on the same.
    """
    with ExitStack() as ending:
        try:
            database.parent.mkdir(parents=True, exist_ok=True)
            lock = ending.enter_context(database.with_name(f"{database.name}.{alone[0]}").open("w"))
        except OSError as problem:
            raise CommandError(f"the database {database} cannot be opened: {problem.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(f"another {alone[1]} in {database}") from None
        run = Run(
            id=new_id(),
            seed=seed,
            directory=Path(tempfile.mkdtemp(prefix="toolgate-run-")),
            root=Path.cwd(),
            gates=gates,
            database=database,
            accepted=accepted,
            all_screens=audit is not None,
            seal=secrets.token_hex(16),
            audit=audit,
        )
        store, held = open_run(run, settings)
        ending.callback(close_run, run, store, held)
        for companion in companions(settings, run, providers):
            companion.start()
            ending.callback(companion.stop)
        yield Workbench(run, settings, store, Path(sys.executable))
        store.append("run_events", {"run_id": run.id, "kind": "closed", "detail": {}})
