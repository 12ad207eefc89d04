"""What a shuffle changes: the labels of a model in fixed order beside those of the same model, shuffled. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .agreement import Agreement, agreement
from .intervals import Share
from .screens import Screen


@dataclass(frozen=True, slots=True)
class FixedAndShuffled:
    """A screen that saw all options in their written order, and one of the same model that saw them shuffled.

    Attributes:
        pair: How the two labels agree; the fixed order comes first.
    """

    pair: Agreement

    @property
    def vanished(self) -> Share:
        """How many of those that are easy in fixed order are not when shuffled."""
        return Share(self.pair.only_first, self.pair.only_first + self.pair.both)

    @property
    def appeared(self) -> Share:
        """How many of those that are not easy in fixed order are when shuffled."""
        return Share(self.pair.only_second, self.pair.only_second + self.pair.neither)

    def sentence(self) -> str:
        """In words."""
        return (
            f"of the {self.vanished.whole} that {self.pair.first} finds easy in fixed order, "
            f"{self.vanished.part} ({self.vanished.percent or 0:.1f} %) are not easy for {self.pair.second}, shuffled"
        )

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "fixed": self.pair.first,
            "shuffled": self.pair.second,
            "judged_by_both": self.pair.judged,
            "easy_label_vanishes": self.vanished.plain(),
            "easy_label_appears": self.appeared.plain(),
            "sentence": self.sentence(),
        }


def fixed_against_shuffled(screens: Sequence[Screen]) -> Iterator[FixedAndShuffled]:
    """Each screen in fixed order with each shuffled one of the same model at the same reasoning."""
    for fixed in (screen for screen in screens if screen.is_fixed):
        for shuffled in screens:
            if not shuffled.is_fixed and (shuffled.model, shuffled.reasoning) == (fixed.model, fixed.reasoning):
                pair = agreement(fixed.name, fixed.verdicts, shuffled.name, shuffled.verdicts)
                if pair.judged:
                    yield FixedAndShuffled(pair)
