"""FEniCSx: the finite element library DOLFINx with Basix, UFL and FFCx."""

from .protocol import Domain

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
    notes=(
        "DOLFINx 0.11 with real PETSc is installed. Write `import dolfinx_solver` before the first `import dolfinx`. "
        "`dolfinx.fem.functionspace(mesh, ('Lagrange', 1))` makes a space; "
        "`dolfinx.fem.petsc.LinearProblem(a, L, bcs=[...], petsc_options={...}, petsc_options_prefix='p_').solve()` "
        "solves a linear problem; `dolfinx.fem.assemble_scalar(dolfinx.fem.form(expression * ufl.dx))` integrates."
    ),
)
