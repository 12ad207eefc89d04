"""What a run would ask, told from the record alone; every number of calls is one that a run does not exceed."""

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.config import Accept, Prices, ProviderSettings, ScreenSettings, Settings, SolveSettings
from pytest_toolgate.config.model import GATES, Mode
from pytest_toolgate.domains import load_domain
from pytest_toolgate.gates import Run, Workbench
from pytest_toolgate.gates.agent_runs import agent_run_key
from pytest_toolgate.gates.calls import ScreenCall, screen_calls
from pytest_toolgate.gates.forecast import Due, forecast
from pytest_toolgate.store import Store

from .items import candidate
from .test_store import reply
from .test_store_reading import agent_run

ITEM = candidate()
RIGHT, WRONG = ITEM.value, ITEM.options["A"]
PRICED = {"m": Prices(input=2.0, output=10.0)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "toolgate.db")
    yield opened
    opened.close()


def a_screen(name: str = "light", model: str = "m", mode: Mode | None = None, **changes: Any) -> ScreenSettings:  # noqa: ANN401
    return ScreenSettings(name, changes.pop("provider", "lab"), model, mode=mode, **changes)


def bench(
    store: Store,
    *screens: ScreenSettings,
    solve: SolveSettings | tuple[SolveSettings, ...] = (),
    accept: Accept = "any",
    prices: Mapping[str, Prices] = PRICED,
    **run: Any,  # noqa: ANN401
) -> Workbench:
    providers = {"lab": ProviderSettings("lab", prices=prices), "local": ProviderSettings("local", kind="llama-cpp")}
    solvers = solve if isinstance(solve, tuple) else (solve,)
    settings = Settings(providers=providers, screens=screens, solve=solvers, accept=accept)
    nowhere = Path("/nonexistent")
    begun = Run("r", 0, nowhere, nowhere, GATES, store.path, nowhere)
    return Workbench(dataclasses.replace(begun, **run), settings, store, Path(sys.executable))


def calls(item: Candidate, screen: ScreenSettings) -> list[ScreenCall]:
    return list(screen_calls(item, screen, ProviderSettings(screen.provider), 0))


def record(store: Store, screen: ScreenSettings, *values: str, item: Candidate = ITEM, **changes: object) -> None:
    """Replies to the first calls of a screen; a value that is no option's is a status."""
    for call, value in zip(calls(item, screen), values, strict=False):
        chosen = next((letter for letter, text in item.options.items() if text == value), None)
        row: dict[str, Any] = {
            "reuse_key": call.key, "call_index": call.index, "screen": screen.name, "provider": screen.provider,
            "model_asked": screen.model, "settings": screen.asked(), "request": call.sent(),
            "status": value if chosen is None else "answered", "chosen": chosen,
            "value": None if chosen is None else value, "correct": value == RIGHT,
        }  # fmt: skip
        store.append("replies", reply() | row | changes)


def due(bench: Workbench, *items: Candidate) -> list[Due]:
    return list(forecast(items or (ITEM,), bench).due)


def numbers(bench: Workbench) -> list[tuple[int, int]]:
    """At most to be made, and reused, of each screen and the agent."""
    return [(each.most, each.reused) for each in due(bench)]


# --- how many --------------------------------------------------------------------------------------------


def test_every_solver_and_every_control_counts_as_far_as_it_may_come(store: Store) -> None:
    first = SolveSettings(name="first", provider="lab", model="m")
    second = SolveSettings(name="second", provider="lab", model="m", control=True)
    work = bench(store, solve=(first, second))
    assert [(each.name, each.most) for each in due(work)] == [
        ("solver `first`", 1), ("solver `second`", 1), ("control of solver `second`", 1),
    ]  # fmt: skip
    assert "in all at most 0 calls and 3 agent runs" in forecast([ITEM], work).lines()[-1]

    packages = work.interpreter(load_domain(ITEM.domain)).packages
    lab = work.settings.providers["lab"]
    solved = {"outcome": "passed", "chosen": ITEM.answer, "value": ITEM.value}
    store.append("agent_runs", agent_run(reuse_key=agent_run_key(ITEM, first, lab, 0, packages), **solved))
    assert numbers(work) == [(0, 1), (0, 0), (0, 0)]
    assert numbers(bench(store, solve=(first, second), all_screens=True)) == [(0, 1), (1, 0), (1, 0)]
    assert numbers(bench(store, solve=(first, second), accept="all")) == [(0, 1), (1, 0), (1, 0)]
    control = agent_run_key(ITEM, second, lab, 0, packages, control=True)
    store.append("agent_runs", agent_run(reuse_key=control, **solved))
    assert numbers(bench(store, solve=(first, second), accept="all")) == [(0, 1), (1, 0), (0, 1)]


def test_with_nothing_recorded_every_call_is_due(store: Store) -> None:
    light, strong = a_screen(), a_screen("strong", samples=5)
    other = candidate(id="other", question="What else?")
    asked = due(bench(store, light, strong, solve=SolveSettings(provider="lab", model="m")), ITEM, other)
    assert [(each.most, each.reused) for each in asked] == [(6, 0), (10, 0), (2, 0)]


def test_only_answers_count_and_fresh_counts_nothing(store: Store) -> None:
    light = a_screen(samples=4, reject_at=3)
    record(store, light, RIGHT, "truncated", "failed", WRONG)
    assert numbers(bench(store, light)) == [(2, 2)]
    assert numbers(bench(store, light, fresh=True)) == [(4, 0)]
    assert numbers(bench(store, light, seed=1)) == [(4, 0)]


@pytest.mark.parametrize(
    ("values", "most"),
    [([RIGHT, RIGHT], [0, 0, 0]), ([WRONG, WRONG], [0, 3, 1]), ([RIGHT, WRONG], [1, 3, 1]), ([WRONG], [2, 3, 1])],
    ids=["rejected", "passed", "undecided", "begun"],
)
def test_recorded_replies_that_decide_end_the_calls(store: Store, values: list[str], most: list[int]) -> None:
    light, strong = a_screen(), a_screen("strong")
    record(store, light, *values)
    solve = SolveSettings(provider="lab", model="m")
    assert [each.most for each in due(bench(store, light, strong, solve=solve))] == most
    if most == [0, 0, 0]:
        assert [each.most for each in due(bench(store, light, strong, solve=solve, all_screens=True))] == [0, 3, 0]


def test_a_recorded_rejection_ends_the_candidate_whatever_the_screens_before_it_say(store: Store) -> None:
    light, strong, last = a_screen(), a_screen("strong"), a_screen("last")
    record(store, strong, RIGHT, RIGHT)
    assert numbers(bench(store, light, strong, last)) == [(3, 0), (0, 2), (0, 0)]


def test_replies_are_graded_again_by_the_answer_of_today(store: Store) -> None:
    light, solve = a_screen(), SolveSettings(provider="lab", model="m")
    record(store, light, WRONG, WRONG)
    edited = dataclasses.replace(ITEM, answer="A")
    assert [each.most for each in due(bench(store, light, solve=solve), edited)] == [0, 0]


def test_cue_screens_are_asked_only_about_what_may_pass_and_reject_nothing(store: Store) -> None:
    light, cue = a_screen(), a_screen("cue", mode="choices-only")
    solve = SolveSettings(provider="lab", model="m")
    record(store, cue, RIGHT, RIGHT)
    assert numbers(bench(store, light, cue, solve=solve)) == [(3, 0), (0, 2), (1, 0)]
    record(store, light, RIGHT, RIGHT)
    assert numbers(bench(store, light, cue, solve=solve, all_screens=True)) == [(0, 2), (0, 0), (0, 0)]


def test_gates_that_are_not_passed_ask_nothing(store: Store) -> None:
    solve = SolveSettings(provider="lab", model="m")
    assert due(bench(store, a_screen(), solve=solve, gates=("lint", "verify"))) == []
    assert numbers(bench(store, a_screen(), solve=solve, gates=("lint", "solve"))) == [(1, 0)]


def test_a_judged_agent_run_is_reused_and_a_failed_one_is_not(store: Store) -> None:
    solve = SolveSettings(provider="lab", model="m")
    work = bench(store, solve=solve)
    packages = work.interpreter(load_domain(ITEM.domain)).packages
    key = agent_run_key(ITEM, solve, work.settings.providers["lab"], 0, packages)
    store.append("agent_runs", agent_run(reuse_key=key, outcome="error"))
    assert numbers(work) == [(1, 0)]
    store.append("agent_runs", agent_run(reuse_key=key, outcome="review"))
    assert numbers(work) == [(0, 1)]
    assert numbers(bench(store, solve=solve, fresh=True)) == [(1, 0)]


# --- tokens and cost -------------------------------------------------------------------------------------


def test_without_a_record_a_token_is_four_characters_and_a_reply_as_long_as_it_may_be(store: Store) -> None:
    light = a_screen(max_output_tokens=50, samples=1, reject_at=1)
    [asked] = due(bench(store, light))
    [call] = calls(ITEM, light)
    length = sum(len(message.content) for message in call.request.messages)
    assert asked.tokens.input == -(-length // 4)
    assert asked.tokens.output == 50
    assert asked.usd == pytest.approx((asked.tokens.input * 2 + 50 * 10) / 1e6)
    assert f"about {asked.tokens.input} input and 50 output tokens, about 0.000" in asked.line()


def test_the_mean_of_what_is_recorded_is_scaled_by_the_length_of_the_question(store: Store) -> None:
    light = a_screen(samples=1, reject_at=1)
    record(store, light, WRONG, input_tokens=100, output_tokens=7)
    record(store, light, WRONG, input_tokens=None, output_tokens=None)
    record(store, a_screen(reasoning="high"), WRONG, input_tokens=9000, output_tokens=9000)
    record(store, a_screen(model="n"), WRONG, input_tokens=9000, output_tokens=9000)
    longer = candidate(question="Why? " * 400)
    [asked] = due(bench(store, light), longer)
    [before], [now] = calls(ITEM, light), calls(longer, light)
    lengths = [sum(len(message.content) for message in call.request.messages) for call in (before, now)]
    assert asked.tokens.input == pytest.approx(100 * lengths[1] / lengths[0], abs=1)
    assert asked.tokens.output == 7
    capped = dataclasses.replace(light, max_output_tokens=5)
    [asked] = due(bench(store, capped), longer)
    assert asked.tokens.output == 5


def test_replies_whose_request_was_not_kept_tell_the_length_of_replies_alone(store: Store) -> None:
    record(store, a_screen(), WRONG, input_tokens=9000, output_tokens=7, request={})
    [asked] = due(bench(store, a_screen(samples=1, reject_at=1)), candidate(question="Why?"))
    assert asked.tokens.input is not None
    assert asked.tokens.input < 200
    assert asked.tokens.output == 7


def test_an_agent_run_is_the_mean_of_those_that_were_judged(store: Store) -> None:
    solve = SolveSettings(provider="lab", model="m")
    same = {"settings": {"provider": "lab", "model": "m", "reasoning": None}}
    for count, outcome in ((1000, "passed"), (3000, "review"), (90000, "error")):
        row = {"outcome": outcome, "input_tokens": count, "cached_tokens": 0, "output_tokens": count // 10}
        store.append("agent_runs", agent_run(**row, **same))
    [asked] = due(bench(store, solve=solve), ITEM, candidate(question="What else?"))
    assert (asked.most, asked.tokens.input, asked.tokens.output) == (2, 4000, 400)
    assert asked.usd == pytest.approx((4000 * 2 + 400 * 10) / 1e6)


# --- words -----------------------------------------------------------------------------------------------


def total(bench: Workbench) -> str:
    return forecast((ITEM,), bench).lines()[-1]


def test_the_embedded_model_costs_nothing_and_needs_no_preflight(store: Store) -> None:
    assert total(bench(store, a_screen(provider="local"))) == "in all at most 3 calls and 0 agent runs, 0 USD"


def test_a_cost_that_nobody_knows_is_never_nothing(store: Store) -> None:
    known, unknown = a_screen(max_output_tokens=50), a_screen("strong", model="x", max_output_tokens=50)
    reason = "no price of `x` under providers.lab.prices"
    assert f"cost unknown: {reason}" in forecast((ITEM,), bench(store, unknown)).lines()[0]
    assert " USD" not in total(bench(store, unknown))
    both = total(bench(store, known, unknown))
    assert "about 0.00" in both
    assert both.endswith(f", and one preflight request per model and setting, not counting what is unknown: {reason}")
    assert "cost unknown" in total(bench(store, a_screen(provider="local"), unknown))


def test_what_would_tell_a_cost_is_named(store: Store) -> None:
    assert "neither a recorded reply of `m` nor `max_output_tokens`" in total(bench(store, a_screen()))
    half = {"m": Prices(input=1.0)}
    assert "no `output` price of `m`" in total(bench(store, a_screen(max_output_tokens=5), prices=half))
    solve = SolveSettings(provider="lab", model="m")
    assert "no recorded run of agent `builtin` with `m`" in total(bench(store, solve=solve))


def test_where_nothing_is_due_nothing_is_unknown(store: Store) -> None:
    light = a_screen(model="x")
    record(store, light, RIGHT, RIGHT)
    assert forecast((ITEM,), bench(store, light)).lines() == [
        "screen `light` (lab, x): at most 0 calls, 2 replies reused",
        "in all at most 0 calls and 0 agent runs, 0 USD",
    ]


def test_numbers_are_written_out(store: Store) -> None:
    light = a_screen(samples=1, reject_at=1, max_output_tokens=123456)
    expensive = {"m": Prices(input=0.0, output=1e10)}
    [line, _] = forecast((ITEM,), bench(store, light, prices=expensive)).lines()
    assert "at most 1 call, 0 replies reused" in line
    assert "and 123,000 output tokens, about 1,230,000,000 USD" in line
