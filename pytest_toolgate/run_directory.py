"""Beginning and ending a run: its row, its private directory, and what killed runs have left behind.

The controlling process holds a lock in the run's directory. The kernel frees it however that process ends, so the next
run knows a killed one from one that is still at work.
"""

import fcntl
import json
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from . import __version__
from .config import Settings
from .gates import Run
from .sandbox import remove_tree
from .sandbox.identity import is_root
from .store import Store, StoreError

_SEAL: Final = "TOOLGATE_SEAL"


def open_run(run: Run, settings: Settings) -> tuple[Store, IO[str]]:
    """Open the database, close the runs that were killed, and append this one.

    Returns:
        The database and the lock, to be held until `close_run`.

    Raises:
        StoreError: The database cannot be used, or not for this audit; nothing is left behind.
    """
    lock = _lock(run.directory)
    if lock is None:
        raise StoreError(f"the run's directory {run.directory} is in use by another run")
    store = None
    try:
        store = Store(run.database)
        store.take_in_spool()
        _close_killed(store)
        if run.audit is not None:
            from .audit.names import check_same

            check_same(store, run.audit, run.seed, run.gates, settings)
        if settings.sandbox == "landlock" and is_root():
            # Its scripts have ids of their own, and without mounts come to their workspaces through here.
            run.directory.chmod(0o711)
        store.append("runs", {
            "id": run.id,
            "version": __version__,
            "seed": run.seed,
            "gates": list(run.gates),
            "settings": settings.plain(),
            "machine": {
                "python": platform.python_version(),
                "system": platform.platform(),
                "cores": os.cpu_count(),
                "directory": str(run.directory),
            },
            "seal": run.seal,
            "audit": run.audit,
        })  # fmt: skip
        # Only now: what a killed run has left beside the database is found by its row.
        _lay_out(run)
    except StoreError:
        if store is not None:
            store.close()
        lock.close()
        remove_tree(run.directory)
        _take_away(run)
        raise
    return store, lock


def close_run(run: Run, store: Store, lock: IO[str]) -> None:
    """Let go of the database and remove the run's directory."""
    store.close()
    remove_tree(run.directory)
    _take_away(run)
    lock.close()


def _lay_out(run: Run) -> None:
    """Put the run's token where no agent may come: its files, and the environment of all its processes.

    Raises:
        StoreError: It cannot be written.
    """
    os.environ[_SEAL] = run.seal
    for file in (run.directory / "seal", _seal_file(run.database, run.id)):
        try:
            file.write_text(run.seal)
        except OSError as error:
            raise StoreError(f"the token of the run cannot be written to {file}: {error.strerror}") from error


def _take_away(run: Run) -> None:
    """The same the other way round, for what lies outside of the run's directory."""
    with suppress(OSError):
        _seal_file(run.database, run.id).unlink()
    os.environ.pop(_SEAL, None)


def _seal_file(database: Path, run_id: str) -> Path:
    return database.with_name(f"{database.name}.seal-{run_id}")


def _close_killed(store: Store) -> None:
    """Append an event to every run that ended without one, and remove its directory. Nothing is rewritten."""
    for row in store.query("SELECT id, machine FROM runs WHERE id NOT IN (SELECT run_id FROM run_events)"):
        directory = Path(str(json.loads(row["machine"]).get("directory", "")))
        # Only a directory that this program made: a database may come from anywhere.
        ours = directory.name.startswith("toolgate-run-") and directory.is_dir() and not directory.is_symlink()
        if ours and directory.stat().st_uid == os.getuid():
            lock = _lock(directory)
            if lock is None:
                continue  # still at work
            remove_tree(directory)
            lock.close()
        _seal_file(store.path, row["id"]).unlink(missing_ok=True)
        store.append("run_events", {"run_id": row["id"], "kind": "killed", "detail": {}})


def _lock(directory: Path) -> IO[str] | None:
    """The lock of a run's directory, or None while somebody holds it."""
    file = (directory / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
