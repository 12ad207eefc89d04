"""The reported pool: what local verification, a chain of audits and exact deduplication leave of all candidates."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..store import Store
from .names import AuditError, known_audits
from .pool import PASSED, Recorded, audited, in_loop, no_audit

LOCAL: Final = "local verification"
CHECKS: Final = "extra checks"
TWINS: Final = "exact deduplication"


@dataclass(frozen=True, slots=True)
class Stage:
    """One line of the table. What came in is removed, without verdict, or out.

    Attributes:
        name: Of the stage: an audit has its own.
        removed: What it removed.
        without_verdict: Of what nothing is known, since machinery failed or nobody has asked. It does not go on.
        out: What goes on to the next stage.
    """

    name: str
    removed: tuple[Recorded, ...]
    without_verdict: tuple[Recorded, ...]
    out: tuple[Recorded, ...]

    @property
    def entered(self) -> int:
        """How many came in."""
        return len(self.removed) + len(self.without_verdict) + len(self.out)

    def plain(self) -> dict[str, Any]:
        """The line as JSON types."""
        return {
            "stage": self.name,
            "in": self.entered,
            "removed": len(self.removed),
            "out": len(self.out),
            "no_verdict": len(self.without_verdict),
            "removed_items": [_plain(one) for one in self.removed],
            "no_verdict_items": [_plain(one) for one in self.without_verdict],
        }


@dataclass(frozen=True, slots=True)
class Table:
    """The stages in their order; what the last one lets out is the reported pool."""

    stages: tuple[Stage, ...]

    @property
    def pool(self) -> tuple[Recorded, ...]:
        """The reported pool."""
        return self.stages[-1].out

    def plain(self) -> dict[str, Any]:
        """The table as JSON types."""
        return {"stages": [stage.plain() for stage in self.stages], "pool": [_plain(one) for one in self.pool]}

    def text(self) -> str:
        """The table for people, and what stands in the way of a final one."""
        rows = [["stage", "in", "removed", "out", "no verdict"]]
        for stage in self.stages:
            counts = stage.entered, len(stage.removed), len(stage.out), len(stage.without_verdict)
            rows.append([stage.name, *map(str, counts)])
        first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [" | ".join([name.ljust(first), *map(str.rjust, counted, others)]) for name, *counted in rows]
        lines += [
            f"{stage.name}: {len(stage.without_verdict)} without verdict, and so neither removed nor passed on"
            for stage in self.stages
            if stage.without_verdict
        ]
        return "\n".join(lines)


def reported_pool(store: Store, audits: Sequence[str]) -> Table:
    """What is left of all candidates of the loop.

    A candidate that an audit's screen has solved is removed, and one that an audit's solver has not solved; so is
    whatever else the audit's gates have rejected. Last come exact duplicates.

    Args:
        store: The database.
        audits: Names, in the order in which they remove.

    Raises:
        AuditError: There is no such audit.
    """
    for name in audits:
        if name not in known_audits(store):
            raise AuditError(no_audit(store, name))
    stages = list(_local(in_loop(store)))
    for name in audits:
        stages.append(_audit(name, audited(store, name), stages[-1].out))
    return Table((*stages, deduplicated(stages[-1].out)))


def _local(found: Sequence[Recorded]) -> Iterable[Stage]:
    verified = _standing(found, "verified", "refused")
    yield Stage(LOCAL, _standing(found, "failed"), _standing(found, "unknown"), verified)
    # Most pools know no extra checks that reject.
    if refused := _standing(verified, "refused"):
        yield Stage(CHECKS, refused, (), _standing(verified, "verified"))


def _standing(found: Iterable[Recorded], *standings: str) -> tuple[Recorded, ...]:
    return tuple(one for one in found if one.standing in standings)


def _audit(name: str, verdicts: Mapping[str, Mapping[str, Any]], pool: Sequence[Recorded]) -> Stage:
    ends = {fingerprint: row["outcome"] in PASSED for fingerprint, row in verdicts.items()}
    return Stage(
        name,
        removed=tuple(one for one in pool if ends.get(one.fingerprint) is False),
        without_verdict=tuple(one for one in pool if one.fingerprint not in ends),
        out=tuple(one for one in pool if ends.get(one.fingerprint)),
    )


def deduplicated(pool: Sequence[Recorded]) -> Stage:
    """Of several with the same question and the same set of options, whitespace and Unicode form aside, one stays."""
    groups: dict[str, list[Recorded]] = {}
    for one in pool:
        groups.setdefault(one.twin_key, []).append(one)
    stay = {id(first_of(group)) for group in groups.values()}
    return Stage(
        TWINS,
        removed=tuple(one for one in pool if id(one) not in stay),
        without_verdict=(),
        out=tuple(one for one in pool if id(one) in stay),
    )


def first_of(twins: Collection[Recorded]) -> Recorded:
    """Which of several exact duplicates stays: that of the lowest round, else that which was attempted first.

    Rounds decide where all of them come from rounds of one domain.
    """
    numbered = all(one.round is not None for one in twins) and len({one.domain for one in twins}) == 1
    return min(twins, key=lambda one: (one.round or 0 if numbered else 0, one.time, one.path))


def _plain(one: Recorded) -> dict[str, Any]:
    return {"id": one.id, "path": one.path, "fingerprint": one.fingerprint, "round": one.round}
