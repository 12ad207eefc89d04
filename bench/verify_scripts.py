"""Forty FEniCSx scripts, each with forms of its own, as large as the worked example of the method (item-0023).

Eight equations on five meshes and degrees each. Every number in a form is drawn for its script alone, so no script
finds another one's compiled forms. The same scripts come out each time.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COUNT = 40
PRINTED = 6
"""Decimals of an answer."""

_HEAD = """\
import dolfinx_solver  # noqa: F401 - wheel builds only: it loads MPI first
import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI

{mesh}
x = ufl.SpatialCoordinate(domain)
X, Y = x[0], x[1]
dx = ufl.Measure("dx", domain=domain, metadata={{"quadrature_degree": {quadrature}}})
ds = ufl.Measure("ds", domain=domain, metadata={{"quadrature_degree": {quadrature}}})


def on_left(p):
    return np.isclose(p[0], 0)


def solve(a, L, bcs=()):
    return LinearProblem(
        a, L, bcs=list(bcs), petsc_options={{"ksp_type": "preonly", "pc_type": "lu"}}, petsc_options_prefix="item_"
    ).solve()


"""
_TAIL = """
print(f"ANSWER: {{fem.assemble_scalar(fem.form(J)):.{printed}f}}")
"""
_SCALAR = """\
V = fem.functionspace(domain, ("{element}", {degree}))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
"""
_FIXED = """\
u_D = fem.Function(V)
u_D.interpolate(lambda p: {0} + {1} * p[0] - {2} * p[1])
bc = fem.dirichletbc(u_D, fem.locate_dofs_geometrical(V, on_left))
"""
_TRIANGLES = "domain = mesh.create_unit_square(MPI.COMM_WORLD, {nx}, {ny}, mesh.CellType.triangle)"
_QUADRILATERALS = "domain = mesh.create_unit_square(MPI.COMM_WORLD, {nx}, {ny}, mesh.CellType.quadrilateral)"
_TETRAHEDRA = "domain = mesh.create_unit_cube(MPI.COMM_WORLD, 4, 5, 4)"


@dataclass(frozen=True, slots=True)
class Script:
    """A script and what it computes, in words.

    Attributes:
        name: Of its files.
        question: What a candidate asks for.
        text: The script; it prints one `ANSWER:` line.
    """

    name: str
    question: str
    text: str

    def candidate(self, value: str) -> dict[str, object]:
        """A candidate whose answer is the value; the wrong options are far from it."""
        wrong = [f"{float(value) * factor:.{PRINTED}f}" for factor in (0.8, 1.25, 1.5)]
        place = sum(map(ord, self.name)) % 4
        options = dict(zip("ABCD", [*wrong[:place], value, *wrong[place:]], strict=True))
        return {
            "domain": "fenicsx",
            "question": self.question,
            "options": options,
            "answer": "ABCD"[place],
            "solution": self.text,
        }


def scripts(count: int = COUNT) -> list[Script]:
    """The first scripts of the forty."""
    return [_script(number) for number in range(count)]


def _script(number: int) -> Script:
    equation, variant = number % len(_EQUATIONS), number // len(_EQUATIONS)
    draw = _numbers(number)
    cells, degree = ((_TRIANGLES, 1), (_QUADRILATERALS, 1), (_TRIANGLES, 2), (_QUADRILATERALS, 2), (_TRIANGLES, 1))[
        variant
    ]
    title, body = _EQUATIONS[equation](draw, degree)
    if "three dimensions" in title:
        cells, degree = _TETRAHEDRA, 1
    lines = cells.format(nx=12 + 2 * variant, ny=17 - variant)
    head = _HEAD.format(mesh=lines, quadrature=4 + variant % 2)
    question = (
        f"Use DOLFINx. Problem {number}: {title}, with the coefficients and the mesh as stated in\n{lines}\n{body}"
    )
    return Script(f"item-{number:02}", question, head + body + _TAIL.format(printed=PRINTED))


def _numbers(seed: int) -> Iterator[float]:
    generator = random.Random(seed)
    while True:
        yield round(generator.uniform(0.1, 0.9), 3)


def _polynomial(draw: Iterator[float]) -> str:
    a, b, c, d, e = (next(draw) for _ in range(5))
    return f"{1 + a:.3f} + {b} * X - {c / 2:.4f} * Y + {d} * X * Y + {e} * X**2"


def _fixed(draw: Iterator[float]) -> str:
    return _FIXED.format(next(draw), next(draw), next(draw))


def _scalar(degree: int, element: str = "Lagrange") -> str:
    return _SCALAR.format(element=element, degree=degree)


def _diffusion(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree) + _fixed(draw)
    body += f"a = ({_polynomial(draw)}) * ufl.inner(ufl.grad(u), ufl.grad(v)) * dx\n"
    body += f"L = ({_polynomial(draw)}) * v * dx + ({_polynomial(draw)}) * v * ds\n"
    body += "u_h = solve(a, L, [bc])\n"
    body += f"J = (({_polynomial(draw)}) * u_h**2 + {next(draw)} * ufl.inner(ufl.grad(u_h), ufl.grad(u_h))) * dx"
    return "the energy of a diffusion problem with mixed conditions", body


def _transport(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree) + _fixed(draw)
    body += f"beta = ufl.as_vector([{_polynomial(draw)}, {next(draw)} - {next(draw)} * X])\n"
    body += f"a = ({next(draw)} * ufl.inner(ufl.grad(u), ufl.grad(v)) + ufl.dot(beta, ufl.grad(u)) * v) * dx\n"
    body += f"a += ({_polynomial(draw)}) * u * v * dx\n"
    body += f"L = ufl.sin({next(draw)} * X) * ({_polynomial(draw)}) * v * dx\n"
    body += "u_h = solve(a, L, [bc])\n"
    body += f"J = ({_polynomial(draw)}) * u_h**2 * dx + {next(draw)} * u_h**2 * ds"
    return "a functional of advection, diffusion and reaction", body


def _elasticity(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = f'V = fem.functionspace(domain, ("Lagrange", {degree}, (2,)))\n'
    body += "u, v = ufl.TrialFunction(V), ufl.TestFunction(V)\n"
    body += "bc = fem.dirichletbc(np.zeros(2), fem.locate_dofs_geometrical(V, on_left), V)\n"
    body += f"mu, lam = {_polynomial(draw)}, {_polynomial(draw)}\n"
    body += (
        "a = (2 * mu * ufl.inner(ufl.sym(ufl.grad(u)), ufl.sym(ufl.grad(v))) + lam * ufl.div(u) * ufl.div(v)) * dx\n"
    )
    body += f"L = ufl.dot(ufl.as_vector([{_polynomial(draw)}, {next(draw)} * Y]), v) * dx\n"
    body += "u_h = solve(a, L, [bc])\n"
    body += f"J = (({_polynomial(draw)}) * ufl.dot(u_h, u_h) + {next(draw)} * ufl.div(u_h) ** 2) * dx"
    return "a functional of the displacements of an elastic plate", body


def _upwind(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree, "Discontinuous Lagrange") + "n = ufl.FacetNormal(domain)\n"
    body += f"beta = ufl.as_vector([{_polynomial(draw)}, {next(draw)} - {next(draw)} * X])\n"
    body += "leaving = ufl.max_value(ufl.dot(beta, n), 0)\n"
    body += "entering = ufl.min_value(ufl.dot(beta, n), 0)\n"
    body += f"a = ({1 + next(draw):.3f} * u * v - u * ufl.dot(beta, ufl.grad(v))) * dx + leaving * u * v * ds\n"
    body += (
        f'a += (leaving("+") * u("+") - leaving("-") * u("-")) * (v("+") - v("-")) * ufl.dS(degree={2 * degree + 2})\n'
    )
    body += f"L = ({_polynomial(draw)}) * v * dx - entering * ({_polynomial(draw)}) * v * ds\n"
    body += "u_h = solve(a, L)\n"
    body += f"J = ({_polynomial(draw)}) * u_h**2 * dx + {next(draw)} * leaving * u_h**2 * ds"
    return "the outflow of an upwind scheme with discontinuous elements", body


def _heat(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree) + _fixed(draw)
    body += f"old, k = fem.Function(V), {next(draw) / 10:.4f}\n"
    body += f"old.interpolate(lambda p: {next(draw)} + np.sin({1 + next(draw):.3f} * p[0]) * p[1])\n"
    body += f"a = (u * v + k * ({_polynomial(draw)}) * ufl.inner(ufl.grad(u), ufl.grad(v))) * dx\n"
    body += f"L = (old + k * ({_polynomial(draw)})) * v * dx + k * ({_polynomial(draw)}) * v * ds\n"
    body += "for _ in range(3):\n    u_h = solve(a, L, [bc])\n    old.x.array[:] = u_h.x.array\n"
    body += f"J = ({_polynomial(draw)}) * u_h**2 * dx + {next(draw)} * u_h * ds"
    return "a functional of the temperature after three implicit steps", body


def _nonlinear(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree) + _fixed(draw) + "old = fem.Function(V)\n"
    body += f"a = ({_polynomial(draw)} + {next(draw)} * old**2) * ufl.inner(ufl.grad(u), ufl.grad(v)) * dx\n"
    body += f"L = ({_polynomial(draw)}) * v * dx + ({_polynomial(draw)}) * v * ds\n"
    body += "for _ in range(4):\n    u_h = solve(a, L, [bc])\n    old.x.array[:] = u_h.x.array\n"
    body += f"J = (({_polynomial(draw)}) * u_h**2 + {next(draw)} * u_h * old) * dx"
    return "a functional of the fourth fixed-point iterate of a nonlinear diffusion", body


def _impedance(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(degree)
    body += f"a = (ufl.inner(ufl.grad(u), ufl.grad(v)) - {next(draw)} * ({_polynomial(draw)}) * u * v) * dx\n"
    body += f"a += (3 + {_polynomial(draw)}) * u * v * ds\n"
    body += f"L = ufl.cos({1 + next(draw):.3f} * X * Y) * ({_polynomial(draw)}) * v * dx\n"
    body += "u_h = solve(a, L)\n"
    body += f"J = ({_polynomial(draw)}) * u_h**2 * dx + ({_polynomial(draw)}) * u_h**2 * ds"
    return "a functional of a Helmholtz problem with impedance conditions", body


def _box(draw: Iterator[float], degree: int) -> tuple[str, str]:
    body = _scalar(1) + _fixed(draw)
    body += f"a = ({_polynomial(draw)} + {next(draw)} * x[2]) * ufl.inner(ufl.grad(u), ufl.grad(v)) * dx\n"
    body += f"L = ({_polynomial(draw)} + x[2]) * v * dx + ({_polynomial(draw)}) * v * ds\n"
    body += "u_h = solve(a, L, [bc])\n"
    body += f"J = (({_polynomial(draw)}) * u_h**2 + {next(draw)} * ufl.inner(ufl.grad(u_h), ufl.grad(u_h))) * dx"
    return "the energy of a diffusion problem in three dimensions", body


_EQUATIONS: tuple[Callable[[Iterator[float], int], tuple[str, str]], ...] = (
    _diffusion,
    _transport,
    _elasticity,
    _upwind,
    _heat,
    _nonlinear,
    _impedance,
    _box,
)
