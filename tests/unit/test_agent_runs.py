"""What an agent run depends on: what was paid for before there were several solvers is found again."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate import __version__
from pytest_toolgate.candidate.presentation import draw
from pytest_toolgate.config import Accept, ProviderSettings, Settings, SolveSettings
from pytest_toolgate.gates.agent_runs import agent_run_key, exit_warning, presentation_of, runs_due, solves
from pytest_toolgate.store.reuse import reuse_key

from .items import candidate

ITEM = candidate()
LAB = ProviderSettings("lab", api="chat")
OLD = {
    "agent": "builtin", "provider": "lab", "model": "m", "reasoning": None, "time_limit": 9.0, "max_turns": 3,
    "max_output_tokens": None, "hints": False,
}  # fmt: skip
SOLVER = SolveSettings(provider="lab", model="m", time_limit=9.0, max_turns=3, tools="blocks")
PACKAGES = {"scipy": "1.0"}


def key(solver: SolveSettings = SOLVER, *, control: bool = False, provider: ProviderSettings = LAB) -> str:
    return agent_run_key(ITEM, solver, provider, 0, PACKAGES, control=control)


def test_a_configuration_of_old_keys_has_the_key_it_always_had() -> None:
    before = reuse_key(
        presented=ITEM.presented,
        domain=ITEM.domain,
        packages=PACKAGES,
        seed=0,
        version=__version__,
        server=LAB.server(),
        **OLD,
    )
    assert key() == before
    assert key(dataclasses.replace(SOLVER, name="builtin")) == before
    assert key(dataclasses.replace(SOLVER, agent="other")) != before
    assert presentation_of(ITEM, SOLVER, 0) == draw(0, ITEM.presented, "solve builtin", 0)


def test_where_a_program_lies_is_no_part_of_it() -> None:
    other = dataclasses.replace(SOLVER, agent="command", command=("x", "{model}"))
    assert key(other) != key(dataclasses.replace(other, command=("x",)))
    assert key(other) == key(dataclasses.replace(other, show=(Path("/opt"),)))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"exit_code": 0, "signal": None}, ()),
        ({"exit_code": 1, "signal": None}, ("the agent's program ended with exit status 1",)),
        ({"exit_code": None, "signal": 11}, ("the agent's program was ended by signal 11",)),
        ({"exit_code": None, "signal": None}, ()),
        ({"ended": "killed", "excess": "too many locks"}, ("the agent's program was ended for too many locks",)),
        ({"ended": "disk-limit", "exit_code": None, "signal": None}, ("the agent's program ended at its disk-limit",)),
        ({"ended": "memory-limit", "exit_code": 1, "signal": None}, ("the agent's program ended at its memory-limit",)),
    ],
)
def test_an_answer_of_a_program_that_failed_carries_a_warning(end: dict[str, Any], words: tuple[str, ...]) -> None:
    assert exit_warning([{"role": "assistant"}, {"role": "end", **end}]) == words
    assert exit_warning([{"role": "end", **end}, {"role": "assistant"}]) == ()
    assert exit_warning([]) == ()


def test_the_key_changes_where_what_is_sent_does() -> None:
    """Code blocks are what there was before tools; the embedded model is offered no others unless it is asked for."""
    auto, functions = (dataclasses.replace(SOLVER, tools=tools) for tools in ("auto", "functions"))
    assert len({key(), key(auto), key(functions)}) == 3
    local = ProviderSettings("local", kind="llama-cpp")
    assert key(auto, provider=local) == key(provider=local) != key(functions, provider=local)


def test_tools_are_a_matter_of_the_built_in_agent() -> None:
    other = dataclasses.replace(SOLVER, agent="other", tools="auto")
    assert "tools" not in other.asked()
    assert other.at(ProviderSettings("local", kind="llama-cpp")) is other


def test_what_happens_after_a_solve_is_no_part_of_it() -> None:
    assert key(dataclasses.replace(SOLVER, control=True, reject_if_control_solves=True)) == key()


def test_another_name_is_another_solver_and_a_control_another_run() -> None:
    other = dataclasses.replace(SOLVER, name="other")
    assert len({key(), key(other), key(control=True), key(other, control=True)}) == 4


def test_each_solver_and_each_control_sees_an_order_of_its_own() -> None:
    """Over some seeds, since two draws may come out alike."""
    other = dataclasses.replace(SOLVER, name="other")
    orders = [
        tuple(presentation_of(ITEM, solver, seed, control=control) for seed in range(20))
        for solver in (SOLVER, other)
        for control in (False, True)
    ]
    assert len(set(orders)) == 4


def row(value: str | None, reason: str = "") -> dict[str, Any]:
    chosen = next((letter for letter, text in ITEM.options.items() if text == value), None)
    return {"chosen": chosen, "reason": reason}


RIGHT, WRONG, NOTHING = row(ITEM.value), row(ITEM.options["A"]), row(None, "no-answer")


def test_a_recorded_run_is_judged_by_the_answer_of_today() -> None:
    assert solves(ITEM, RIGHT)
    assert not solves(ITEM, WRONG)
    assert not solves(ITEM, NOTHING)
    assert not solves(ITEM, row(ITEM.value, "timeout"))
    assert solves(dataclasses.replace(ITEM, answer="A"), WRONG)


A = SolveSettings(name="a")
B = SolveSettings(name="b", control=True)
C = SolveSettings(name="c", control=True, reject_if_control_solves=True)


@pytest.mark.parametrize(
    ("accept", "recorded", "due"),
    [
        pytest.param("any", {}, "a b b' c c'", id="nothing-recorded"),
        pytest.param("any", {"a": RIGHT}, "a", id="decided-by-the-first"),
        pytest.param("any", {"a": WRONG}, "a b b' c c'", id="the-first-failed"),
        pytest.param("any", {"a": WRONG, "b": WRONG}, "a b c c'", id="no-control-of-a-failure"),
        pytest.param("any", {"a": WRONG, "b": RIGHT}, "a b b'", id="a-control-decides-nothing"),
        pytest.param("all", {"a": WRONG}, "a", id="all-can-not-be-had"),
        pytest.param("all", {"a": RIGHT, "b": RIGHT, "c": RIGHT}, "a b b' c c'", id="all"),
        pytest.param(2, {"a": RIGHT, "b": RIGHT}, "a b b'", id="two"),
        pytest.param(3, {"c": RIGHT, "c'": RIGHT}, "a b b' c c'", id="rejected-at-the-end"),
    ],
)
def test_the_runs_a_candidate_comes_to_at_most(accept: Accept, recorded: Mapping[str, Any], due: str) -> None:
    settings = Settings(solve=(A, B, C), accept=accept)

    def found(solver: SolveSettings, control: bool) -> Any:  # noqa: ANN401
        return recorded.get(solver.name + "'" * control)

    runs = runs_due(ITEM, settings, found)
    assert " ".join(solver.name + "'" * control for solver, control, _ in runs) == due
    everything = runs_due(ITEM, settings, found, all_solvers=True)
    assert {solver.name for solver, _, _ in everything} == {"a", "b", "c"}


def test_a_recorded_rejection_ends_the_runs() -> None:
    settings = Settings(solve=(C, A), accept="all")
    recorded = {False: RIGHT, True: RIGHT}
    assert [(solver.name, control) for solver, control, _ in runs_due(ITEM, settings, lambda s, c: recorded[c])] == [
        ("c", False),
        ("c", True),
    ]
