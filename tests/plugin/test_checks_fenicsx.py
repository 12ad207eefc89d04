"""The checks of FEniCSx on real scripts: right ones, and ones with the defect that each check is for."""

import dataclasses
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from unit.benches import workbench
from unit.items import candidate

from pytest_toolgate.checks import CheckResult, CheckTask, load_check
from pytest_toolgate.config import Settings
from pytest_toolgate.domains import load_domain
from pytest_toolgate.gates.check_runs import CheckRuns

from .layout_cases import OPEN, RIGHT, WRONG, script
from .pool import VERIFY, Pool

pytestmark = pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")
Apply = Callable[..., CheckResult | None]


@pytest.fixture
def apply(tmp_path: Path) -> Iterator[Apply]:
    """Applies a check to a script, in the sandbox."""
    bench = workbench(tmp_path, Settings())

    domain = load_domain("fenicsx")
    interpreter = bench.interpreter(domain)

    def apply_one(check: str, solution: str, *, keyed: bool = False, **changes: object) -> CheckResult | None:
        """Apply a check; with `keyed` what the script prints is the answer, as gate verify would have seen to."""
        one = candidate(domain="fenicsx", solution=solution, **changes)
        printed = ""
        if keyed:
            printed = CheckRuns(one, domain, interpreter, bench)(solution).answer or ""
            one = dataclasses.replace(one, options={**one.options, one.answer: printed})
        runs = CheckRuns(one, domain, interpreter, bench)
        return load_check(check)(CheckTask(one, domain, interpreter, printed, runs))

    with closing(bench.store):
        yield apply_one


# --- basix-layout -----------------------------------------------------------------------------------------------

# Each with an element of its own kind: the shapes (points, value size) are (9, 2), (24, 3) and (7, 4).
_ELEMENTS = [
    pytest.param(("RT", "triangle", 2), id="RT"),
    pytest.param(("N1E", "tetrahedron", 2), id="N1E", marks=pytest.mark.slow),
    pytest.param(("Regge", "triangle", 1), id="Regge", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("element", _ELEMENTS)
@pytest.mark.parametrize("name", RIGHT)
def test_values_component_by_component_pass(apply: Apply, name: str, element: tuple[str, str, int]) -> None:
    result = apply("basix-layout", script(RIGHT[name], *element))
    assert result is not None
    assert (result.verdict, result.sentence) == ("passed", "")
    assert ", 0 point by point, 0 unclear" in result.evidence


@pytest.mark.parametrize("element", _ELEMENTS)
@pytest.mark.parametrize("name", WRONG)
def test_values_point_by_point_are_rejected(apply: Apply, name: str, element: tuple[str, str, int]) -> None:
    result = apply("basix-layout", script(WRONG[name], *element))
    assert result is not None
    assert result.verdict == "rejected"
    assert " 0 component by component, " in result.evidence


@pytest.mark.parametrize("name", OPEN)
def test_what_cannot_be_followed_is_no_finding(apply: Apply, name: str) -> None:
    result = apply("basix-layout", script(OPEN[name]))
    assert result is not None
    assert (result.verdict, result.sentence) == ("passed", "the order of the values could not be followed")


def test_both_orders_in_one_script_are_flagged(apply: Apply) -> None:
    result = apply("basix-layout", script("c = matrix @ values.flatten() - matrix @ values.T.flatten()"))
    assert result is not None
    assert result.verdict == "flagged"


def test_a_script_without_such_a_matrix_is_not_looked_at(apply: Apply) -> None:
    assert apply("basix-layout", "import basix\nprint('ANSWER: 0.5')") is None


def test_a_script_does_not_notice_that_it_is_watched(apply: Apply) -> None:
    """It is what it would be alone: its file, its name, its globals, and its arrays."""
    body = """
import sys
own = open(__file__).read()
assert own.endswith("# the end") and own.startswith("\\nimport basix"), own
assert sys.argv == ["solution.py"] and __name__ == "__main__" and __doc__ is None
assert not [name for name in globals() if name in ("SOURCE", "UNDER", "TOLD", "MARK", "json", "report")]
assert isinstance(matrix, np.ndarray) and np.linalg.matrix_rank(matrix) == element.dim
assert np.allclose(np.linalg.pinv(matrix) @ matrix @ np.linalg.pinv(matrix), np.linalg.pinv(matrix))
assert (matrix + matrix == 2 * matrix).all() and abs(-matrix).max() == abs(matrix).max()
assert matrix.sum() == sum(map(float, matrix.flatten())) or np.isclose(matrix.sum(), sum(map(float, matrix.flatten())))
assert np.vstack([matrix, matrix]).shape == (2 * matrix.shape[0], matrix.shape[1])
assert float(matrix[0, 0]) * 2 == matrix[0, 0] * 2 == 2 * matrix[0, 0] and f"{matrix[0, 0]:.3f}"
c = matrix.dot(values.T.flatten())
"""
    result = apply("basix-layout", script(body) + "# the end")
    assert result is not None
    assert result.verdict == "passed"


# --- solver-convergence -----------------------------------------------------------------------------------------

_POISSON = """
import dolfinx_solver
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem, NonlinearProblem
from mpi4py import MPI
from petsc4py import PETSc

domain = mesh.create_unit_square(MPI.COMM_WORLD, 8, 8)
V = fem.functionspace(domain, ("Lagrange", 1))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
x = ufl.SpatialCoordinate(domain)
a = (ufl.inner(ufl.grad(u), ufl.grad(v)) + u * v) * ufl.dx
L = ufl.exp(x[0] + x[1] ** 2) * v * ufl.dx
"""
_LINEAR = """
problem = LinearProblem(a, L, petsc_options={<options>}, petsc_options_prefix="p_")
uh = problem.solve()
<after>
print(f"ANSWER: {fem.assemble_scalar(fem.form(uh * ufl.dx)):.6f}")
"""
_NONLINEAR = """
uh = fem.Function(V)
F = (1 + uh**2) * ufl.inner(ufl.grad(uh), ufl.grad(v)) * ufl.dx + uh * v * ufl.dx - L
options = {"snes_max_it": <steps>, "ksp_type": "preonly", "pc_type": "lu"}
NonlinearProblem(F, uh, petsc_options=options, petsc_options_prefix="n_").solve()
print(f"ANSWER: {fem.assemble_scalar(fem.form(uh * ufl.dx)):.6f}")
"""
_OWN = """
from dolfinx.fem.petsc import assemble_matrix, assemble_vector
A, b = assemble_matrix(fem.form(a)), assemble_vector(fem.form(L))
A.assemble()
solver = PETSc.KSP().create(domain.comm)
solver.setOperators(A)
solver.setType("cg")
solver.getPC().setType("none")
solver.setTolerances(rtol=1e-12, max_it=<steps>)
uh = b.duplicate()
solver.solve(b, uh)
print(f"ANSWER: {uh.sum():.6f}")
"""
_FEW = '"ksp_type": "cg", "pc_type": "none", "ksp_max_it": 3, "ksp_rtol": 1e-12'
_DIRECT = '"ksp_type": "preonly", "pc_type": "lu"'


def linear(options: str, after: str = "") -> str:
    return _POISSON + _LINEAR.replace("<options>", options).replace("<after>", after)


@pytest.mark.parametrize(
    ("solution", "verdict"),
    [
        pytest.param(linear(_DIRECT), "passed", id="direct"),
        pytest.param(linear(_FEW), "rejected", id="linear"),
        pytest.param(linear(_FEW, "print(problem.solver.getConvergedReason())"), "flagged", id="asked"),
        pytest.param(linear(_FEW, "print(problem.solver.is_converged)"), "flagged", id="asked-otherwise"),
        pytest.param(_POISSON + _NONLINEAR.replace("<steps>", "30"), "passed", id="nonlinear-converged"),
        pytest.param(_POISSON + _NONLINEAR.replace("<steps>", "1"), "rejected", id="nonlinear"),
        pytest.param(_POISSON + _OWN.replace("<steps>", "500"), "passed", id="own-converged"),
        pytest.param(_POISSON + _OWN.replace("<steps>", "2"), "rejected", id="own"),
    ],
)
def test_a_solver_that_did_not_converge(apply: Apply, solution: str, verdict: str) -> None:
    result = apply("solver-convergence", solution)
    assert result is not None
    assert result.verdict == verdict
    assert ("did not converge: DIVERGED_" in result.sentence) == (verdict != "passed")


def test_scipy_says_whether_it_converged(apply: Apply) -> None:
    solution = """
import basix
import numpy as np
from scipy.sparse.linalg import cg
from scipy.optimize import minimize
A = np.diag(np.arange(1.0, 60.0))
x, info = cg(A, np.ones(59), maxiter=2)
minimize(lambda x: (x[0] ** 2 - x[1]) ** 2 + x[0], [3.0, 4.0], options={"maxiter": 1})
print("ANSWER:", x.sum())
"""
    result = apply("solver-convergence", solution)
    assert result is not None
    assert (result.verdict, len(result.evidence.splitlines())) == ("flagged", 2)
    assert result.sentence == "cg did not converge: info 2 (2 solves), and the script goes on"


# --- numerical-choices ------------------------------------------------------------------------------------------

_CHOICES = """
domain = mesh.create_unit_square(MPI.COMM_WORLD, 2, 3)
x = ufl.SpatialCoordinate(domain)
V = fem.functionspace(domain, ("Lagrange", 1))
uh = fem.Function(V)
uh.interpolate(lambda p: p[0] ** 2 * p[1] + p[1] ** 3)
<body>
print(f"ANSWER: {value:.6f}")
"""
_BODIES = {
    "quadrature": "value = fem.assemble_scalar(fem.form(ufl.exp(8 * x[0]) / (1 + uh**2) * ufl.dx))",
    "explicit": "value = fem.assemble_scalar(fem.form(ufl.exp(8 * x[0]) * ufl.dx(degree=2)))",
    "diagonal": "value = fem.assemble_scalar(fem.form(uh * ufl.dx))",
    "numbering": "value = uh.x.array[3]",
    "nothing": "value = fem.assemble_scalar(fem.form((x[0] ** 2 + x[1]) * ufl.dx))",
}


@pytest.mark.parametrize(
    ("body", "question", "found"),
    [
        ("quadrature", "Integrate on a mesh cut along the right diagonal.", "quadrature degree"),
        ("explicit", "Integrate on a mesh cut along the right diagonal.", "quadrature degree"),
        ("quadrature", "Integrate on a mesh cut along the right diagonal by the default quadrature degree.", ""),
        ("diagonal", "Integrate the interpolant on 2 x 3 rectangles, halved.", "diagonal of the mesh"),
        ("diagonal", "Integrate the interpolant on 2 x 3 rectangles, halved by the right diagonals.", ""),
        ("numbering", "What is the interpolant at that vertex?", "numbering of the mesh"),
        ("nothing", "Integrate x^2 + y.", ""),
    ],
)
def test_a_choice_that_the_question_does_not_state(apply: Apply, body: str, question: str, found: str) -> None:
    solution = _POISSON + _CHOICES.replace("<body>", _BODIES[body])
    result = apply("numerical-choices", solution, keyed=True, question=question)
    assert result is not None
    assert result.verdict == ("flagged" if found else "passed")
    assert not found or f"the answer depends on the {found} (" in result.sentence
    assert " and on " not in result.sentence


# --- through the plugin -----------------------------------------------------------------------------------------


def test_a_pool_with_each_defect(pool: Pool, workers: int) -> None:
    layout = {"A": "1.000000", "B": "2.000000", "C": "3.000000", "D": "4.000000"}
    fixed = "\nprint('ANSWER: 2.000000')\n"
    head, _, _ = script(WRONG["listed"]).rpartition("\nprint")
    pool.add("layout", head + fixed, domain="fenicsx", options=layout)
    pool.add("silent", linear(_FEW).rpartition("print")[0] + fixed, domain="fenicsx", options=layout)
    pool.add("sound", linear(_DIRECT).rpartition("print")[0] + fixed, domain="fenicsx", options=layout)
    pool.configure(VERIFY)
    session = pool.run(workers=workers)
    assert session.verdicts == {
        "layout": "rejected check basix-layout",
        "silent": "rejected check solver-convergence",
        "sound": "provisional verify",
    }
    assert "check        3 in     1 passed  2 rejected (1 basix-layout, 1 solver-convergence)" in session.summary


def test_what_is_configured_counts(pool: Pool) -> None:
    head, _, _ = script(WRONG["listed"]).rpartition("\nprint")
    pool.add("layout", head + "\nprint('ANSWER: 0.060723')\n", domain="fenicsx")
    pool.configure(VERIFY, "checks: {basix-layout: flag, solver-convergence: off}\n")
    session = pool.run()
    assert session.verdicts == {"layout": "provisional verify"}
    assert [row["name"] for row in pool.rows("SELECT name FROM checks")] == ["basix-layout"]
    assert "warning: basix-layout: values are handed to the interpolation matrix" in session.line_about("layout")


def test_checks_of_warm_scripts_find_the_same(pool: Pool) -> None:
    fixed = "\nprint('ANSWER: 0.060723')\n"
    head, _, _ = script(WRONG["listed"]).rpartition("\nprint")
    pool.add("layout", head + fixed, domain="fenicsx")
    pool.add("silent", linear(_FEW).rpartition("print")[0] + fixed, domain="fenicsx")
    pool.configure(VERIFY.replace("repeats: 1", "repeats: 1, warm: true"))
    assert pool.run().verdicts == {
        "layout": "rejected check basix-layout",
        "silent": "rejected check solver-convergence",
    }
