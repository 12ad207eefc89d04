"""Real scripts in a real sandbox, with the Python that runs the tests as the domain's."""

import importlib.util
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.domains import load_domain
from pytest_toolgate.sandbox import (
    Finished,
    Interpreter,
    Job,
    Limits,
    WarmKeeper,
    WarmStart,
    inspect_interpreter,
    run,
)

type Script = Callable[..., Finished]

DOLFINX = importlib.util.find_spec("dolfinx_solver") is not None

LIMITS = frozenset(Limits.__dataclass_fields__)


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    return inspect_interpreter(Path(sys.executable), ("numpy",))


@pytest.fixture(scope="session")
def warm_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmStart]:
    """Where scripts find a process to be copies of, which has NumPy and DOLFINx loaded."""
    directory = tmp_path_factory.mktemp("warm")
    keeper = WarmKeeper(directory)
    keeper.start()
    yield WarmStart(directory, load_domain("fenicsx").warm_start if DOLFINX else "", ("numpy",))
    keeper.stop()


@pytest.fixture(params=["cold", "warm"])
def script(request: pytest.FixtureRequest, interpreter: Interpreter) -> Script:
    """Run the text as a script; keywords are limits (60 seconds unless given) or fields of the job.

    Whatever holds of a script that is started holds of one that is a copy of a warm process, but for workspaces.
    """
    warm = request.getfixturevalue("warm_start") if request.param == "warm" else None

    def run_it(text: str, **given: Any) -> Finished:  # noqa: ANN401 - passed on as they are
        limits = {name: given.pop(name) for name in LIMITS & given.keys()}
        source = textwrap.dedent(text).encode()
        if warm is not None and "workspace" in given:
            pytest.skip("agents' commands are never started warm")
        return run(Job(interpreter, source, limits=Limits(**{"wall": 60.0, **limits}), **{"warm": warm, **given}))

    return run_it


def text(finished: Finished) -> str:
    """What a well-behaved script printed; fails with its traceback otherwise."""
    assert (finished.ended, finished.exit_code) == ("exited", 0), finished
    return finished.stdout.decode()
