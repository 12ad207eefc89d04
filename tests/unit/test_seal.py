"""A seal is broken by what nobody inside can know, and never by what an agent is told."""

from pathlib import Path

import pytest

from pytest_toolgate.domains import load_domain
from pytest_toolgate.gates.job_files import problem
from pytest_toolgate.gates.seal import Seal
from pytest_toolgate.gates.workbench import Run

from .items import F1, candidate

HERE = Path()
RUN = Run("run", 0, HERE, HERE, (), HERE, HERE)


@pytest.mark.parametrize(
    ("canary", "broken"),
    [
        ("5e0c1d2a-93b7-4f18-a6e4-0c9b7d21f3aa", True),
        ("mylab-scipy-bessel-0001", False),
        ('"A": "0.058996",\n    "B": "0.060723"', False),
    ],
    ids=["unknown", "the id", "as the file has it"],
)
def test_a_canary_that_the_agent_is_told_breaks_no_seal(canary: str, broken: bool) -> None:
    item = candidate(id="mylab-scipy-bessel-0001", metadata={"canary": canary})
    seal = Seal(RUN, item, load_domain("scipy"))
    assert seal.broken(problem(item, F1)) is None
    assert (seal.broken(f"I have seen {canary}.".encode()) is not None) == broken
