"""The accepted items of a domain's rounds. The database says which there are; files follow it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..gates import Workbench
from ..store.accepted import AcceptedItems
from ..store.record import read_record
from .examples import accepted_members
from .history import Past
from .judge import name_of
from .newcomers import Member


class LoopError(Exception):
    """A generation that cannot be begun, as one sentence."""


class Items:
    """The directory of accepted items, as the rounds of one domain see it. Not for several threads at once."""

    def __init__(self, domain: str, bench: Workbench) -> None:
        self._domain = domain
        self._bench = bench
        self._files = AcceptedItems(bench.run.accepted)

    def members(self, past: Sequence[Past]) -> Iterator[Member]:
        """The pool: accepted items of any origin, and the candidates of rounds that are over."""
        kept = {each.candidate.fingerprint for each in past if each.candidate is not None and each.record.kept}
        yield from accepted_members(self._bench.run.accepted, self._domain, kept)
        for each in past:
            if each.candidate is not None and each.record.reason != "duplicate":
                yield Member(name_of(each.record.number), each.candidate, each.record.kept)

    def check_place(self, number: int, path: Path) -> None:
        """No file of another database's rounds is to be replaced.

        Args:
            number: Of a round that the database does not know.
            path: Where its proposal would be.

        Raises:
            LoopError: Something is there.
        """
        for place in (path, self._bench.run.accepted / f"{path.stem}.json"):
            if place.exists():
                raise LoopError(
                    f"{self._bench.run.shown(place)} exists, and the database knows of no round {number} of "
                    f"{self._domain}: name another --out and --accepted, or the --db that it comes from"
                )

    def restore(self, past: Sequence[Past]) -> None:
        """Write the items that a run was ended over.

        Raises:
            LoopError: One cannot be written.
        """
        for each in past:
            if each.record.outcome == "accepted" and each.candidate is not None:
                place = self._bench.run.accepted / f"{each.candidate.id}.json"
                try:
                    if not place.exists():
                        self.write(each)
                except OSError as problem:
                    raise LoopError(f"the accepted item {place} cannot be written: {problem.strerror}") from None

    def write(self, past: Past) -> None:
        """Put the accepted item of a round where accepted items are.

        Raises:
            OSError: It cannot be written.
        """
        assert past.candidate is not None
        record = read_record(self._bench.store, past.attempt_id)
        self._files.write(past.candidate.id, str(past.candidate.path), record)
