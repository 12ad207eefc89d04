"""Real scripts in a real sandbox, with the Python that runs the tests as the domain's."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.sandbox import Finished, Interpreter, Job, Limits, inspect_interpreter, run

type Script = Callable[..., Finished]

LIMITS = frozenset(Limits.__dataclass_fields__)


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    return inspect_interpreter(Path(sys.executable), ("numpy",))


@pytest.fixture
def script(interpreter: Interpreter) -> Script:
    """Run the text as a script; keywords are limits (60 seconds unless given) or fields of the job."""

    def run_it(text: str, **given: Any) -> Finished:  # noqa: ANN401 - passed on as they are
        limits = {name: given.pop(name) for name in LIMITS & given.keys()}
        source = textwrap.dedent(text).encode()
        return run(Job(interpreter, source, limits=Limits(**{"wall": 60.0, **limits}), **given))

    return run_it


def text(finished: Finished) -> str:
    """What a well-behaved script printed; fails with its traceback otherwise."""
    assert (finished.ended, finished.exit_code) == ("exited", 0), finished
    return finished.stdout.decode()
