"""What is seen of a script, and what it comes to: the pure parts of the checks of FEniCSx."""

import ast
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.checks import CheckRun
from pytest_toolgate.checks.basix_layout import orders_of
from pytest_toolgate.checks.fenicsx_observer import WATCHED, well_formed
from pytest_toolgate.checks.numerical_choices import CHOICES
from pytest_toolgate.checks.numerical_choices import judge as judge_choices
from pytest_toolgate.checks.solver_convergence import judge as judge_solvers

# --- basix-layout -----------------------------------------------------------------------------------------------


def product(whole: float, without_right: float, without_wrong: float) -> Mapping[str, Any]:
    return {"kind": "product", "figures": [whole, without_right, without_wrong], "scale": 1.0}


@pytest.mark.parametrize(
    ("before", "after", "orders"),
    [
        ((1, 2, 3), (1, 2, 3), []),
        ((1, 2, 3), (1.5, 2, 3.5), ["components"]),
        ((1, 2, 3), (1.5, 2.5, 3), ["points"]),
        ((1, 2, 3), (1.5, 2.5, 3.5), ["unclear"]),
        ((1, 2, 3), (1.5, 2, 3), ["unclear"]),
        ((1, 2, 3), (1 + 1e-12, 2, 3), []),
    ],
)
def test_what_stays_when_a_point_moves_tells_the_order(before: Any, after: Any, orders: list[str]) -> None:  # noqa: ANN401
    assert list(orders_of([product(*before)], [product(*after)])) == orders


def test_a_script_that_ended_early_is_followed_as_far_as_it_came() -> None:
    before = [product(1, 2, 3), product(1, 2, 3)]
    assert list(orders_of(before, [product(2, 2, 4)])) == ["components"]


# --- solver-convergence -----------------------------------------------------------------------------------------


def failed(reason: str = "DIVERGED_BREAKDOWN (-5)", number: int = 0) -> dict[str, Any]:
    return {"kind": "solver", "solver": "KSP", "reason": reason, "iterations": 7, "number": number}


ASKED = {"kind": "asked", "number": 0}
_COUNTED = "DIVERGED_MAX_IT (-3)"


@pytest.mark.parametrize(
    ("reports", "question", "verdict"),
    [
        ([], "", "passed"),
        ([failed()], "", "rejected"),
        ([failed(), ASKED], "", "flagged"),
        ([failed(), ASKED, failed(number=1)], "", "rejected"),
        ([failed(_COUNTED)], "Solve it.", "rejected"),
        ([failed(_COUNTED)], "Do three iterations of CG.", "flagged"),
        ([failed()], "Do three iterations of CG.", "rejected"),
    ],
)
def test_a_solver_that_did_not_converge(reports: Sequence[Mapping[str, Any]], question: str, verdict: str) -> None:
    result = judge_solvers(reports, question)
    assert result.verdict == verdict
    assert bool(result.evidence) == (verdict != "passed")


def test_many_failed_solves_are_counted_and_few_are_shown() -> None:
    result = judge_solvers([failed(number=number) for number in range(30)], "")
    assert "(30 solves)" in result.sentence
    assert result.evidence.endswith("and 20 more")
    assert len(result.evidence.splitlines()) == 11


# --- numerical-choices ------------------------------------------------------------------------------------------


def run(answer: str | None, matched: str | None) -> CheckRun:
    return CheckRun("exited", 0, answer, matched, "", "", (), 1.0)


@pytest.mark.parametrize(
    ("answer", "matched", "verdict"),
    [("0.5", "B", "passed"), ("0.6", "C", "flagged"), ("0.55", None, "flagged"), (None, None, "passed")],
)
def test_an_answer_that_becomes_another_is_flagged(answer: str | None, matched: str | None, verdict: str) -> None:
    result = judge_choices("0.5", [(CHOICES[0], run(answer, matched))], "B")
    assert result.verdict == verdict
    assert result.evidence == f"as it stands: 0.5\nwith all quadrature degrees 2 higher: {answer or 'no answer'}"
    if verdict == "flagged":
        assert f"the quadrature degree (0.5 as it stands, {answer} with all" in result.sentence


@pytest.mark.parametrize(
    ("question", "stated"),
    [
        ("Find u_h in P1.", set()),
        ("Elements of degree 2.", set()),
        ("Use quadrature degree 5.", {"quadrature degree"}),
        ("Use three Gauss points.", {"quadrature degree"}),
        ("cells split along the right diagonal", {"diagonal of the mesh"}),
        ("the pattern 'left_right'", {"diagonal of the mesh"}),
        ("from left to right", set()),
        ("in Basix's numbering", {"numbering of the mesh"}),
        ("a number of cells", set()),
    ],
)
def test_what_a_question_states(question: str, stated: set[str]) -> None:
    assert {choice.name for choice in CHOICES if choice.stated.search(question)} == stated


# --- reports ----------------------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=400) | st.sampled_from([10**400, 0, 1]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
_FIELDS = ("points", "size", "figures", "scale", "solver", "reason", "iterations", "number", "explicit", "degree")
_REPORT = st.fixed_dictionaries(
    {"kind": st.sampled_from(["matrix", "product", "solver", "asked", "integral", "mesh", "blind"]) | _JSON},
    optional=dict.fromkeys((*_FIELDS, "which", "how", "module", "why"), _JSON | st.lists(st.floats(), max_size=3)),
)


@given(st.lists(_REPORT))
def test_no_report_of_a_script_breaks_what_reads_it(reports: list[dict[str, Any]]) -> None:
    read = list(well_formed(reports))
    solvers = [report for report in read if report["kind"] in ("solver", "asked")]
    products = [report for report in read if report["kind"] == "product"]
    assert len(judge_solvers(solvers, "").sentence) < 800
    assert len(list(orders_of(products, products[::-1]))) <= len(products)


def test_true_reports_are_read_as_they_are_and_forged_ones_are_bounded() -> None:
    true = [failed(), ASKED, product(1, 2, 3), {"kind": "mesh", "how": "create_box"}]
    assert list(well_formed([*true, {"x": 1}, {"kind": "solver"}, {"kind": ["mesh"], "how": "x"}])) == true
    assert [
        len(report["how"]) for report in well_formed([{"kind": "mesh", "how": "x" * 9999, "more": "y"}] * 9999)
    ] == ([300] * 3000)


def test_the_modules_that_are_watched_are_known() -> None:
    inside = (files("pytest_toolgate.checks") / "inside" / "fenicsx.py").read_text("utf-8")
    [pending] = [
        node.value
        for node in ast.parse(inside).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_pending"
    ]
    assert isinstance(pending, ast.Dict)
    assert {key.value for key in pending.keys if isinstance(key, ast.Constant)} == WATCHED


# --- inside -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fenicsx.py", "layout.py", "start.py"])
def test_what_runs_inside_is_readable_for_old_pythons(name: str) -> None:
    ast.parse((files("pytest_toolgate.checks") / "inside" / name).read_text("utf-8"), feature_version=(3, 8))
