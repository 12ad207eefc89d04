"""What becomes of a proposal: a stranger's file goes through the gates, and where there is none, that is recorded."""

from pathlib import Path
from typing import Final

from ..candidate import Candidate, Fault
from ..gates import Attempt, Origin, Workbench, judge
from ..gates.result import escaped
from ..store import new_id
from ..whole_file import write_whole
from .history import Begun
from .newcomers import Newcomers
from .proposal import Proposal

GATE: Final = "generate"
"""Where an attempt ends for which there is no file to judge."""
# Its id is that of its round, and nothing but the file is kept.
_REFUSED: Final = ("id", "solution_file")


class Judge:
    """Judges the proposals of one domain; its threads may share one."""

    def __init__(self, domain: str, directory: Path, newcomers: Newcomers, bench: Workbench) -> None:
        """Say what for.

        Args:
            domain: Name of the domain.
            directory: Where proposals are put.
            newcomers: What has a place in the pool.
            bench: What gates work with.
        """
        self._domain = domain
        self._directory = directory
        self._newcomers = newcomers
        self._bench = bench

    def path(self, number: int) -> Path:
        """Where the proposal of a round is put; its name is the candidate's id."""
        return self._directory / f"{self._domain}-{number:04}.yaml"

    def judge(self, begun: Begun, proposal: Proposal) -> Attempt:
        """Judge what a round has come to.

        Raises:
            OSError: The proposal cannot be put where proposals are.
            StoreError: It cannot be recorded.
        """
        if proposal.text is None:
            return self._nothing(begun, proposal)
        path = self.path(begun.number)
        write_whole(path, proposal.text)
        return judge(path, self._bench, Origin(begun.id, lambda candidate: self._refuse(begun.number, candidate)))

    def _refuse(self, number: int, candidate: Candidate) -> Fault | None:
        """What is wrong with a candidate as a proposal, or beside the others of its pool."""
        if candidate.domain != self._domain:
            return Fault("bad-schema", f"the domain is `{candidate.domain}`, and `{self._domain}` was asked for")
        for key in _REFUSED:
            if key in candidate.lines:
                return Fault("bad-schema", f"a proposal has no `{key}`", candidate.lines[key], key)
        return self._newcomers.refuse(name_of(number), candidate)

    def _nothing(self, begun: Begun, proposal: Proposal) -> Attempt:
        """An attempt without a file: recorded like any other."""
        reason = "timeout" if proposal.ended == "timeout" else "no-candidate"
        sentence = escaped(proposal.sentence)
        attempt_id, path = new_id(), self.path(begun.number).name
        self._bench.store.append_all([
            ("attempts", {"id": attempt_id, "run_id": self._bench.run.id, "path": path, "round_id": begun.id}),
            ("outcomes", {
                "attempt_id": attempt_id,
                "outcome": "rejected",
                "gate": GATE,
                "reason": reason,
                "sentence": sentence,
                "warnings": [],
                "reused": 0,
            }),
        ])  # fmt: skip
        return Attempt(attempt_id, "rejected", GATE, reason, sentence, path)


def name_of(number: int) -> str:
    """How a round is named to people."""
    return f"round {number}"
