"""A line for every gate that a candidate passes, while the run goes on.

Workers have no terminal of their own, and an item may take minutes. The controlling process therefore looks into
the database, where every gate leaves its row as it happens.
"""

import threading
from typing import TYPE_CHECKING

import pytest

from .store import Store, StoreError

if TYPE_CHECKING:
    from .gates import Run

_EVERY = 1.0
_NEW = """
SELECT gates.rowid AS number, attempts.path, gates.gate, gates.verdict, gates.seconds
FROM gates JOIN attempts ON attempts.id = gates.attempt_id
WHERE attempts.run_id = ? AND gates.rowid > ? AND gates.gate <> 'lint' AND gates.verdict = 'passed' ORDER BY gates.rowid
"""


class Progress:
    """Prints passed gates until it is stopped."""

    def __init__(self, terminal: pytest.TerminalReporter, run: "Run") -> None:
        self._terminal = terminal
        self._run = run
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="toolgate-progress", daemon=True)

    def start(self) -> None:
        """Begin to print."""
        self._thread.start()

    def stop(self) -> None:
        """Print no more."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        last = 0
        try:
            store = Store(self._run.database)
            while not self._stop.wait(_EVERY):
                for row in store.query(_NEW, [self._run.id, last]):
                    last = row["number"]
                    self._terminal.ensure_newline()
                    self._terminal.write_line(f"  {row['path']}: {row['gate']} passed in {row['seconds']:.1f} s")
            store.close()
        except (StoreError, OSError):
            return  # progress is a courtesy; whatever is wrong with the database is told by those who need it
