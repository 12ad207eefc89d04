"""Beginning and ending a run: its row, its private directory, and what killed runs have left behind.

The controlling process holds a lock in the run's directory. The kernel frees it however that process ends, so the next
run knows a killed one from one that is still at work.
"""

import fcntl
import json
import os
import platform
from pathlib import Path
from typing import IO

from . import __version__
from .config import Settings
from .gates import Run
from .sandbox import remove_tree
from .store import Store, StoreError


def open_run(run: Run, settings: Settings) -> tuple[Store, IO[str]]:
    """Open the database, close the runs that were killed, and append this one.

    Returns:
        The database and the lock, to be held until `close_run`.

    Raises:
        StoreError: The database cannot be used; nothing is left behind.
    """
    lock = _lock(run.directory)
    store = None
    try:
        store = Store(run.database)
        store.take_in_spool()
        _close_killed(store)
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
        })  # fmt: skip
    except StoreError:
        if store is not None:
            store.close()
        if lock is not None:
            lock.close()
        remove_tree(run.directory)
        raise
    if lock is None:
        raise StoreError(f"the run's directory {run.directory} is in use by another run")
    return store, lock


def close_run(run: Run, store: Store, lock: IO[str]) -> None:
    """Let go of the database and remove the run's directory."""
    store.close()
    remove_tree(run.directory)
    lock.close()


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
