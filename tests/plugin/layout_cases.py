"""Scripts that interpolate by a Basix interpolation matrix, in the right order and point by point."""

from collections.abc import Mapping

_HEAD = """
import basix
import basix.ufl
import numpy as np

element = basix.create_element(basix.ElementFamily.{family}, basix.CellType.{cell}, {degree})
points, matrix, size = element.points, element.interpolation_matrix, element.value_size
def at(p):
    x, y = p[0], p[1]
    return [np.sin(x + 2 * y), x * y - y**3, x - y**2, x**2, y][:size]
values = np.stack(at(points.T), axis=1)  # (num_points, value_size)
"""
_TAIL = """
print(f"ANSWER: {float(np.sum(np.asarray(c) ** 2)):.6f}")
"""

RIGHT: Mapping[str, str] = {
    "transposed-flatten": "c = matrix @ values.T.flatten()",
    "transposed-reshape": "c = matrix @ values.T.reshape(-1)",
    "fortran-ravel": "c = matrix.dot(values.ravel(order='F'))",
    "components-first": "c = np.dot(matrix, np.array(at(points.T)).reshape(-1))",
    "concatenated": "c = np.asarray(matrix) @ np.concatenate([values[:, k] for k in range(size)])",
    "listed": "c = matrix @ np.array([at(p)[k] for k in range(size) for p in points])",
    "looped": """
c = np.zeros(element.dim)
for i in range(element.dim):
    for k in range(size):
        for q, p in enumerate(points):
            c[i] += matrix[i, k * len(points) + q] * at(p)[k]
""",
    "einsum": "c = np.einsum('ikq,qk->i', matrix.reshape(element.dim, size, len(points)), values)",
    "elementwise": "c = (matrix * values.T.flatten()).sum(axis=1)",
    "rows": "c = [row @ values.T.flatten() for row in matrix]",
    "from-the-right": "c = values.T.flatten() @ matrix.T",
    "rearranged-matrix": """
m = matrix.reshape(element.dim, size, len(points)).transpose(0, 2, 1).reshape(element.dim, -1)
c = m @ values.flatten()
""",
    "raw-element": "c = element._e.interpolation_matrix @ np.array(at(element._e.points.T)).flatten()",
    "by-blocks": """
n = len(points)
c = sum(matrix[:, k * n : (k + 1) * n] @ values[:, k] for k in range(size))
""",
}
WRONG: Mapping[str, str] = {
    "flatten": "c = matrix @ values.flatten()",
    "reshape": "c = matrix @ values.reshape(-1)",
    "ravel": "c = matrix.dot(values.ravel())",
    "function": "c = np.dot(matrix, values.reshape(len(points) * size))",
    "apply": "c = np.matmul(matrix, np.apply_along_axis(lambda p: np.array(at(p)), 1, points).flatten())",
    "listed": "c = matrix @ np.array([at(p) for p in points]).reshape(-1)",
    "flat-list": "c = np.array(matrix) @ np.array([v for p in points for v in at(p)])",
    "looped": """
c = np.zeros(element.dim)
for i in range(element.dim):
    for q, p in enumerate(points):
        for k in range(size):
            c[i] += at(p)[k] * matrix[i, q * size + k]
""",
    "einsum": "c = np.einsum('iqk,qk->i', matrix.reshape(element.dim, len(points), size), values)",
    "elementwise": "c = (matrix * values.flatten()).sum(axis=1)",
    "rows": "c = [float(row @ values.flatten()) for row in matrix]",
    "from-the-right": "c = values.flatten() @ matrix.T",
    "fortran-of-transposed": "c = matrix @ values.T.ravel(order='F')",
    "concatenated": "c = matrix @ np.concatenate([at(p) for p in points])",
    "of-function-space": """
import dolfinx
from mpi4py import MPI
mesh = dolfinx.mesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
V = dolfinx.fem.functionspace(mesh, basix.ufl.element("RT", "triangle", 1))
element = V.element.basix_element
c = element.interpolation_matrix @ np.array([at(p)[:2] for p in element.points]).ravel()
""",
    "points-of-the-space": """
import dolfinx
from mpi4py import MPI
mesh = dolfinx.mesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
V = dolfinx.fem.functionspace(mesh, ("RT", 2))
c = V.element.basix_element.interpolation_matrix @ np.array([at(p)[:2] for p in V.element.interpolation_points]).ravel()
""",
}
# Nobody can say: there is one point, or one component, or the values are none of the element's points.
OPEN: Mapping[str, str] = {
    "points-of-another": "c = matrix @ np.ones(matrix.shape[1])",
    "scalar": """
element = basix.create_element(basix.ElementFamily.P, basix.CellType.triangle, 2)
c = element.interpolation_matrix @ np.array([np.sin(p[0]) for p in element.points])
""",
}


def script(body: str, family: str = "RT", cell: str = "triangle", degree: int = 2) -> str:
    """The whole script."""
    first = "import dolfinx_solver\n" if "dolfinx" in body else ""
    return first + _HEAD.format(family=family, cell=cell, degree=degree) + body + _TAIL
