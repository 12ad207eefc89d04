"""The proof of FEniCSx, run as a run does it: it passes where scripts can work, and says what is wrong elsewhere."""

import importlib.util
import sys
from pathlib import Path

import pytest

from pytest_toolgate.domains.fenicsx import FENICSX
from pytest_toolgate.sandbox import Finished, Job, Limits, inspect_interpreter, run

pytestmark = pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")

# What the proof imports, played: a PETSc of another kind of number.
_PLAYED = """
import sys, types
for name in ("basix", "ffcx", "ufl", "dolfinx.fem", "dolfinx.fem.petsc", "petsc4py", "petsc4py.PETSc"):
    sys.modules[name] = types.ModuleType(name)
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, sys.modules[name])
import numpy
sys.modules["petsc4py.PETSc"].ScalarType = numpy.{kind}
"""


def proven(**given: dict[str, str] | dict[str, bytes]) -> Finished:
    interpreter = inspect_interpreter(Path(sys.executable), FENICSX.distributions)
    return run(Job(interpreter, FENICSX.proof.encode(), limits=Limits(wall=120.0), **given))  # type: ignore[arg-type]


def complaint(finished: Finished) -> str:
    assert (finished.ended, finished.exit_code) == ("exited", 1), finished
    [line] = finished.stderr.decode().splitlines()
    return line


def test_this_installation_works() -> None:
    finished = proven()
    assert (finished.ended, finished.exit_code, finished.stderr) == ("exited", 0, b"")


@pytest.mark.parametrize("env", [{"PATH": "/nowhere"}, {"CC": "/nowhere/cc"}, {"CC": "false"}], ids=str)
def test_without_a_compiler(env: dict[str, str]) -> None:
    line = complaint(proven(env=env))
    assert line.startswith("a form cannot be compiled; a C compiler")
    assert "apt-get install gcc libc6-dev (" in line


@pytest.mark.parametrize("kind", ["complex128", "float32"])
def test_another_kind_of_number(kind: str) -> None:
    line = complaint(proven(files={"dolfinx_solver.py": _PLAYED.format(kind=kind).encode(), "dolfinx.py": b""}))
    assert line.startswith(f"PETSc computes with {kind}, and scripts need 64-bit real numbers (float64)")
