"""Gate 2: can models answer without the software? If they can, by majority, the item measures nothing."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..candidate import Candidate
from ..candidate.presentation import Presentation, draw
from ..config import ScreenSettings
from ..providers import Message, ProviderError, Request, Response
from ..sandbox import SlotTimeout
from ..screen.prompt import INSTRUCTION, build_prompt
from ..screen.reading import read_reply
from ..store.reuse import answered_replies, reuse_key
from .money import cost, may_pay
from .result import GateResult, error
from .workbench import Workbench

# A reply is kept whole up to here; nothing that answers a multiple-choice question is longer.
KEPT_TEXT = 256 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """One call as it counts.

    Attributes:
        status: `answered`, or why the reply is missing.
        correct: Whether the chosen value is the proposed answer's; None when nothing was chosen.
        note: Why the reply is missing, in words.
    """

    status: str
    correct: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """The replies of one screen.

    Attributes:
        correct: Replies that chose the proposed answer, *c*.
        missing: Calls without a valid choice, made or not, *m*.
        samples: Calls in all, *n*.
        reject_at: Correct replies that reject, *k*.
    """

    correct: int
    missing: int
    samples: int
    reject_at: int

    @property
    def decided(self) -> str | None:
        """`rejected`, `passed`, or None while the missing replies could turn it."""
        if self.correct >= self.reject_at:
            return "rejected"
        return "passed" if self.correct + self.missing < self.reject_at else None

    def __str__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        return f"{self.correct} of {self.samples} correct{missing}"


def screen(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Pass the candidate through every configured screen, in order, until one rejects or none can say."""
    results: list[GateResult] = []
    for settings in bench.settings.screens:
        results.append(_Screen(candidate, settings, bench, attempt_id).result())
        if results[-1].verdict != "passed" and not bench.run.all_screens:
            break
    # Any rejection is a verdict; only without one does an undecided screen leave the candidate undecided.
    worst = next((r for r in results if r.verdict == "rejected"), None)
    worst = worst or next((r for r in results if r.verdict == "error"), results[-1])
    return dataclasses.replace(worst, reused=sum(r.reused for r in results), made=sum(r.made for r in results))


class _Screen:
    """One screen of one candidate."""

    def __init__(self, candidate: Candidate, settings: ScreenSettings, bench: Workbench, attempt_id: str) -> None:
        self.candidate = candidate
        self.settings = settings
        self.bench = bench
        self.attempt_id = attempt_id
        self.provider = bench.settings.providers[settings.provider]
        self.replies: dict[int, Reply] = {}
        # Neither the answer nor the script is part of the key: editing them does not make a paid reply stale.
        self.key = reuse_key(
            presented=candidate.presented,
            screen=settings.name,
            seed=bench.run.seed,
            server=self.provider.server(),
            instruction=hashlib.sha256(INSTRUCTION.encode()).hexdigest(),
            **settings.asked(),
        )

    def result(self) -> GateResult:
        recorded = {} if self.bench.run.fresh else answered_replies(self.bench.store, self.key)
        for index, row in recorded.items():
            if index < self.settings.samples:
                self._reuse(index, row)
        reused = len(self.replies)
        ended = None
        if not (reused and self.count.decided):
            ended = self._ask_missing()
        made = len(self.replies) - reused
        result = self._verdict() if ended is None or self.count.decided else ended
        return dataclasses.replace(result, reused=reused, made=made)

    @property
    def count(self) -> Count:
        correct = sum(reply.correct is True for reply in self.replies.values())
        chosen = sum(reply.correct is not None for reply in self.replies.values())
        return Count(correct, self.settings.samples - chosen, self.settings.samples, self.settings.reject_at)

    def _ask_missing(self) -> GateResult | None:
        """Make the calls that have no answer yet; returns what ended them early, if anything did."""
        for index in range(self.settings.samples):
            if index in self.replies:
                continue
            if self.count.decided == "rejected":
                return None
            try:
                with self.bench.call_slots(self.settings.provider).hold():
                    if stop := may_pay(self.bench, self.attempt_id, self.provider):
                        return stop
                    self.replies[index] = self._ask(index)
            except (ProviderError, SlotTimeout) as problem:
                return error("provider", str(problem))
        return None

    def _verdict(self) -> GateResult:
        count, name = self.count, self.settings.name
        if count.decided == "rejected":
            right = f"{count.correct} of {count.samples} correct"
            return GateResult("rejected", "too-easy", f"screen `{name}` answered without the software: {right}")
        if count.decided == "passed":
            return GateResult("passed")
        notes = sorted({f"{reply.status} ({reply.note})" for reply in self.replies.values() if reply.correct is None})
        failed = all(reply.status == "failed" for reply in self.replies.values() if reply.correct is None)
        sentence = f"screen `{name}` is undecided: {count}: {'; '.join(notes)}"
        return error("provider" if failed else "inconclusive", sentence[:600])

    def _presentation(self, index: int) -> Presentation:
        return draw(
            self.bench.run.seed, self.candidate.presented, self.settings.name, index, self.settings.presentations
        )

    def _ask(self, index: int) -> Reply:
        presentation = self._presentation(index)
        shown = presentation.show(self.candidate.options)
        system, user = build_prompt(self.candidate.question, shown)
        request = Request(
            self.settings.model,
            (Message("system", system), Message("user", user)),
            self.settings.reasoning,
            self.settings.max_output_tokens,
        )
        provider = self.bench.provider(self.settings.provider)
        response = provider.ask(request)
        status, note, chosen = _read(response, shown, presentation)
        reply = self._reply(status, note, chosen)
        self._record(index, presentation, response, reply, chosen, provider.base_url)
        if response.quota:
            self.bench.stop_paid_work(f"provider `{self.settings.provider}`: {response.error}")
        return reply

    def _reply(self, status: str, note: str, chosen: str | None) -> Reply:
        # Graded by value: the letters of different presentations mean different things.
        correct = None if chosen is None else self.candidate.options[chosen] == self.candidate.value
        return Reply(status, correct, note)

    def _record(
        self,
        index: int,
        presentation: Presentation,
        response: Response,
        reply: Reply,
        chosen: str | None,
        base_url: str,
    ) -> None:
        tokens = response.tokens
        reply_id = self.bench.store.append(
            "replies",
            {
                "attempt_id": self.attempt_id,
                "run_id": self.bench.run.id,
                "reuse_key": self.key,
                "screen": self.settings.name,
                "call_index": index,
                "settings": self.settings.asked(),
                "provider": self.settings.provider,
                "base_url": base_url,
                "model_asked": self.settings.model,
                "model_served": response.model_served,
                "seed": self.bench.run.seed,
                "presentation": str(presentation),
                "status": reply.status,
                "text": response.text[:KEPT_TEXT],
                "note": reply.note,
                "chosen": chosen,
                "value": None if chosen is None else self.candidate.options[chosen],
                "correct": reply.correct,
                "input_tokens": tokens.input,
                "cached_tokens": tokens.cached,
                "output_tokens": tokens.output,
                "reasoning_tokens": tokens.reasoning,
                "cost": cost(self.provider, self.settings.model, tokens),
                "requests": response.requests,
                "latency": round(response.latency, 3),
            },
        )
        self._use(reply_id, reused=False)

    def _reuse(self, index: int, row: Mapping[str, Any]) -> None:
        # The answer may have been edited since, so the recorded choice is graded again.
        self.replies[index] = self._reply("answered", "", row["chosen"])
        self._use(row["id"], reused=True)

    def _use(self, reply_id: str, *, reused: bool) -> None:
        use = {"attempt_id": self.attempt_id, "kind": "reply", "used_id": reply_id, "reused": reused}
        self.bench.store.append("uses", use)


def _read(response: Response, shown: Mapping[str, str], presentation: Presentation) -> tuple[str, str, str | None]:
    """Status, note and the candidate's own letter of what a response chooses."""
    if response.status != "complete":
        return response.status, response.error, None
    reading = read_reply(response.text, shown)
    if reading.letter is None:
        return "wrong-form", reading.note, None
    return "answered", "", presentation.original(reading.letter)
