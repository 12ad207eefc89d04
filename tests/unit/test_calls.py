"""The calls of a screen: known before any is made, and the same wherever and whenever they are worked out."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from pytest_toolgate.candidate import Candidate
from pytest_toolgate.config import Prices, ProviderSettings, Retries, ScreenSettings
from pytest_toolgate.config.model import Mode
from pytest_toolgate.gates.calls import ScreenCall, screen_calls
from pytest_toolgate.screen.prompt import INSTRUCTIONS

from .items import F1, candidate

PROVIDER = ProviderSettings("lab", base_url="http://127.0.0.1:1/v1")
SCREEN = ScreenSettings("light", "lab", "m")
MODES: tuple[Mode | None, ...] = (None, *get_args(Mode))
SETTINGS = {field.name for field in dataclasses.fields(ScreenSettings)}


def calls(
    item: Candidate | None = None,
    seed: int = 0,
    provider: ProviderSettings = PROVIDER,
    **screen: Any,  # noqa: ANN401
) -> list[ScreenCall]:
    """The calls of the screen, changed as said."""
    return list(screen_calls(item or candidate(), dataclasses.replace(SCREEN, **screen), provider, seed))


def keys(*arguments: Any, **named: Any) -> list[str]:  # noqa: ANN401
    """Under which their replies are found again."""
    return [call.key for call in calls(*arguments, **named)]


# --- what a call is -----------------------------------------------------------------------------------------


def test_there_are_as_many_as_samples_each_with_its_number_and_key() -> None:
    made = calls(samples=7)
    assert [call.index for call in made] == list(range(7))
    assert len({call.key for call in made}) == 7


def test_a_call_shows_the_options_in_its_order_and_its_letters_lead_back() -> None:
    for call in calls(samples=12):
        assert call.shown == call.presentation.show(F1)
        assert sorted(call.shown.values()) == sorted(F1.values())
        assert {F1[call.presentation.original(letter)] for letter in call.shown} == set(F1.values())
        for letter, text in call.shown.items():
            assert F1[call.presentation.original(letter)] == text
            assert f"{letter}) {text}" in call.request.messages[1].content


@pytest.mark.parametrize("mode", MODES)
def test_instruction_and_question_are_sent_and_nothing_that_gives_the_answer_away(mode: Mode | None) -> None:
    item = candidate(solution="import scipy\nprint('ANSWER: secret')\n", tags=("hidden-tag",), id="hidden-id")
    for call in calls(item, mode=mode):
        system, user = call.request.messages
        assert (system.role, user.role) == ("system", "user")
        assert system.content == INSTRUCTIONS[mode]
        assert (item.question in user.content) == (mode != "choices-only")
        assert (item.value in user.content) == (mode != "question-only")
        assert all(word not in json.dumps(call.sent()) for word in ("secret", "hidden-tag", "hidden-id"))


def test_settings_are_sent_as_they_stand_and_those_left_out_are_not() -> None:
    assert set(calls()[0].sent()) == {"model", "messages"}
    [call] = calls(samples=1, reject_at=1, reasoning="none", max_output_tokens=64)
    assert (call.sent()["reasoning"], call.sent()["max_output_tokens"]) == ("none", 64)
    assert (call.request.model, call.request.reasoning, call.request.max_output_tokens) == ("m", "none", 64)
    assert call.request.deadline is None


def test_what_is_sent_is_recorded_as_json() -> None:
    item = candidate(question="∇·u of `x²`\u2028\n\ttab?", options={"A": "½", "B": "−1", "C": "é", "D": "\N{SNOWMAN}"})
    sent = calls(item)[0].sent()
    assert json.loads(json.dumps(sent))["messages"][1]["content"] == sent["messages"][1]["content"]


# --- what it depends on -------------------------------------------------------------------------------------

ASIDE: Mapping[str, Mapping[str, Any]] = {
    "answer": {"answer": "D"},
    "solution": {"solution": "import scipy\nprint('ANSWER: 0.061291')\n"},
    "id": {"id": "renamed"},
    "path": {"path": Path("elsewhere/other.json")},
    "domain": {"domain": "fenicsx"},
    "tags": {"tags": ("new", "tags")},
    "distractors": {"distractors": {"A": "forgot a factor"}},
    "metadata": {"metadata": {"author": "somebody"}},
    "lines": {"lines": {"question": 3}},
}


@pytest.mark.parametrize("change", ASIDE.values(), ids=ASIDE)
def test_neither_answer_nor_script_nor_labels_have_any_part_in_it(change: Mapping[str, Any]) -> None:
    """What was paid for stays paid for, whatever is edited that no model has seen."""
    assert calls(candidate(**change)) == calls()


NO_SETTING_OF_A_CALL: Mapping[str, ProviderSettings] = {
    "name": dataclasses.replace(PROVIDER, name="renamed"),
    "key": dataclasses.replace(PROVIDER, api_key_env="OTHER_KEY"),
    "concurrency": dataclasses.replace(PROVIDER, max_concurrency=2),
    "requests": dataclasses.replace(PROVIDER, requests_per_minute=5),
    "tokens": dataclasses.replace(PROVIDER, tokens_per_minute=5),
    "timeout": dataclasses.replace(PROVIDER, timeout=1.0),
    "retries": dataclasses.replace(PROVIDER, retries=Retries(1, 0.0)),
    "prices": dataclasses.replace(PROVIDER, prices={"m": Prices(1.0, None, 2.0)}),
}


@pytest.mark.parametrize("provider", NO_SETTING_OF_A_CALL.values(), ids=NO_SETTING_OF_A_CALL)
def test_how_a_provider_is_asked_does_not_make_a_reply_stale(provider: ProviderSettings) -> None:
    assert keys(provider=provider) == keys()


def test_the_name_of_the_provider_in_a_screen_is_none_of_its_settings() -> None:
    assert keys(provider=dataclasses.replace(PROVIDER, name="other")) == [call.key for call in calls(provider=PROVIDER)]


def test_more_samples_and_another_threshold_leave_the_calls_there_were() -> None:
    assert keys(samples=9)[:3] == keys(samples=3)
    assert keys(reject_at=3) == keys(reject_at=1)


ANOTHER_SERVER: Mapping[str, ProviderSettings] = {
    "address": dataclasses.replace(PROVIDER, base_url="http://127.0.0.1:2/v1"),
    "default address": dataclasses.replace(PROVIDER, base_url=None),
    "protocol": dataclasses.replace(PROVIDER, api="chat"),
    "kind": dataclasses.replace(PROVIDER, kind="llama-cpp"),
    "any model": dataclasses.replace(PROVIDER, any_model=True),
}


@pytest.mark.parametrize("provider", ANOTHER_SERVER.values(), ids=ANOTHER_SERVER)
def test_another_server_is_asked_anew_about_the_same(provider: ProviderSettings) -> None:
    assert not set(keys(provider=provider)) & set(keys())
    assert [call.request for call in calls(provider=provider)] == [call.request for call in calls()]


ANOTHER_CALL: Mapping[str, Mapping[str, Any]] = {
    "name": {"name": "strong"},
    "model": {"model": "m2"},
    "reasoning": {"reasoning": "low"},
    "reasoning none": {"reasoning": "none"},
    "cap": {"max_output_tokens": 64},
    "choices-only": {"mode": "choices-only"},
    "question-only": {"mode": "question-only"},
}


@pytest.mark.parametrize("change", ANOTHER_CALL.values(), ids=ANOTHER_CALL)
def test_a_setting_that_reaches_the_model_makes_it_another_call(change: Mapping[str, Any]) -> None:
    """B07."""
    assert not set(keys(**change)) & set(keys())


def test_every_setting_of_a_screen_is_accounted_for() -> None:
    """A setting that is added must be put on one side or the other: a reply to other settings is not reused."""
    reaching = {"name", "model", "reasoning", "max_output_tokens", "mode", "presentations"}
    assert reaching | {"provider", "samples", "reject_at"} == SETTINGS


@pytest.mark.parametrize(
    "change",
    [{"question": "What is the energy to five decimals?"}, {"options": F1 | {"D": "0.061292"}}],
    ids=["question", "option"],
)
def test_what_is_shown_makes_it_another_call(change: Mapping[str, Any]) -> None:
    assert not set(keys(candidate(**change))) & set(keys())


def test_options_in_another_order_are_another_call_unless_chance_shows_them_as_before() -> None:
    """The model has then seen the very same; its letter means another one of the file's."""
    swapped = {"A": F1["B"], "B": F1["A"], "C": F1["C"], "D": F1["D"]}
    pairs = list(zip(calls(samples=200), calls(candidate(options=swapped), samples=200), strict=True))
    assert all((old.key == new.key) == (old.request == new.request) for old, new in pairs)
    assert 1 <= sum(old.key == new.key for old, new in pairs) < 30


def test_a_seed_is_a_protocol_of_its_own() -> None:
    assert not set(keys(seed=1)) & set(keys())
    orders = [[str(call.presentation) for call in calls(seed=seed, samples=8)] for seed in range(4)]
    assert len({tuple(order) for order in orders}) == 4


@pytest.mark.parametrize("mode", [None, "choices-only"])
def test_distinct_slots_puts_every_option_under_each_letter(mode: Mode | None) -> None:
    made = calls(samples=4, presentations="distinct-slots", mode=mode)
    for value in F1.values():
        assert sorted(letter for call in made for letter, text in call.shown.items() if text == value) == list("ABCD")


def test_the_order_does_not_follow_the_answer() -> None:
    """Over many items the answer stands under each letter about as often: no model gains by a favourite letter."""
    items = [candidate(question=f"What is it, number {number}?") for number in range(400)]
    letters = [next(k for k, v in call.shown.items() if v == F1["B"]) for item in items for call in calls(item)]
    assert all(250 < letters.count(letter) < 350 for letter in "ABCD")


def test_every_process_works_out_the_same_calls() -> None:
    """Another hash seed, another working directory, another locale."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from unit.test_calls import keys\n"
        "print(keys(samples=5), keys(mode='question-only', reasoning='low'))\n"
    )
    for hash_seed in ("0", "1", "4242"):
        printed = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent.parent)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C"},
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert printed == f"{keys(samples=5)} {keys(mode='question-only', reasoning='low')}\n"


def test_a_reply_is_found_again_under_the_key_of_earlier_versions() -> None:
    assert keys(samples=1, reject_at=1) == ["91c9d5cfb6940a53202e3e158d820c3f"]
