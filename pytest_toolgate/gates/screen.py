"""Gate 2: can models answer without the software? If they can, by majority, the item measures nothing."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..candidate import Candidate
from ..config import ScreenSettings
from ..providers import ProviderError, Response
from ..sandbox import SlotTimeout
from ..screen import cues
from ..screen.reading import read_reply
from ..screen.value_reading import read_value
from ..store.reuse import answered_replies
from .calls import ScreenCall, screen_calls
from .money import cost, paying
from .preflight import preflight
from .result import GateResult, error
from .together import together
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
        served: The model that answered, as the server names it.
    """

    status: str
    correct: bool | None = None
    note: str = ""
    served: str | None = None


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
    for settings in bench.settings.verdict_screens:
        results.append(_Screen(candidate, settings, bench, attempt_id).result())
        if results[-1].verdict != "passed" and not bench.run.all_screens:
            break
    # Any rejection is a verdict; only without one does an undecided screen leave the candidate undecided.
    worst = next((r for r in results if r.verdict == "rejected"), None)
    worst = worst or next((r for r in results if r.verdict == "error"), results[-1])
    if worst.verdict == "passed":
        _note_cues(candidate, bench, attempt_id)
        # What they say is reported; whatever becomes of them changes no verdict.
        results.extend(
            _Screen(candidate, settings, bench, attempt_id).result() for settings in bench.settings.cue_screens
        )
    return dataclasses.replace(
        worst,
        warnings=tuple(warning for result in results for warning in result.warnings),
        reused=sum(result.reused for result in results),
        made=sum(result.made for result in results),
    )


def _note_cues(candidate: Candidate, bench: Workbench, attempt_id: str) -> None:
    """Record what guessers without any model would have scored."""
    picked = cues.picks(candidate.options)
    for name, score in cues.scores(candidate.options, candidate.answer).items():
        row = {"attempt_id": attempt_id, "cue": name, "picks": "".join(picked[name]), "score": score}
        bench.store.append("cues", row)


class _Screen:
    """One screen of one candidate."""

    def __init__(self, candidate: Candidate, settings: ScreenSettings, bench: Workbench, attempt_id: str) -> None:
        self.candidate = candidate
        self.settings = settings
        self.bench = bench
        self.attempt_id = attempt_id
        self.provider = bench.settings.providers[settings.provider]
        self.calls = screen_calls(candidate, settings, self.provider, bench.run.seed)
        self.replies: dict[int, Reply] = {}

    def result(self) -> GateResult:
        self._reuse()
        reused = len(self.replies)
        ended = None
        if not (reused and self.count.decided):
            try:
                ended = self._ask_missing()
            except ProviderError as problem:
                ended = error("provider", str(problem))
            except SlotTimeout as problem:
                ended = error("environment", str(problem))
        made = len(self.replies) - reused
        result = self._verdict() if ended is None or self.count.decided else ended
        return dataclasses.replace(result, warnings=self._warnings(), reused=reused, made=made)

    @property
    def count(self) -> Count:
        correct = sum(reply.correct is True for reply in self.replies.values())
        chosen = sum(reply.correct is not None for reply in self.replies.values())
        return Count(correct, self.settings.samples - chosen, self.settings.samples, self.settings.reject_at)

    def _ask_missing(self) -> GateResult | None:
        """Make the calls that have no answer yet; returns what ended them early, if anything did.

        As many at once as are certain to be made: fewer correct replies than are still needed cannot reject, so none
        of them is one that a slower run would have spared.
        """
        missing = [call for call in self.calls if call.index not in self.replies]
        stop = preflight(self.bench, self.settings) if missing else None
        while missing and stop is None and self.count.decided != "rejected":
            needed = self.settings.reject_at - self.count.correct
            wave, missing = missing[:needed], missing[needed:]
            stops = together([partial(self._ask, call) for call in wave])
            stop = next((stop for stop in stops if stop is not None), None)
        return stop

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

    def _warnings(self) -> tuple[str, ...]:
        served = sorted({reply.served for reply in self.replies.values() if reply.served and reply.correct is not None})
        if len(served) < 2:
            return ()
        return (f"screen `{self.settings.name}` was answered by more than one model: {', '.join(served)}",)

    def _ask(self, call: ScreenCall) -> GateResult | None:
        """Make one call and record it; returns why it, or any further one, is not to be made."""
        provider = self.bench.provider(self.settings.provider)
        # First the place and then the leave to pay, as agents do: the other way round each could wait for the other.
        with (
            self.bench.call_slots(self.settings.provider).hold(),
            paying(
                self.bench,
                self.attempt_id,
                self.provider,
                self.settings.model,
                reasoning=self.settings.reasoning,
                max_output_tokens=self.settings.max_output_tokens,
            ) as stop,
        ):
            if stop:
                return stop
            response = provider.ask(call.request)
            quota = f"provider `{self.settings.provider}`: {response.error}" if response.quota else ""
            if quota:
                # Before the place is free: the next in line must not begin.
                self.bench.stop_paid_work(quota)
                if not response.requests:
                    return self._not_run(quota)  # it was not even asked
            status, note, chosen, correct = self._read(response, call)
            reply = Reply(status, correct, note, response.model_served)
            self._record(call, response, reply, chosen, provider.base_url)
        self.replies[call.index] = reply
        return self._not_run(quota) if quota else None

    def _not_run(self, why: str) -> GateResult:
        return error("not-run", f"paid work of this run was stopped: {why}")

    def _value(self, response: Response, chosen: str | None) -> str | None:
        """The value that was chosen or, without options to choose from, stated."""
        if chosen is not None or response.status != "complete" or self.settings.mode != "question-only":
            return None if chosen is None else self.candidate.options[chosen]
        return read_value(response.text, self.candidate.options).value

    def _read(self, response: Response, call: ScreenCall) -> tuple[str, str, str | None, bool | None]:
        """Status, note, the candidate's own letter of what a response chooses, and whether that is right."""
        if response.status != "complete":
            return response.status, response.error, None, None
        if self.settings.mode == "question-only":
            return self._read_value(response.text)
        reading = read_reply(response.text, call.shown)
        if reading.letter is None:
            return "wrong-form", reading.note, None, None
        chosen = call.presentation.original(reading.letter)
        return "answered", "", chosen, self._is_right(chosen)

    def _read_value(self, text: str) -> tuple[str, str, str | None, bool | None]:
        """The same for a model that was shown no options and may state any value."""
        reading = read_value(text, self.candidate.options)
        if reading.letter is None and reading.value is None:
            return "wrong-form", reading.note, None, None
        return "answered", reading.note, reading.letter, reading.letter is not None and self._is_right(reading.letter)

    def _is_right(self, chosen: str) -> bool:
        # Graded by value: the letters of different presentations mean different things.
        return self.candidate.options[chosen] == self.candidate.value

    def _record(self, call: ScreenCall, response: Response, reply: Reply, chosen: str | None, base_url: str) -> None:
        tokens = response.tokens
        reply_id = self.bench.store.append("replies", {
            "attempt_id": self.attempt_id,
            "run_id": self.bench.run.id,
            "reuse_key": call.key,
            "screen": self.settings.name,
            "call_index": call.index,
            "settings": self.settings.asked(),
            "request": call.sent(),
            "provider": self.settings.provider,
            "base_url": base_url,
            "model_asked": self.settings.model,
            "model_served": response.model_served,
            "seed": self.bench.run.seed,
            "presentation": str(call.presentation),
            "status": reply.status,
            "text": response.text[:KEPT_TEXT],
            "note": reply.note,
            "chosen": chosen,
            "value": self._value(response, chosen),
            "correct": reply.correct,
            "input_tokens": tokens.input,
            "cached_tokens": tokens.cached,
            "output_tokens": tokens.output,
            "reasoning_tokens": tokens.reasoning,
            "cost": cost(self.provider, self.settings.model, tokens),
            "requests": response.requests,
            "latency": round(response.latency, 3),
        })  # fmt: skip
        self._use(reply_id, reply, reused=False)

    def _reuse(self) -> None:
        """Take what has been paid for: answered replies to exactly these requests."""
        # Whatever is to be asked afresh, what this run has paid for before a process died is not bought again.
        only = self.bench.run.id if self.bench.run.fresh else None
        recorded = answered_replies(self.bench.store, [call.key for call in self.calls], only)
        for call in self.calls:
            row = recorded.get(call.key)
            reply = None if row is None else self._graded_again(row)
            if row is not None and reply is not None:
                self.replies[call.index] = reply
                self._use(row["id"], reply, reused=True)

    def _graded_again(self, row: Mapping[str, Any]) -> Reply | None:
        """A recorded reply as it counts now; None when it says nothing any more.

        Answer and letters may have been edited since, so that only its value, or its words, are what they were.
        """
        if self.settings.mode == "question-only":
            status, note, _, correct = self._read_value(row["text"])
            return Reply(status, correct, note, row["model_served"]) if status == "answered" else None
        return Reply("answered", row["value"] == self.candidate.value, served=row["model_served"])

    def _use(self, reply_id: str, reply: Reply, *, reused: bool) -> None:
        self.bench.store.append("uses", {
            "attempt_id": self.attempt_id,
            "kind": "reply",
            "used_id": reply_id,
            "reused": reused,
            "correct": reply.correct,
        })  # fmt: skip
