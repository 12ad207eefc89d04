"""The calls of a screen: which requests they are, known before any is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..candidate import Candidate
from ..candidate.presentation import Presentation, draw
from ..config import ProviderSettings, ScreenSettings
from ..providers import Message, Request
from ..screen.prompt import build_prompt
from ..store.reuse import reuse_key


@dataclass(frozen=True, slots=True)
class ScreenCall:
    """One call of a screen.

    Attributes:
        index: Its number, from 0.
        presentation: The order in which it shows the options.
        shown: Letter -> option text, as the model sees them.
        request: What is sent.
        key: Under which its reply is found again: the rendered request, the server, screen, seed and number.
    """

    index: int
    presentation: Presentation
    shown: dict[str, str]
    request: Request
    key: str

    def sent(self) -> dict[str, Any]:
        """The request as JSON types, for the record. What is None is not sent."""
        return {name: value for name, value in _plain(self.request).items() if value is not None}


def screen_calls(
    candidate: Candidate, settings: ScreenSettings, provider: ProviderSettings, seed: int
) -> Sequence[ScreenCall]:
    """All calls of a screen for a candidate. Neither answer nor script has any part in them."""
    return [_call(candidate, settings, provider, seed, index) for index in range(settings.samples)]


def _call(
    candidate: Candidate, settings: ScreenSettings, provider: ProviderSettings, seed: int, index: int
) -> ScreenCall:
    presentation = draw(seed, candidate.presented, settings.name, index, settings.presentations)
    shown = presentation.show(candidate.options)
    system, user = build_prompt(candidate.question, shown, settings.mode)
    request = Request(
        settings.model,
        (Message("system", system), Message("user", user)),
        settings.reasoning,
        settings.max_output_tokens,
    )
    key = reuse_key(screen=settings.name, seed=seed, index=index, server=provider.server(), request=_plain(request))
    return ScreenCall(index, presentation, shown, request, key)


def _plain(request: Request) -> dict[str, Any]:
    """What makes up a screen's request, which offers no tools: what a reply is found again by must never change."""
    return {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "reasoning": request.reasoning,
        "max_output_tokens": request.max_output_tokens,
        "deadline": request.deadline,
    }
