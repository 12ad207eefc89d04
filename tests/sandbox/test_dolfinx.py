"""The sandbox runs the software it was made for: MPI, a form compiler that calls gcc, PETSc."""

import importlib.util

import pytest

from .conftest import Script, text
from .elsewhere import WHO, somebody
from .test_landlock import needs_landlock

pytestmark = pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")

POISSON = """
    import dolfinx_solver, ufl
    from dolfinx import fem, mesh
    from dolfinx.fem.petsc import LinearProblem
    from mpi4py import MPI

    domain = mesh.create_unit_square(MPI.COMM_WORLD, 8, 8)
    V = fem.functionspace(domain, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    domain.topology.create_connectivity(1, 2)
    edge = fem.locate_dofs_topological(V, 1, mesh.exterior_facet_indices(domain.topology))
    a, L = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, fem.Constant(domain, 1.0) * v * ufl.dx
    problem = LinearProblem(a, L, bcs=[fem.dirichletbc(0.0, edge, V)], petsc_options_prefix="p",
                            petsc_options={"ksp_type": "preonly", "pc_type": "lu"})
    print(f"ANSWER: {fem.assemble_scalar(fem.form(problem.solve() * ufl.dx)):.3f}")
"""


def test_a_poisson_problem(script: Script) -> None:
    finished = script(POISSON, watch=("dolfinx", "basix", "ufl", "ffcx"))
    assert text(finished) == "ANSWER: 0.033\n"
    assert finished.used == ("basix", "dolfinx", "ffcx", "ufl")
    assert finished.stderr == b""


@needs_landlock
@pytest.mark.parametrize("who", WHO)
def test_a_poisson_problem_without_namespaces(who: str) -> None:
    with somebody(who) as user:
        finished = user.run(POISSON, tier="landlock", watch=("dolfinx", "basix", "ufl", "ffcx"))
    assert text(finished) == "ANSWER: 0.033\n"
    assert finished.used == ("basix", "dolfinx", "ffcx", "ufl")
    assert finished.stderr == b""
