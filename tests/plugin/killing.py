"""Runs over one pool that are killed or left alone, and what is wrong with what they ask and what they leave."""

import json
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_server import KEY

from .pool import PROVIDER, THREE_CALLS, Pool, Started, wait_until
from .witness import Seen, Witness

GATES = "--toolgate-gates=lint,screen"
# Of these, each call of a screen shows another order, so that what was asked says which call it was.
NAMES = [f"case-{number:02}" for number in (0, 1, 4, 5, 6, 7, 8, 10, 11, 13, 14, 18)]
SCREENS = ("light", "strong")
SAMPLES, REJECT_AT = 3, 2
STRONG = "      - {name: strong, provider: fake, model: strong-model, samples: 3, reject_at: 2}\n"
PATIENT = PROVIDER.replace("timeout: 5", "timeout: 60\n        max_concurrency: 3")
# Seconds after which a reply that was sent has arrived and is recorded, however busy the machine is.
SURELY = 2.0


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """One call of a screen, whichever run makes it."""

    name: str
    screen: str
    index: int


@dataclass(frozen=True, slots=True)
class Reference:
    """What a run does that nobody interrupts.

    Attributes:
        calls: Model and prompt -> the call that asks this.
        replies: Call -> what is recorded of it.
        verdicts: Name -> verdict.
    """

    calls: Mapping[tuple[str, str], Call]
    replies: Mapping[Call, Mapping[str, Any]]
    verdicts: Mapping[str, str]

    def due(self, recorded: Set[Call]) -> set[Call]:
        """The calls that a run still has to make when these are recorded: those that decide something."""
        due: set[Call] = set()
        for name in NAMES:
            for screen in SCREENS:
                calls = [Call(name, screen, index) for index in range(SAMPLES)]
                missing = [call for call in calls if call not in recorded]
                right = self.right(name, screen, recorded)
                if right + len(missing) >= REJECT_AT:
                    while missing and right < REJECT_AT:
                        due.add(missing[0])
                        right += self.replies[missing.pop(0)]["correct"]
                if right >= REJECT_AT:
                    break
        return due

    def right(self, name: str, screen: str, recorded: Set[Call]) -> int:
        """How many recorded replies of a screen are right."""
        return sum(self.replies[call]["correct"] for call in recorded if (call.name, call.screen) == (name, screen))


@dataclass(frozen=True, slots=True)
class Moment:
    """When and how a run is killed.

    Attributes:
        workers: Of the run.
        delay: Seconds to wait, after the start of the run or that request.
        request: Number of the request, preflight or call, whose arrival is waited for first.
        answered: Calls that are answered; the run is killed once it waits for further ones in vain.
    """

    workers: int
    delay: float = 0.0
    request: int | None = None
    answered: int | None = None


class Runs:
    """The runs over one pool, and what is wrong with them.

    Attributes:
        recorded: The calls whose replies are in the database.
        tally: How many runs were killed when.
    """

    def __init__(self, pool: Pool, witness: Witness, environment: pytest.MonkeyPatch) -> None:
        for name in NAMES:
            pool.add(name)
        pool.configure(PATIENT, THREE_CALLS + STRONG, url=witness.base_url)
        self._pool = pool
        self._witness = witness
        self._environment = environment
        self._begun = 0
        self.tally: Counter[str] = Counter()
        self.recorded: Set[Call] = frozenset()
        self.reference = self._uninterrupted()
        self.forget()

    def due(self) -> Set[Call]:
        """The calls that the next run has to make."""
        return self.reference.due(self.recorded)

    def forget(self) -> None:
        """Begin with a new database."""
        self._pool.forget()
        self.recorded = frozenset()

    def kill(self, moment: Moment) -> tuple[bool, list[str]]:
        """Start a run and kill it; returns whether it was alive, and what is wrong."""
        key = self._begin(moment.answered)
        with self._pool.started(GATES, workers=moment.workers) as run:
            self._wait(moment, run, key)
            killed_at = time.monotonic()
            run.kill_group()
        wait_until(lambda: not _alive(run.process.pid))
        self._witness.release()
        if run.process.returncode != -signal.SIGKILL:
            verdicts = {name: case.verdict for name, case in self._pool.junit().items()}
            return False, self._faults_of_finished(key, verdicts)
        faults = [*self._faults_of_requests(key), *self._faults_of_rows(key), *self._faults_of_lost(key, killed_at)]
        asked = self._calls(key).keys()
        when = "before any call" if not asked else "all recorded" if asked <= self.recorded else "calls under way"
        self.tally[when] += 1
        return True, faults

    def finish(self) -> list[str]:
        """Leave a run alone; returns what is wrong."""
        key = self._begin()
        return self._faults_of_finished(key, self._pool.run(GATES).verdicts)

    def _begin(self, answered: int | None = None) -> str:
        """Give the next run a key of its own, which all its requests carry."""
        self._begun += 1
        key = f"{KEY}-{self._begun}"
        self._environment.setenv("CANARY_KEY", key)
        self._witness.expect(sys.maxsize if answered is None else answered)
        return key

    def _uninterrupted(self) -> Reference:
        key = self._begin()
        verdicts = self._pool.run(GATES).verdicts
        replies = {_call(row): row for row in self._pool.recorded("replies")}
        calls = {_asked(row): call for call, row in replies.items()}
        assert len(self._witness.of_run(key)) == len(replies), "a run that nobody interrupts records all"
        assert len(calls) == len(replies), "no two calls may ask the same"
        assert set(verdicts.values()) == {"provisional screen", "rejected screen too-easy"}
        assert {call.screen for call in replies} == set(SCREENS)
        return Reference(calls, replies, verdicts)

    def _wait(self, moment: Moment, run: Started, key: str) -> None:
        def ended() -> bool:
            return run.process.poll() is not None

        if moment.request is not None:
            self._witness.wait_for_request(moment.request, ended)
        if moment.answered is not None:
            wait_until(lambda: ended() or self._witness.holding, 60)
            with suppress(AssertionError):  # what is still missing then is found to be missing
                wait_until(lambda: ended() or self._all_recorded(key), 2 * SURELY)
        time.sleep(moment.delay)

    def _all_recorded(self, key: str) -> bool:
        sent = {call for call, seen in self._calls(key).items() if seen.sent is not None}
        return sent <= {_call(row) for row in _replies(self._pool)}

    def _calls(self, key: str) -> dict[Call, Seen]:
        calls = self.reference.calls
        found = ((calls.get((seen.model, seen.prompt)), seen) for seen in self._witness.of_run(key))
        return {call: seen for call, seen in found if call is not None}

    def _faults_of_requests(self, key: str) -> list[str]:
        """What is wrong with what a run has asked, given what was recorded before it."""
        prompts = Counter((seen.model, seen.prompt) for seen in self._witness.of_run(key))
        asked = self._calls(key).keys()
        return [
            *(f"{count} times asked: {prompt}" for prompt, count in prompts.items() if count > 1),
            *(
                f"never asked before, at least in this order: {prompt}"
                for prompt in prompts
                if prompt not in self.reference.calls
            ),
            *(f"{call} was asked again though recorded" for call in asked & self.recorded),
            *(f"{call} was asked in vain" for call in asked - self.recorded - self.due()),
        ]

    def _faults_of_rows(self, key: str) -> list[str]:
        """Take note of what is recorded after a run; returns what is wrong with it."""
        rows = _replies(self._pool)
        count = Counter(_call(row) for row in rows)
        before, self.recorded = self.recorded, count.keys()
        same = ("reuse_key", "presentation", "status", "text", "chosen", "correct")
        return [
            *(f"{call} was recorded and is not any more" for call in before - self.recorded),
            *(f"{call} is recorded and was not asked" for call in self.recorded - before - self._calls(key).keys()),
            *(f"{call} is recorded {number} times" for call, number in count.items() if number > 1),
            *(
                f"{_call(row)} is recorded with another {name}: {row[name]}"
                for row in rows
                for name in same
                if row[name] != self.reference.replies[_call(row)][name]
            ),
        ]

    def _faults_of_lost(self, key: str, killed_at: float) -> list[str]:
        """What is wrong with the replies that a killed run has asked for and not recorded."""
        calls = self._calls(key)
        lost = sorted(calls.keys() - self.recorded)
        faults = []
        for call in lost:
            if (sent := calls[call].sent) is not None and killed_at - sent > SURELY:
                faults.append(f"{call} is not recorded though its reply was sent {killed_at - sent:.3f} s before")
            if any(other.name == call.name and other.screen > call.screen for other in calls):
                faults.append(f"{call} is not recorded though the next screen had begun")
        for (name, screen), count in Counter((call.name, call.screen) for call in lost).items():
            # A call that the others might make needless is made once these are recorded.
            if count + self.reference.right(name, screen, self.recorded) > REJECT_AT:
                faults.append(f"{count} replies of {name}, {screen} are not recorded, and not all were needed")
        return faults

    def _faults_of_finished(self, key: str, verdicts: Mapping[str, str]) -> list[str]:
        due = self.due()
        faults = [*self._faults_of_requests(key), *self._faults_of_rows(key)]
        if (asked := self._calls(key).keys()) != due:
            faults.append(f"a whole run should have asked {sorted(due)} and asked {sorted(asked)}")
        if undone := self.due():
            faults.append(f"a whole run has left undone {sorted(undone)}")
        if verdicts != self.reference.verdicts:
            faults.append(f"verdicts are {verdicts} instead of {self.reference.verdicts}")
        return faults


def _call(row: Mapping[str, Any]) -> Call:
    return Call(row["name"], row["screen"], row["call_index"])


def _asked(row: Mapping[str, Any]) -> tuple[str, str]:
    """Model and prompt of a recorded reply."""
    messages = json.loads(row["request"])["messages"]
    return row["model_asked"], next(message["content"] for message in messages if message["role"] == "user")


def _replies(pool: Pool) -> list[dict[str, Any]]:
    """All that is recorded, be it before there are a database and its tables."""
    if not pool.database.exists():
        return []
    try:
        return pool.recorded("replies")
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise


def _alive(group: int) -> bool:
    """Whether any thread of a group is still at work: one that writes to a disk dies only once that is done."""
    for thread in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        with suppress(OSError):
            # The name of a command may hold anything, parentheses included.
            state, _, of = thread.read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                return True
    return False
