"""Watching work that goes on in threads: what it comes to is shown, and Ctrl-C lets what is in hand be finished."""

import signal
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Protocol, Self

from ..crew import Crew

_GLANCE = 0.2  # seconds between two looks


class Advance(Protocol):
    """How far some work has come.

    Attributes:
        endings: How one of many has ended -> how many have.
        done: How many are over, those of earlier runs included.
        now: How many of them by this run.
        log: A line for each that has ended.
        stopped: Why no further one is begun; empty while there are some to begin.
    """

    @property
    def endings(self) -> Mapping[str, int]: ...  # noqa: D102

    @property
    def done(self) -> int: ...  # noqa: D102

    @property
    def now(self) -> int: ...  # noqa: D102

    @property
    def log(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def stopped(self) -> str: ...  # noqa: D102


class Work(Protocol):
    """What is watched."""

    @property
    def progress(self) -> Advance:
        """How far it has come."""
        ...

    @property
    def crew(self) -> Crew:
        """Who is at it."""
        ...

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self, why: str) -> None:
        """Begin nothing more; what is in hand is finished."""
        ...

    def abandon(self, why: str) -> None:
        """End at once."""
        ...


class Display(Protocol):
    """Where it is shown, from `with` to its end."""

    unit: str

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(self, *problem: object) -> None:
        """End."""
        ...

    def update(self, progress: Advance) -> None:
        """Show what has happened since."""
        ...

    def say(self, line: str) -> None:
        """Show a line for itself."""
        ...


def watch(work: Work, shown: Display) -> None:
    """Do the work to its end and show how it comes on; Ctrl-C lets what is in hand be finished."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        if work.progress.stopped or number == signal.SIGTERM:
            raise KeyboardInterrupt
        work.stop("it was interrupted")
        shown.say(f"interrupted: the {shown.unit}s in hand are finished first; again Ctrl-C ends them at once")

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with shown:
            work.start()
            while work.crew.at_work:
                shown.update(work.progress)
                work.crew.wait(_GLANCE)
            shown.update(work.progress)
    except KeyboardInterrupt:
        work.abandon("it was ended")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
