"""What a command shows while it works on many, and what it says at the end of what that has cost."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Self

from ..gates.result import escaped
from ..store import Store
from ..store.spending import spent
from .watch import Advance

_WIDTH = 200


class Shown:
    """A line for each of many, and where a terminal is, a bar with funnel, cost and the time left."""

    def __init__(self, most: int, store: Store, run_id: str, *, quiet: bool, unit: str = "round") -> None:
        """Prepare the bar.

        Args:
            most: How many there are to be.
            store: Where the cost is found.
            run_id: Key of the run.
            quiet: Show nothing but the bar.
            unit: What they are.
        """
        self.unit = unit
        self._most = most
        self._store = store
        self._run_id = run_id
        self._quiet = quiet
        self._told = 0
        self._bar: Any = None

    def __enter__(self) -> Self:
        from tqdm import tqdm

        # Only on a terminal (None): elsewhere the lines say the same.
        self._bar = tqdm(total=self._most, unit=self.unit, disable=None, dynamic_ncols=True, file=sys.stderr)
        return self

    def __exit__(self, *problem: object) -> None:
        self._bar.close()

    def update(self, progress: Advance) -> None:
        """Show what has happened since."""
        lines = progress.log[self._told :]
        self._told += len(lines)
        for line in lines:
            self.say(line)
        bar = self._bar
        if bar.disable:
            return
        if not lines and bar.n:
            bar.refresh()
            return
        if not bar.n:
            bar.initial = progress.done - progress.now  # so that the time left is judged by this run alone
        bar.n = progress.done
        usd = spent(self._store, self._run_id).usd
        bar.set_postfix_str(", ".join([*_funnel(progress.endings), *([f"{usd:.2f} USD"] if usd else [])]))

    def say(self, line: str) -> None:
        """A line for itself, above the bar."""
        if not self._quiet:
            text = escaped(line)
            self._bar.write(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}...", file=sys.stdout)
            sys.stdout.flush()


def _funnel(endings: Mapping[str, int]) -> Iterator[str]:
    """How many were kept, and how many were lost at each gate."""
    found = Counter[str]()
    for ending, times in endings.items():
        found[ending.partition(":")[0].removeprefix("rejected ").removeprefix("review ")] += times
    for ending, times in sorted(found.items(), key=lambda each: -each[1]):
        yield f"{times} {ending}"


def cost_and_end(told: Mapping[str, Any]) -> Iterator[str]:
    """What a run has cost, what it has left without verdict, and why it ended before its end.

    Args:
        told: Its outcome as JSON types: `usd`, `calls_of_unknown_cost`, `errors` and `stopped`.
    """
    unknown = told["calls_of_unknown_cost"]
    if told["usd"] or unknown:
        yield f"cost {told['usd']:.4f} USD" + (f", not counting {unknown} calls of unknown price" if unknown else "")
    for error in told["errors"]:
        yield f"without verdict, and tried again next time: {escaped(error)}"
    if told["stopped"]:
        yield f"stopped: {escaped(told['stopped'])}"
