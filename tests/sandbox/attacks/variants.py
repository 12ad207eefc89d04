"""The configurations under which every attack must come to the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .attack import Way


@dataclass(frozen=True, slots=True)
class Variant:
    """One configuration.

    Attributes:
        settings: Sections of `toolgate.yaml`, laid over those of the suite.
        opens: Attacks that this configuration, and not every one, leaves open.
        ways: The ways in which it makes a difference.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    opens: frozenset[str] = frozenset()
    ways: tuple[Way, ...] = ("candidate", "agent")

    def over(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        """The sections of the suite with this variant's own keys."""
        merged = dict(sections)
        for name, section in self.settings.items():
            below = merged.get(name)
            both = isinstance(section, Mapping) and isinstance(below, Mapping)
            merged[name] = {**below, **section} if both and below is not None else section
        return merged


VARIANTS: Final[Mapping[str, Variant]] = {
    "stock": Variant(),
    "warm": Variant({"verify": {"warm": True}}, ways=("candidate",)),
}
