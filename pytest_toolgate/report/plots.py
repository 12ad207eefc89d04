"""What plots show, as data: rows with a bar or with a share and its interval. The page draws them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..analysis.agreement import Agreement
from ..analysis.costs import Stage
from ..analysis.cues import Guesser
from ..analysis.funnel import Step
from ..analysis.intervals import Share

CHANCE: Final = 25.0
_LINE: Final = 38
"""Characters that fit above a bar on a phone."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a plot.

    Attributes:
        label: What it is about.
        value: Its figures in words.
        percent: Where its bar or its mark ends, 0 to 100; None where nothing was counted.
        low: Lower end of its interval; None where the row is a bar.
        high: Upper end of its interval.
        second: A further part of its bar, beside the first, in percent.
        third: A third part of it.
    """

    label: str
    value: str
    percent: float | None
    low: float | None = None
    high: float | None = None
    second: float = 0.0
    third: float = 0.0

    @property
    def short(self) -> str:
        """The label, cut so that its figures have room beside it on a phone."""
        most = max(8, _LINE - len(self.value))
        return self.label if len(self.label) <= most else f"{self.label[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with rows, one below the other.

    Attributes:
        title: What it shows.
        rows: The rows.
        chance: Where guessing would be, in percent; None where it means nothing.
        scale: Whether the axis is percent of something.
        legend: What the parts of its bars mean, in their order.
    """

    title: str
    rows: tuple[Row, ...]
    chance: float | None = None
    scale: bool = True
    legend: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The plot in words."""
        return "; ".join(f"{row.label}: {row.value}" for row in self.rows)

    @property
    def height(self) -> int:
        """In pixels: each row has a line of text and a track."""
        return 44 * len(self.rows) + (20 if self.scale else 0)


def shares(title: str, found: Mapping[str, Share], chance: float | None = CHANCE) -> Plot:
    """A row for each share, with its interval."""
    return Plot(title, tuple(_interval(name, share) for name, share in found.items()), chance)


def funnel(steps: Sequence[Step]) -> Plot:
    """Each gate, all bars in percent of what came to the first one."""
    first = max((step.entered for step in steps), default=0) or 1
    rows = tuple(
        Row(
            step.name,
            f"{step.entered} in, {step.out} out",
            100 * step.out / first,
            second=100 * step.removed / first,
            third=100 * step.without_verdict / first,
        )
        for step in steps
    )
    return Plot("From gate to gate", rows, scale=False, legend=("go on", "removed", "without verdict"))


def vanished(title: str, share: Share) -> Plot:
    """How many labels stay and how many do not."""
    gone = share.percent or 0.0
    row = Row("easy in fixed order", f"{share.part} of {share.whole} vanish", 100 - gone, second=gone)
    return Plot(title, (row,), scale=False, legend=("still easy when shuffled", "no longer easy"))


def guessers(found: Sequence[Guesser]) -> Plot:
    """What each guesser scores."""
    rows = tuple(Row(one.name, f"{one.percent:.1f} % of {one.items}", 100 * one.score) for one in found)
    return Plot("Right guesses without any model", rows, CHANCE)


def clusters(sizes: Sequence[int], most: int = 12) -> Plot:
    """The largest clusters, and all others together."""
    total = sum(sizes) or 1
    shown = [(f"cluster {number}", size) for number, size in enumerate(sizes[:most], start=1)]
    if len(sizes) > most:
        shown.append((f"{len(sizes) - most} others", sum(sizes[most:])))
    rows = tuple(Row(name, f"{size} ({100 * size / total:.0f} %)", 100 * size / total) for name, size in shown)
    return Plot("Items in each cluster", rows)


def transfer(pairs: Sequence[Agreement]) -> Plot:
    """For each two, how much of what one solves the other solves."""
    found = {}
    for pair in pairs:
        found[f"{pair.first} → {pair.second}"] = pair.first_to_second
        found[f"{pair.second} → {pair.first}"] = pair.second_to_first
    return shares("Of what one solves, the other solves", {name: one for name, one in found.items() if one.whole}, None)


def hours(stages: Sequence[Stage]) -> Plot:
    """How the time is spread over stages."""
    timed = [stage for stage in stages if not stage.name.endswith(": model calls")]
    total = sum(stage.seconds for stage in timed) or 1.0
    rows = tuple(
        Row(
            f"{stage.audit}: {stage.name}" if stage.audit else stage.name,
            f"{stage.seconds / 3600:.2f} h",
            100 * stage.seconds / total,
        )
        for stage in timed
    )
    return Plot("Hours of work", rows, scale=False)


def _interval(name: str, share: Share) -> Row:
    if share.percent is None:
        return Row(name, "none", None)
    low, high = share.interval
    return Row(name, f"{share.percent:.1f} % ({share.part} of {share.whole})", share.percent, 100 * low, 100 * high)
