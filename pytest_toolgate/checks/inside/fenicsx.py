"""Watches a FEniCSx script at work: what it multiplies, whether its solvers converge, what it leaves to a default.

One run serves several checks. `TOLD` says what is done otherwise than the script would have it, to see whether that
matters: `move` moves one interpolation point, `degree` is added to all quadrature degrees, `diagonal` cuts rectangles
the other way, `numbering` numbers vertices and cells of ready-made meshes anew.
"""

from __future__ import annotations

import builtins
import functools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    TOLD: dict[str, Any]
    report: Callable[..., None]
    LAYOUT: str  # the source of `layout.py`

_MOST = 3000  # reports of one kind
_counts: dict[str, int] = {}


def _tell(kind: str, **values: Any) -> None:
    _counts[kind] = _counts.get(kind, 0) + 1
    if _counts[kind] <= _MOST:
        report(kind=kind, **values)


def _by_script(depth: int) -> bool:
    """Whether the code that many frames up is the script's own: modules of the software use the same things."""
    return sys._getframe(depth + 1).f_globals.get("__name__") == "__main__"


# --- matrices of interpolation ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _layout() -> Any:
    from types import ModuleType

    layout: Any = ModuleType("toolgate_layout")
    layout.tell = _tell
    exec(compile(LAYOUT, "<layout>", "exec", dont_inherit=True), layout.__dict__)
    return layout


def _watch_basix(module: Any) -> None:
    layout = _layout()

    def points(old: Any, element: Any) -> Any:
        found = old.__get__(element)
        return layout.moved(found, element.value_size) if TOLD.get("move") and _by_script(2) else found

    def matrix(old: Any, element: Any) -> Any:
        found = old.__get__(element)
        count, size = len(element.points), element.value_size
        if count < 2 or size < 2 or not _by_script(2) or found.shape[1] != count * size:
            return found
        _tell("matrix", points=count, size=size)
        return layout.matrix_of(found, count, size)

    raw = sys.modules["basix._basixcpp"]
    classes = [module.FiniteElement, *(getattr(raw, f"FiniteElement_float{bits}", None) for bits in (64, 32))]
    for cls in filter(None, classes):
        for name, get in (("points", points), ("interpolation_matrix", matrix)):
            setattr(cls, name, _property(get, cls.__dict__[name]))


def _watch_space_elements(module: Any) -> None:
    """The same points, as the elements of DOLFINx's function spaces name them."""

    def points(old: Any, element: Any) -> Any:
        found = old.__get__(element)
        if not (TOLD.get("move") and _by_script(2)):
            return found
        try:
            size = element.basix_element.value_size
        except Exception:  # noqa: BLE001 - one that is made of several has none of its own
            return found
        return _layout().moved(found, size)

    cls = module.FiniteElement
    cls.interpolation_points = _property(points, cls.__dict__["interpolation_points"])


def _property(get: Callable[[Any, Any], Any], old: Any) -> property:
    return property(lambda element: get(old, element))


# --- solvers ---------------------------------------------------------------------------------------------------


def _watch_petsc(module: Any) -> None:
    for name in ("KSP", "SNES", "TAO"):
        setattr(module, name, _watched_solver(name, getattr(module, name)))


def _watched_solver(name: str, base: Any) -> Any:
    class Solver(base):  # type: ignore[misc]
        _failed: int | None = None

        def solve(self, *args: Any, **kwargs: Any) -> Any:
            result = base.solve(self, *args, **kwargs)
            reason = base.getConvergedReason(self)
            self._failed = None
            if reason <= 0:
                self._failed = _counts.get("solver", 0)
                its = base.getIterationNumber(self)
                _tell("solver", solver=name, reason=_named(base, reason), iterations=its, number=self._failed)
            return result

        def _asked(self) -> Any:
            if self._failed is not None and _by_script(2):
                _tell("asked", number=self._failed)
            return base.getConvergedReason(self)

        def getConvergedReason(self) -> Any:  # noqa: N802 - PETSc's name
            return self._asked()

        reason = property(lambda self: self._asked())
        is_converged = property(lambda self: self._asked() > 0)
        converged = property(lambda self: self._asked() > 0)
        is_diverged = property(lambda self: self._asked() < 0)
        diverged = property(lambda self: self._asked() < 0)

    Solver.__name__ = Solver.__qualname__ = name
    return Solver


def _named(base: Any, reason: int) -> str:
    reasons = {value: name for name, value in vars(base.ConvergedReason).items() if isinstance(value, int)}
    return f"{reasons.get(reason, 'not converged')} ({reason})"


def _watch_newton(module: Any) -> None:
    if not hasattr(module, "NewtonSolver"):
        return
    old = module.NewtonSolver.solve

    @functools.wraps(old)
    def solve(self: Any, *args: Any, **kwargs: Any) -> Any:
        iterations, converged = result = old(self, *args, **kwargs)
        if not converged:
            number = _counts.get("solver", 0)
            _tell("solver", solver="NewtonSolver", reason="not converged", iterations=iterations, number=number)
            _tell("asked", number=number)  # it had the result in its hands
        return result

    module.NewtonSolver.solve = solve


def _watch_scipy(names: tuple[str, ...], failed: Callable[[Any], str]) -> Callable[[Any], None]:
    def watch(module: Any) -> None:
        for name in names:
            if hasattr(module, name):
                setattr(module, name, _watched_function(name, getattr(module, name), failed))

    return watch


def _watched_function(name: str, old: Any, failed: Callable[[Any], str]) -> Any:
    @functools.wraps(old)
    def function(*args: Any, **kwargs: Any) -> Any:
        result = old(*args, **kwargs)
        reason = failed(result)
        if reason and _by_script(1):
            number = _counts.get("solver", 0)
            _tell("solver", solver=name, reason=reason, iterations=None, number=number)
            _tell("asked", number=number)
        return result

    return function


def _info(result: Any) -> str:
    return f"info {result[1]}" if isinstance(result, tuple) and result[1] != 0 else ""


def _success(result: Any) -> str:
    return "" if getattr(result, "success", True) else f"success False: {getattr(result, 'message', '')}"


# --- what is left to a default ---------------------------------------------------------------------------------


def _watch_degrees(module: Any) -> None:
    old = module.attach_estimated_degrees

    @functools.wraps(old)
    def attach(form: Any) -> Any:
        form = old(form)
        more = TOLD.get("degree", 0)
        integrals = []
        for integral in form.integrals():
            metadata = dict(integral.metadata())
            explicit = metadata.get("quadrature_degree", -1)
            if metadata.get("quadrature_rule") == "custom" or not isinstance(explicit, int):
                integrals.append(integral)
                continue
            estimated = metadata["estimated_polynomial_degree"]
            degree = explicit if explicit >= 0 else estimated
            _tell("integral", explicit=explicit >= 0, degree=int(degree) if isinstance(degree, int) else str(degree))
            if explicit >= 0:
                metadata["quadrature_degree"] = explicit + more
            elif isinstance(estimated, int):
                metadata["estimated_polynomial_degree"] = estimated + more
            integrals.append(integral.reconstruct(metadata=metadata))
        return type(form)(integrals)

    module.attach_estimated_degrees = attach


def _watch_meshes(module: Any) -> None:
    import inspect

    for name in ("create_interval", "create_rectangle", "create_box"):
        setattr(module, name, _watched_mesh(module, name, getattr(module, name), inspect.signature))


def _watched_mesh(module: Any, name: str, old: Any, signature: Callable[[Any], Any]) -> Any:
    takes = signature(old)

    @functools.wraps(old)
    def create(*args: Any, **kwargs: Any) -> Any:
        bound = takes.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        if "diagonal" in arguments and arguments["cell_type"] == module.CellType.triangle:
            kind = module.DiagonalType
            _tell("diagonal", which=arguments["diagonal"].name)
            if TOLD.get("diagonal"):
                arguments["diagonal"] = kind.left if arguments["diagonal"] == kind.right else kind.right
        made = old(*bound.args, **bound.kwargs)
        _tell("mesh", how=name)
        return _renumbered(module, made) if TOLD.get("numbering") and made.comm.size == 1 else made

    return create


def _renumbered(module: Any, made: Any) -> Any:
    import numpy

    geometry = made.geometry
    cells, vertices = numpy.array(geometry.dofmap), numpy.array(geometry.x)[:, : geometry.dim]
    chance = numpy.random.default_rng(20240229)
    order, place = chance.permutation(len(cells)), chance.permutation(len(vertices))
    moved = numpy.empty_like(vertices)
    moved[place] = vertices
    new = place[cells[order]].astype(numpy.int64)
    return module.create_mesh(made.comm, new, made.ufl_domain(), moved)


# --- as soon as the script has imported it -----------------------------------------------------------------------

_ITERATIVE = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")
_OPTIMIZERS = ("least_squares", "linprog", "milp", "minimize", "minimize_scalar", "root")
_pending: dict[str, Callable[[Any], None]] = {
    "basix.finite_element": _watch_basix,
    "dolfinx.fem.element": _watch_space_elements,
    "petsc4py.PETSc": _watch_petsc,
    "dolfinx.nls.petsc": _watch_newton,
    "dolfinx.mesh": _watch_meshes,
    "ufl.algorithms.compute_form_data": _watch_degrees,
    "scipy.sparse.linalg": _watch_scipy(_ITERATIVE, _info),
    "scipy.optimize": _watch_scipy(_OPTIMIZERS, _success),
}
_old_import = builtins.__import__


_depth = [0]


def _watch(name: str) -> None:
    watch = _pending.pop(name, None)
    if watch is None:
        return  # an import on the way was quicker
    try:
        watch(sys.modules[name])
    except Exception as problem:  # noqa: BLE001 - another version of it, of which the script must not know
        _tell("blind", module=name, why=f"{type(problem).__name__}: {problem}")


def _import(*args: Any, **kwargs: Any) -> Any:
    _depth[0] += 1
    try:
        module = _old_import(*args, **kwargs)
    finally:
        _depth[0] -= 1
    # Not before the outermost import is done: a module that has begun to load is there, and is not ready.
    if not _depth[0]:
        for name in [name for name in _pending if name in sys.modules]:
            _watch(name)
    return module


builtins.__import__ = _import
