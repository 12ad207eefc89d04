"""What solvers come to together: every split of solved, failed and unknown, decided as early as it can be."""

from itertools import product

import pytest

from pytest_toolgate.config import Accept, Settings, SolveSettings
from pytest_toolgate.gates.agreement import NOT_NEEDED, Votes, is_decided, together, votes, with_control
from pytest_toolgate.gates.result import GateResult, error, passed

PASSED = passed(made=1)
WRONG = GateResult("review", "wrong", "the agent answered D", made=1)
LATE = GateResult("review", "timeout", "the agent was not done within 5 s", made=1)
DOWN = error("provider", "the agent's model failed:\nHTTP 500", made=1)
REJECTED = GateResult("rejected", "tool-not-needed", "solved without", made=2)
KINDS = {"passed": PASSED, "review": WRONG, "error": DOWN, "": None}


def named(*results: GateResult | None) -> dict[str, GateResult | None]:
    return {f"s{number}": result for number, result in enumerate(results)}


@pytest.mark.parametrize("needed", [1, 2, 3])
@pytest.mark.parametrize(
    "kinds", list(product(KINDS, repeat=3)), ids=lambda kinds: "-".join(k or "none" for k in kinds)
)
def test_it_is_decided_when_and_only_when_the_unknown_could_not_turn_it(kinds: tuple[str, ...], needed: int) -> None:
    found = votes(named(*(KINDS[kind] for kind in kinds)), needed)
    unknown = [index for index, kind in enumerate(kinds) if kind in ("error", "")]
    ends = set()
    for guess in product((False, True), repeat=len(unknown)):
        known = dict(zip(unknown, guess, strict=True))
        solved = sum(known.get(index, kind == "passed") for index, kind in enumerate(kinds))
        ends.add("passed" if solved >= needed else "review")
    assert found.decided == (ends.pop() if len(ends) == 1 else None)


@pytest.mark.parametrize(("accept", "needed"), [("any", 1), ("all", 3), (2, 2)])
def test_how_many_are_needed(accept: Accept, needed: int) -> None:
    solvers = tuple(SolveSettings(name=name) for name in "abc")
    assert Settings(solve=solvers, accept=accept).needed_solvers == needed


def test_one_solver_is_what_it_is() -> None:
    for result in (PASSED, WRONG, DOWN, REJECTED):
        assert together(named(result), 1) is result


def test_enough_that_solved_it_pass_it_whatever_failed() -> None:
    result = together(named(DOWN, WRONG, PASSED, None), 1)
    assert (result.verdict, result.reason, result.made) == ("passed", "", 3)


def test_a_review_names_every_solver_in_one_line() -> None:
    result = together(named(PASSED, LATE, WRONG, None), 4)
    assert (result.verdict, result.reason) == ("review", "timeout")
    assert result.sentence == (
        "1 of 4 solvers solved it, 1 unknown, 4 needed: `s0` solved it; `s1` timeout: the agent was not done within "
        "5 s; `s2` wrong: the agent answered D; `s3` was not asked"
    )


def test_what_machinery_leaves_open_is_an_error_and_the_first_one_is_named() -> None:
    result = together(named(WRONG, DOWN, error("sandbox", "no bubblewrap")), 1)
    assert (result.verdict, result.reason) == ("error", "provider")
    assert "\n" not in result.sentence
    assert "`s1` provider: the agent's model failed: HTTP 500; `s2` sandbox: no bubblewrap" in result.sentence


def test_a_rejection_stands_whatever_the_others_did() -> None:
    for others in ((PASSED,), (DOWN,), (None,)):
        assert is_decided(named(REJECTED, *others), 1)
        result = together(named(*others, REJECTED), 1)
        assert (result.verdict, result.reason, result.sentence) == ("rejected", "tool-not-needed", "solved without")


def test_each_warning_says_whose_it_is() -> None:
    result = together(named(passed("no work"), passed("nor here")), 2)
    assert result.warnings == ("`s0`: no work", "`s1`: nor here")


def test_counts_are_told() -> None:
    assert str(Votes(1, 0, 2, 2)) == "1 of 2 solvers solved it, 2 needed"


# --- with a control run --------------------------------------------------------------------------------------

SOLVER = SolveSettings(control=True)
STRICT = SolveSettings(control=True, reject_if_control_solves=True)
SOLVED = passed("a warning", made=1)


def test_not_solved_without_the_software_is_a_plain_solve() -> None:
    for solver in (SOLVER, STRICT):
        result = with_control(solver, ["scipy"], SOLVED, WRONG)
        assert result == passed("a warning", made=2)


def test_solved_without_the_software_is_a_warning_or_a_rejection() -> None:
    result = with_control(SOLVER, ["scipy"], SOLVED, passed(reused=1))
    assert result == passed("a warning", NOT_NEEDED, made=1, reused=1)
    result = with_control(STRICT, ["dolfinx", "ufl"], SOLVED, PASSED)
    assert (result.verdict, result.reason) == ("rejected", "tool-not-needed")
    assert result.sentence == "the agent `builtin` solved it also where `dolfinx`, `ufl` could not be imported"


def test_a_control_run_that_failed_is_no_verdict_either_way() -> None:
    result = with_control(SOLVER, ["scipy"], SOLVED, DOWN)
    assert result.verdict == "passed"
    assert result.warnings[1].startswith("whether the software was needed is not known: the agent's model failed")
    result = with_control(STRICT, ["scipy"], SOLVED, DOWN)
    assert (result.verdict, result.reason, result.made) == ("error", "provider", 2)
