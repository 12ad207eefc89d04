"""What the generator is configured to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .solver import SolveSettings

GENERATOR: Final = "generator"
# What is said of a solve, and means nothing here: the guide of its domain is always shown to a generator.
NOT_FOR_GENERATORS: Final = ("hints", "control", "reject_if_control_solves")


@dataclass(frozen=True, slots=True)
class GenerateSettings(SolveSettings):
    """The agent that proposes candidates, and what is asked of them all together.

    Attributes:
        max_similarity: Largest share of words, from 0 to 1, that a candidate may have in common with an accepted item.
        quotas: Tag -> largest share of the accepted items that may carry it, from 0 to 1. A pool with quotas takes
            only candidates that carry at least one of these tags.
    """

    max_similarity: float = 0.7
    quotas: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", GENERATOR)
        SolveSettings.__post_init__(self)
