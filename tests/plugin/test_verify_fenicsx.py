"""Verify with the software that candidates are about for real."""

import importlib.util

import pytest

from .pool import Pool

pytestmark = pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")

SCRIPT = """
import dolfinx_solver
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI

square = mesh.create_unit_square(MPI.COMM_WORLD, 4, 4)
x = ufl.SpatialCoordinate(square)
value = fem.assemble_scalar(fem.form(x[0] ** 2 * ufl.dx(degree=2)))
print(f"ANSWER: {value:.4f}")
"""
OPTIONS = {"A": "0.2500", "B": "0.3333", "C": "0.3438", "D": "0.5000"}


def test_a_form_is_compiled_and_the_package_is_seen(pool: Pool) -> None:
    pool.configure("domain: fenicsx")
    pool.add("integral", SCRIPT, domain=None, options=OPTIONS)
    pool.add("by-hand", 'print("ANSWER: 0.3333")', domain=None, options=OPTIONS)
    assert pool.run().verdicts == {"integral": "provisional verify", "by-hand": "rejected verify tool-unused"}
    used = pool.rows("SELECT DISTINCT used FROM script_runs WHERE answer = '0.3333' AND used LIKE '%ufl%'")
    assert used == [{"used": '["basix", "dolfinx", "ffcx", "ufl"]'}]
