"""FEniCSx: the finite element library DOLFINx with Basix, UFL and FFCx."""

from pathlib import Path

from ..protocol import Domain

_HERE = Path(__file__).parent
# An installed package holds the seeds; in a checkout they are where the project's readers look for them.
_SEEDS = next((seeds for root in (_HERE, _HERE.parents[2]) if (seeds := root / "seeds").is_dir()), None)
# What most often goes wrong, each with its remedy: a package, the kind of PETSc, the C compiler.
_PROOF = """
import sys

import dolfinx_solver
import basix
import dolfinx
import dolfinx.fem.petsc
import ffcx
import numpy
import ufl
from mpi4py import MPI
from petsc4py import PETSc

kind = numpy.dtype(PETSc.ScalarType)
if kind != numpy.float64:
    sys.exit(
        f"PETSc computes with {kind}, and scripts need 64-bit real numbers (float64); "
        "install DOLFINx with such a PETSc, for example the package dolfinx-solver-real"
    )
square = dolfinx.mesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
try:
    form = dolfinx.fem.form(dolfinx.fem.Constant(square, 1.0) * ufl.dx)
except Exception as error:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    sys.exit(
        "a form cannot be compiled; a C compiler and the C library's headers are needed, for example: "
        f"apt-get install gcc libc6-dev ({lines[-1]})"
    )
area = dolfinx.fem.assemble_scalar(form)
if abs(area - 1.0) > 1e-12:
    sys.exit(f"the integral of 1 over the unit square came out as {area}; install DOLFINx anew")
"""

FENICSX = Domain(
    name="fenicsx",
    title="FEniCSx (DOLFINx)",
    packages=("dolfinx", "basix", "ufl", "ffcx"),
    distributions=(
        "fenics-dolfinx",
        "dolfinx-solver-real",
        "dolfinx-solver",
        "fenics-basix",
        "fenics-ffcx",
        "fenics-ufl",
        "petsc4py",
        "mpi4py",
        "numpy",
        "scipy",
    ),
    stand_ins=("dolfinx_solver",),
    preload=("dolfinx", "basix", "ufl", "ffcx", "scipy.sparse.linalg"),
    warm_start=(_HERE / "warm.py").read_text("utf-8"),
    proof=_PROOF,
    notes=(
        "DOLFINx 0.11 with real PETSc is installed. Write `import dolfinx_solver` before the first `import dolfinx`. "
        "`dolfinx.fem.functionspace(mesh, ('Lagrange', 1))` makes a space; "
        "`dolfinx.fem.petsc.LinearProblem(a, L, bcs=[...], petsc_options={...}, petsc_options_prefix='p_').solve()` "
        "solves a linear problem; `dolfinx.fem.assemble_scalar(dolfinx.fem.form(expression * ufl.dx))` integrates."
    ),
    guide=(_HERE / "guide.md").read_text("utf-8"),
    seeds=_SEEDS,
    checks=("basix-layout", "solver-convergence", "numerical-choices", "perturb"),
)
