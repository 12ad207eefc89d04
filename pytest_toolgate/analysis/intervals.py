"""Shares with their intervals."""

import math
from dataclasses import dataclass
from typing import Any, Final

Z: Final = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution: intervals are those of 95 %."""


def wilson(part: int, whole: int, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval of a binomial share (Wilson 1927); from 0 to 1 where nothing was counted.

    Args:
        part: How many of them, 0 to `whole`.
        whole: Of how many.
        z: Quantile of the standard normal distribution.
    """
    if not whole:
        return 0.0, 1.0
    share = part / whole
    centre = share + z * z / (2 * whole)
    spread = z * math.sqrt(share * (1 - share) / whole + (z / (2 * whole)) ** 2)
    scale = 1 + z * z / whole
    # At the ends the interval touches 0 or 1 exactly, which floats miss by a little.
    low = 0.0 if part == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if part == whole else min(1.0, (centre + spread) / scale)
    return min(low, share), max(high, share)


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many.

    Attributes:
        part: How many.
        whole: Of how many; with none of them there is no share.
    """

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def percent(self) -> float | None:
        """The same in percent, to one decimal."""
        return round(100 * self.part / self.whole, 1) if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %."""
        return wilson(self.part, self.whole)

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        low, high = self.interval
        known = self.whole > 0
        return {
            "count": self.part,
            "of": self.whole,
            "percent": self.percent,
            "low": round(100 * low, 1) if known else None,
            "high": round(100 * high, 1) if known else None,
        }

    def __str__(self) -> str:
        return f"{self.percent:.1f} % ({self.part} of {self.whole})" if self.whole else "none counted"
