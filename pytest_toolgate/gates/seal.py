"""The seal of one solve: what must not turn up in it, since only somebody outside of its workspace can know it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..candidate import Candidate
from ..domains import Domain
from .answer_file import AnswerFile
from .job_files import problem
from .tripwire import Tripwires, canary
from .workbench import Run

_RUNS: Final = "the token of this run"
_CANDIDATES: Final = "the canary of this candidate"


class Seal:
    """The tripwires of one solve."""

    def __init__(self, run: Run, candidate: Candidate, domain: Domain) -> None:
        """Say what must not be seen.

        Args:
            run: The run, for its token.
            candidate: The candidate, for its canary, unless that stands in what the agent is told.
            domain: The target software, whose notes the agent may be shown.
        """
        told = (candidate.id, candidate.question, *candidate.options.values(), domain.title, domain.notes)
        shown = "\n".join(told).encode("utf-8", "replace") + b"\n" + problem(candidate, dict(candidate.options))
        texts = {run.seal: _RUNS}
        if text := canary(candidate.metadata, shown):
            texts[text] = _CANDIDATES
        self._tripwires = Tripwires(texts)

    def broken(self, data: bytes, where: str = "a request to its model") -> str | None:
        """What is wrong, as one sentence, if anything of this is a tripwire; see `agents.protocol.Watch`."""
        found = self._tripwires.found(data)
        return f"the workspace was not sealed: {found} was seen in {where}" if found else None

    def broken_by(self, transcript: Sequence[Mapping[str, Any]], answer: AnswerFile) -> str | None:
        """The same for what is left of a solve."""
        for number, entry in enumerate(transcript, 1):
            where = f"entry {number} of the transcript ({str(entry.get('role', 'no role'))[:40]})"
            if found := self.broken(json.dumps(entry, default=str).encode(), where):
                return found
        return self.broken((answer.text or "").encode("utf-8", "replace"), "the answer file")
