"""The options as a model saw them, to be found again in its words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..candidate.numbers import plain
from .spoken import one_form

# No line is looked at further than this; an option that is longer is found only where it is the whole reply.
LOOK_AHEAD = 2100
_AROUND = "*_`~\"'“”‘’„ \t()[]{}"
# An option's text does not begin or end within a word or a number.
_WITHIN = "A-Za-z0-9À-ɏͰ-ӿ_"
_BEGINS, _ENDS = rf"(?<![{_WITHIN}.])", rf"(?![{_WITHIN}^%‰°]|[.,·×*/'’][0-9]|\\%)"


@dataclass(frozen=True, slots=True)
class Shown:
    """The options, prepared once for a reply with many statements.

    Attributes:
        by_text: Plain text -> letter; a text that several options have stands for none.
        letters: The letters of the groups of `pattern`.
        pattern: Any option's text, the longest first.
        longest: No text longer than this is an option with what is put around it.
    """

    by_text: Mapping[str, str]
    letters: tuple[str, ...]
    pattern: re.Pattern[str]
    longest: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "Shown":
        """Prepare `options`, letter -> text."""
        written = [(plain(one_form(text)), letter) for letter, text in options.items()]
        by_text: dict[str, str] = {}
        for texts in ([(undressed(text), letter) for text, letter in written], written):
            alone = [text for text, _ in texts]
            by_text |= {text: letter for text, letter in texts if text and alone.count(text) == 1}
        loose = sorted({(_loose(text), letter) for text, letter in by_text.items()}, key=lambda pair: -len(pair[0]))
        usable = [(text, letter) for text, letter in loose if 0 < len(text) <= LOOK_AHEAD]
        alternatives = "|".join(f"({re.escape(text)})" for text, _ in usable) or "(?!)"
        return cls(
            by_text,
            tuple(letter for _, letter in usable),
            re.compile(f"{_BEGINS}(?:{alternatives}){_ENDS}"),
            max(map(len, options.values()), default=0) + 64,
        )

    def exactly(self, text: str) -> str | None:
        """The option whose text this is, with or without what is put around it."""
        if not 0 < len(text) <= self.longest:
            return None
        return self.by_text.get(plain(text)) or self.by_text.get(plain(undressed(text)))

    def opening(self, text: str) -> tuple[str, str] | None:
        """The option whose text `text` begins with, and what follows it."""
        loose = _loose(text)
        match = self.pattern.match(loose)
        return (self.letters[(match.lastindex or 1) - 1], loose[match.end() :]) if match else None

    def within(self, text: str) -> set[str]:
        """The options whose texts stand in `text`."""
        return {self.letters[(match.lastindex or 1) - 1] for match in self.pattern.finditer(_loose(text))}


def undressed(text: str) -> str:
    """`text` without what is put around a letter or a value, and without the sentence's end."""
    return text.strip(_AROUND).rstrip(".,;:!。").rstrip(_AROUND).removesuffix("\\")


def _loose(text: str) -> str:
    return plain(text[: LOOK_AHEAD + 1]).replace("$", "").strip()
