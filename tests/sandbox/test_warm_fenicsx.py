"""FEniCSx in a warm start behaves as it does in a start of its own."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_toolgate.domains import load_domain
from pytest_toolgate.sandbox import Finished, Interpreter, Job, Limits, WarmStart, run

from .conftest import DOLFINX, text

pytestmark = pytest.mark.skipif(not DOLFINX, reason="needs DOLFINx")
SPACE = """
import dolfinx_solver, dolfinx, ufl, numpy as np
from mpi4py import MPI
from dolfinx import fem, mesh
m = mesh.create_unit_square(MPI.COMM_WORLD, 4, 4)
V = fem.functionspace(m, ("Lagrange", 1))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
"""
AREA = SPACE + "print(fem.assemble_scalar(fem.form(fem.Constant(m, 1.0) * ufl.dx)))\n"
SCRIPTS = {
    "a submodule that was not imported": "import dolfinx_solver, dolfinx; print(dolfinx.fem.petsc.LinearProblem)",
    "basix alone": "import basix; print(basix.ufl)",
    "a library that does not find MPI": "from petsc4py import PETSc; print(PETSc.Vec())",
    "options of PETSc": """
import dolfinx_solver, petsc4py
petsc4py.init(["x", "-ksp_type", "gmres"])
from petsc4py import PETSc
print(PETSc.Options().getAll())
""",
    "MPI begun by hand": """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(MPI.Is_initialized())
MPI.Init()
print(MPI.Query_thread())
""",
    "one thread level": "import mpi4py\nmpi4py.rc.threads = False\nfrom mpi4py import MPI\nprint(MPI.Query_thread())",
    "MPI ended by hand": "from mpi4py import MPI\nprint('ANSWER: B')\nMPI.Finalize()",
    "MPI aborted": "from mpi4py import MPI\nprint('x', flush=True)\nMPI.COMM_WORLD.Abort(3)",
    "the same form in a child": f"""{AREA}
import subprocess, sys
print(subprocess.run([sys.executable, "-c", {AREA!r}], capture_output=True, text=True).stdout)
""",
    "a pool": f"""{SPACE}
from multiprocessing import Pool
def f(k):
    return round(float(fem.assemble_scalar(fem.form(fem.Constant(m, 1.0) * ufl.dx))) + k, 6)
with Pool(2) as pool:
    print(pool.map(f, [1, 2]))
""",
    "threads that compile one form": f"""{SPACE}
from concurrent.futures import ThreadPoolExecutor
f = fem.Function(V)
f.interpolate(lambda x: x[0] ** 2)
forms = [f * f * ufl.dx] * 4
with ThreadPoolExecutor(4) as pool:
    print(len(list(pool.map(fem.form, forms))))
""",
    "single precision": """
import dolfinx_solver, dolfinx, ufl, numpy as np
from mpi4py import MPI
from dolfinx import fem, mesh
m = mesh.create_unit_square(MPI.COMM_WORLD, 4, 4, dtype=np.float32)
V = fem.functionspace(m, ("Lagrange", 2))
f = fem.Function(V, dtype=np.float32)
f.interpolate(lambda x: np.sin(x[0]))
print(repr(fem.assemble_scalar(fem.form(f * f * ufl.dx, dtype=np.float32))))
""",
    "an expression": f"""{SPACE}
f = fem.Function(V)
f.interpolate(lambda x: np.sin(x[0]))
points = V.element.interpolation_points
e = fem.Expression(f * f, points() if callable(points) else points)
g = fem.Function(V)
g.interpolate(e)
print(repr(float(np.linalg.norm(g.x.array))))
""",
    "a kernel by hand": f"""{SPACE}
form = fem.form(u * v * ufl.dx)
ffi, A = form.module.ffi, np.zeros((3, 3))
x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
null, of = ffi.NULL, lambda a: ffi.cast("double *", a.ctypes.data)
form.ufcx_form.form_integrals[0].tabulate_tensor_float64(of(A), null, null, of(x), null, null, null)
print(A.sum())
""",
    "options that the compiler refuses": f"""{SPACE}
try:
    fem.form(u * v * ufl.dx, jit_options={{"cffi_extra_compile_args": ["-O9bad"]}})
except Exception as error:
    print(type(error).__name__)
""",
    "an exception in C++": f"{SPACE}m.topology.create_connectivity(7, 1)",
    "a crash in PETSc's hands": "import dolfinx_solver\nfrom petsc4py import PETSc\nimport ctypes\nctypes.string_at(0)",
}
IMPORTS = """
import {first}
from mpi4py import MPI
print(MPI.Is_initialized(), MPI.COMM_WORLD.allreduce(2), end=" ")
from petsc4py import PETSc
vector = PETSc.Vec().createSeq(3)
vector.set(2.0)
print(PETSc.Sys.isInitialized(), vector.sum())
"""


@pytest.fixture
def both(interpreter: Interpreter, warm_start: WarmStart) -> Callable[[str], tuple[Finished, Finished]]:
    """Run a script from a start of its own and as a copy."""
    domain = load_domain("fenicsx")
    start = replace(warm_start, preload=domain.preload)

    def run_both(source: str) -> tuple[Finished, Finished]:
        job = Job(interpreter, source.encode(), limits=Limits(wall=60.0), watch=domain.packages)
        return run(job), run(replace(job, warm=start))

    return run_both


@pytest.mark.parametrize("case", SCRIPTS)
def test_it_comes_to_the_same(both: Callable[[str], tuple[Finished, Finished]], case: str) -> None:
    cold, warm = both(SCRIPTS[case])
    assert (warm.ended, warm.exit_code, warm.signal) == (cold.ended, cold.exit_code, cold.signal)
    assert (warm.stdout, warm.used) == (cold.stdout, cold.used)


@pytest.mark.parametrize(
    "first", ["mpi4py", "mpi4py.MPI", "petsc4py", "ufl", "dolfinx", "dolfinx.fem.petsc", "dolfinx_solver"]
)
def test_mpi_and_petsc_are_begun_by_whoever_imports_them(
    both: Callable[[str], tuple[Finished, Finished]], first: str
) -> None:
    cold, warm = both(IMPORTS.format(first=first))
    assert (warm.exit_code, warm.stdout) == (cold.exit_code, cold.stdout)
    if first in ("mpi4py", "mpi4py.MPI", "dolfinx_solver", "ufl"):
        assert text(warm) == "True 2 True 6.0\n"


def test_mpi_is_not_begun_for_who_does_not_ask(both: Callable[[str], tuple[Finished, Finished]]) -> None:
    """Nor is PETSc, which would answer a crash in its own way."""
    _, warm = both("import numpy, sys; print('mpi4py.MPI' in sys.modules)")
    assert text(warm) == "False\n"


@pytest.mark.parametrize("damage", ["cut", "beheaded", "holed", "other"])
def test_what_is_damaged_is_compiled_again(interpreter: Interpreter, warm_start: WarmStart, damage: str) -> None:
    job = Job(interpreter, AREA.encode(), limits=Limits(wall=60.0), warm=warm_start)
    left = run(job).kept
    assert len(left) > 5000
    damaged = {
        "cut": left[:3000],
        "beheaded": left[2000:],
        "holed": left[:3000] + bytes(100) + left[3100:],
        "other": b"x" * 9000,
    }[damage]
    assert text(run(replace(job, kept=damaged))) == "1.0\n"
