"""Are vector values handed to a Basix interpolation matrix as it wants them: component by component?

Basix multiplies with values flattened from shape (value_size, num_points). Values computed point by point have shape
(num_points, value_size), and flattening those as they are gives a vector of the right length in the wrong order: no
error, a plausible number, and not the interpolant that the question asks for.

How values were made cannot be seen from the numbers. So one interpolation point is moved, and the script is run again:
the values that change are those of that point, and the columns of the matrix that they meet give their order away,
whether they came by `reshape`, from a list or out of a loop.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from .fenicsx_observer import observe
from .protocol import CheckResult, CheckTask

Order = Literal["components", "points", "unclear"]
_SMALL = 1e-9
_RULE = "Basix wants values flattened from shape (value_size, num_points)"


def check(task: CheckTask) -> CheckResult | None:
    """Reject what multiplies an interpolation matrix with values in the wrong order."""
    matrices = [report for report in observe(task).reports if report["kind"] == "matrix"]
    if not matrices:
        return None
    before, after = (
        [report for report in run.reports if report["kind"] == "product"]
        for run in (observe(task), observe(task, move=True))
    )
    shapes = Counter(f"{report['points']} points, value size {report['size']}" for report in matrices)
    evidence = [f"interpolation matrix: {shape}" for shape in shapes]
    orders = Counter(orders_of(before, after))
    evidence.append(
        "products in which one moved point could be followed: "
        f"{orders['components']} component by component, {orders['points']} point by point, {orders['unclear']} unclear"
    )
    shown = "\n".join(evidence)
    if orders["points"] and not orders["components"]:
        sentence = "values are handed to the interpolation matrix point by point, and component by component is due"
        return CheckResult(
            "rejected", sentence, f"{_RULE}: `element.interpolation_matrix @ values.T.flatten()`\n{shown}"
        )
    if orders["points"]:
        sentence = "values are handed to the interpolation matrix in both orders, component by component is due"
        return CheckResult("flagged", sentence, f"{_RULE}\n{shown}")
    if orders["components"]:
        return CheckResult("passed", "", shown)
    return CheckResult("passed", "the order of the values could not be followed", shown)


def orders_of(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[Order]:
    """In which order the values of each product came that has changed with the point.

    Args:
        before: The products as the script makes them: `figures` are those of the product itself, of the product without
            the columns that meet the point's values component by component, and without those that do point by point.
        after: The same with the point moved.
    """
    for old, new in zip(before, after, strict=False):
        room = _SMALL * max(old["scale"], new["scale"])
        whole, without_right, without_wrong = (
            abs(one - other) > room for one, other in zip(old["figures"], new["figures"], strict=True)
        )
        if whole:
            yield "unclear" if without_right == without_wrong else "points" if without_right else "components"
