"""Whether a candidate has a place beside the others of its pool: no repetition, new enough, within the quotas."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..candidate import Candidate, Fault
from ..config import GenerateSettings
from ..pool.distractors import unexplained_sentence
from ..pool.quotas import over_quota, shares
from ..pool.shingles import Shingles, of_candidate
from ..pool.similarity import Index, too_similar


@dataclass(frozen=True, slots=True)
class Member:
    """A candidate of the pool.

    Attributes:
        name: As people are told: `round 12`, or the id of an accepted item.
        candidate: The candidate.
        kept: Whether it was accepted; one that was not is only not to be repeated.
    """

    name: str
    candidate: Candidate
    kept: bool


class Newcomers:
    """The candidates of a pool, and those being judged that may become some. The threads of a process share it."""

    def __init__(self, members: Iterable[Member], settings: GenerateSettings, seeds: Iterable[Candidate] = ()) -> None:
        """Take in a pool.

        Args:
            members: What is in it.
            settings: How alike its items may be, and its quotas.
            seeds: What the generator is shown: nothing new is like them, and none of them is an item of the pool.
        """
        self._settings = settings
        self._names: dict[str, str] = {}  # twin key -> name, of what has its verdict
        self._kept: dict[str, Candidate] = {}  # name -> candidate
        self._index = Index()
        self._judged: dict[str, tuple[Candidate, Shingles]] = {}
        self._change = threading.Condition()
        for seed in seeds:
            self._names[seed.twin_key] = name = f"seed {seed.id}"
            self._index.add(name, of_candidate(seed))
        for member in members:
            self._take(member)

    @property
    def kept(self) -> Mapping[str, Candidate]:
        """Name -> candidate, of those that were accepted so far."""
        with self._change:
            return dict(self._kept)

    def refuse(self, name: str, candidate: Candidate) -> Fault | None:
        """What is wrong with a candidate; None, and it is being judged from now on, until `decided` is called.

        Where that hangs on another one that is being judged, it waits for the verdict.
        """
        if sentence := unexplained_sentence(candidate):
            return Fault("no-distractors", sentence)
        shingles = of_candidate(candidate)
        with self._change:
            while True:
                if fault := self._fault(candidate, shingles):
                    return fault
                if not self._hangs_on_others(candidate, shingles):
                    self._judged[name] = candidate, shingles
                    return None
                self._change.wait()

    def decided(self, name: str, *, kept: bool) -> None:
        """A candidate that was being judged has its verdict; one that was refused is not known here."""
        self._leave(name, lambda candidate: self._take(Member(name, candidate, kept)))

    def forget(self, name: str) -> None:
        """A candidate that was being judged, if it was, has ended without a verdict: it is as if it had not come."""
        self._leave(name, lambda candidate: None)

    def _leave(self, name: str, then: Callable[[Candidate], None]) -> None:
        with self._change:
            if (found := self._judged.pop(name, None)) is not None:
                then(found[0])
            self._change.notify_all()

    def _take(self, member: Member) -> None:
        self._names.setdefault(member.candidate.twin_key, member.name)
        if member.kept:
            self._kept[member.name] = member.candidate
            self._index.add(member.name, of_candidate(member.candidate))

    def _fault(self, candidate: Candidate, shingles: Shingles) -> Fault | None:
        if twin := self._names.get(candidate.twin_key):
            return Fault("duplicate", f"this candidate asks the same question with the same options as {twin}")
        if sentence := too_similar(shingles, self._index, self._settings.max_similarity):
            return Fault("too-similar", sentence)
        tags = [each.tags for each in self._kept.values()]
        if sentence := over_quota(candidate.tags, shares(self._settings.quotas, tags)):
            return Fault("quota", f"this candidate {sentence}")
        return None

    def _hangs_on_others(self, candidate: Candidate, shingles: Shingles) -> bool:
        """Whether the verdict would be another one, if all that are being judged were accepted."""
        if any(one.twin_key == candidate.twin_key for one, _ in self._judged.values()):
            return True
        others = Index({name: those for name, (_, those) in self._judged.items()})
        if too_similar(shingles, others, self._settings.max_similarity):
            return True
        tags = [each.tags for each in (*self._kept.values(), *(one for one, _ in self._judged.values()))]
        return over_quota(candidate.tags, shares(self._settings.quotas, tags)) is not None
