"""The instrumentation that the checks of FEniCSx share, so that they share its run as well."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from .protocol import CheckError, CheckRun, CheckTask, WatchError

WATCHED: Final = frozenset({
    "basix.finite_element", "dolfinx.fem.element", "dolfinx.mesh", "dolfinx.nls.petsc", "petsc4py.PETSc",
    "scipy.optimize", "scipy.sparse.linalg", "ufl.algorithms.compute_form_data",
})  # fmt: skip
"""The modules that `inside/fenicsx.py` watches."""
_MOST: Final = 3000  # reports of one kind, as there
_LONGEST: Final = 300  # characters of a text


def observe(task: CheckTask, **told: object) -> CheckRun:
    """The candidate's script under observation.

    Args:
        task: What the check was given.
        told: What is to be done otherwise than the script would have it; see `inside/fenicsx.py`.

    Returns:
        The run, with those of its reports that have the form of one. The script may have made up any of them.

    Raises:
        CheckError: It could not be observed.
        WatchError: It fails when it is observed, or says that it cannot be.
    """
    run = task.run_script(under=_source(), told=told)
    reports = tuple(well_formed(run.reports))
    if blind := sorted({report["module"] for report in reports if report["kind"] == "blind"}):
        # Whether that is so, a script that is nobody's shows.
        for report in well_formed(task.run_script(_importing(blind), under=_source()).reports):
            if report["kind"] == "blind":
                raise CheckError(f"`{report['module']}` of this version cannot be watched ({report['why']})")
        raise WatchError(f"the script cannot be watched: `{blind[0]}` is not what it is elsewhere", run)
    return dataclasses.replace(run, reports=reports)


def well_formed(reports: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The reports that have the form that `inside/fenicsx.py` gives them, their texts cut."""
    counts: Counter[str] = Counter()
    for report in reports:
        kind = report.get("kind")
        form = _FORMS.get(kind) if isinstance(kind, str) else None
        if form is None or not all(name in report and fits(report[name]) for name, fits in form.items()):
            continue
        counts[str(kind)] += 1
        if counts[str(kind)] <= _MOST:
            cut = {name: report[name][:_LONGEST] if isinstance(report[name], str) else report[name] for name in form}
            yield {"kind": kind, **cut}


def _text(value: object) -> bool:
    return isinstance(value, str)


def _whole(value: object) -> bool:
    return type(value) is int and abs(value) < 2**53


def _real(value: object) -> bool:
    return (type(value) is int or type(value) is float) and abs(value) <= 1e300


def _figures(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_real, value))


_FORMS: Final[Mapping[str, Mapping[str, Callable[[object], bool]]]] = {
    "matrix": {"points": _whole, "size": _whole},
    "product": {"figures": _figures, "scale": _real},
    "solver": {
        "solver": _text,
        "reason": _text,
        "iterations": lambda value: value is None or _whole(value),
        "number": _whole,
    },
    "asked": {"number": _whole},
    "integral": {
        "explicit": lambda value: isinstance(value, bool),
        "degree": lambda value: _whole(value) or _text(value),
    },
    "diagonal": {"which": _text},
    "mesh": {"how": _text},
    "blind": {"module": lambda value: isinstance(value, str) and value in WATCHED, "why": _text},
}


def _importing(modules: Iterable[str]) -> str:
    return "".join(f"try:\n    import {module}\nexcept ImportError:\n    pass\n" for module in modules)


@cache
def _source() -> str:
    inside = files(__package__) / "inside"
    layout, watching = ((inside / name).read_text("utf-8") for name in ("layout.py", "fenicsx.py"))
    future = "from __future__ import annotations\n"
    return f"{future}LAYOUT = {layout!r}\n" + watching.replace(future, "", 1)
