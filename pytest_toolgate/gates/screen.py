"""Gate 2: can models answer without the software? If they can, by majority, the item measures nothing."""

import dataclasses
from functools import partial
from typing import Any

from ..candidate import Candidate
from ..config import ScreenSettings
from ..providers import ProviderError, Response
from ..sandbox import SlotTimeout
from ..screen import cues
from ..store import new_id
from ..store.reuse import answered_replies
from .calls import ScreenCall, screen_calls
from .grading import Count, Reply, deciding, grade, grade_again
from .money import paying, what_it_took
from .preflight import preflight
from .result import GateResult, error
from .together import together
from .workbench import Workbench

# A reply is kept whole up to here; nothing that answers a multiple-choice question is longer.
KEPT_TEXT = 256 * 1024


def screen(candidate: Candidate, bench: Workbench, attempt_id: str) -> GateResult:
    """Pass the candidate through every configured screen, in order, until one rejects or none can say."""
    results: list[GateResult] = []
    for settings in bench.settings.verdict_screens:
        results.append(_Screen(candidate, settings, bench, attempt_id).result())
        if results[-1].verdict != "passed" and not bench.run.all_screens:
            break
    worst = deciding(results)
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
    bench.store.append_all([
        ("cues", {"attempt_id": attempt_id, "cue": name, "picks": "".join(picked[name]), "score": score})
        for name, score in cues.scores(candidate.options, candidate.answer).items()
    ])  # fmt: skip


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
        wave = 0
        while missing and stop is None and self.count.decided != "rejected":
            needed = self.settings.reject_at - self.count.correct
            now, missing = missing[:needed], missing[needed:]
            stops = together([partial(self._ask, call, wave) for call in now])
            stop = next((stop for stop in stops if stop is not None), None)
            wave += 1
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

    def _ask(self, call: ScreenCall, wave: int) -> GateResult | None:
        """Make one call and record it; returns why it, or any further one, is not to be made.

        Calls of an early wave go before those of later ones, since more calls wait for them.
        """
        provider = self.bench.provider(self.settings.provider)
        # First the place and then the leave to pay, as agents do: the other way round each could wait for the other.
        with (
            self.bench.call_slots(self.settings.provider).hold(wave),
            paying(self.bench, self.attempt_id, self.settings) as stop,
        ):
            if stop:
                return stop
            response = provider.ask(call.request)
            if response.quota:
                # Before the place is free: the next in line must not begin.
                self.bench.stop_paid_work(f"provider `{self.settings.provider}`: {response.error}")
            if response.requests:
                self._record(call, response, provider.base_url)
        return self.bench.refusal() if response.quota else None

    def _record(self, call: ScreenCall, response: Response, base_url: str) -> None:
        reply = self.replies[call.index] = grade(self.candidate, self.settings.mode, call, response)
        reply_id = new_id()
        row = {
            "id": reply_id,
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
            "seed": self.bench.run.seed,
            "presentation": str(call.presentation),
            "status": reply.status,
            "text": response.text[:KEPT_TEXT],
            "note": reply.note,
            "chosen": reply.chosen,
            "value": reply.value,
            "correct": reply.correct,
            **what_it_took(self.provider, self.settings.model, response),
        }
        self.bench.store.append_all([("replies", row), ("uses", self._use(reply_id, reply, reused=False))])

    def _reuse(self) -> None:
        """Take what has been paid for: answered replies to exactly these requests."""
        # Whatever is to be asked afresh, what this run has paid for before a process died is not bought again.
        only = self.bench.run.id if self.bench.run.fresh else None
        recorded = answered_replies(self.bench.store, [call.key for call in self.calls], only)
        uses = []
        for call in self.calls:
            row = recorded.get(call.key)
            reply = None if row is None else grade_again(self.candidate, self.settings.mode, row)
            if row is not None and reply is not None:
                self.replies[call.index] = reply
                uses.append(("uses", self._use(row["id"], reply, reused=True)))
        self.bench.store.append_all(uses)

    def _use(self, reply_id: str, reply: Reply, *, reused: bool) -> dict[str, Any]:
        """The row that says how a reply counts in this attempt."""
        return {
            "attempt_id": self.attempt_id,
            "kind": "reply",
            "used_id": reply_id,
            "reused": reused,
            "correct": reply.correct,
        }
