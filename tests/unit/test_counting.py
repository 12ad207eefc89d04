"""When the replies of a screen decide, and what calls cost."""

import itertools

import pytest

from pytest_toolgate.config import Prices, ProviderSettings
from pytest_toolgate.gates.grading import Count
from pytest_toolgate.gates.money import cost
from pytest_toolgate.providers import Tokens


@pytest.mark.parametrize(
    ("correct", "missing", "decided"),
    [
        (2, 0, "rejected"),
        (3, 0, "rejected"),
        (2, 1, "rejected"),
        (0, 0, "passed"),
        (1, 0, "passed"),
        (0, 1, "passed"),
        (1, 1, None),
        (0, 2, None),
        (1, 2, None),
        pytest.param(0, 3, None, id="D01-all-fail"),
    ],
)
def test_two_of_three(correct: int, missing: int, decided: str | None) -> None:
    assert Count(correct, missing, 3, 2).decided == decided


@pytest.mark.parametrize(("samples", "reject_at"), [(n, k) for n in range(1, 6) for k in range(1, n + 1)])
def test_decided_exactly_when_no_missing_reply_could_turn_it(samples: int, reject_at: int) -> None:
    for correct, missing in itertools.product(range(samples + 1), repeat=2):
        if correct + missing > samples:
            continue
        ends = {correct + more >= reject_at for more in range(missing + 1)}
        expected = None if len(ends) > 1 else ("rejected" if ends == {True} else "passed")
        assert Count(correct, missing, samples, reject_at).decided == expected


def test_a_count_in_words() -> None:
    assert str(Count(2, 0, 3, 2)) == "2 of 3 correct"
    assert str(Count(0, 3, 3, 2)) == "0 of 3 correct, 3 missing"


PRICED = ProviderSettings("p", prices={"m": Prices(1.0, 0.1, 10.0), "n": Prices(1.0, None, 10.0), "half": Prices(1.0)})


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        ("m", Tokens(1_000_000, 0, 0), 1.0),
        ("m", Tokens(1_000_000, 400_000, 100_000, 90_000), 0.6 + 0.04 + 1.0),
        ("m", Tokens(1_000_000, None, 0), 1.0),
        ("m", Tokens(100, 200, 0), 1e-5),
        ("n", Tokens(1_000_000, 400_000, 0), 1.0),
        ("m", Tokens(0, 0, 0), 0.0),
        ("m", Tokens(None, 0, 5), None),
        ("m", Tokens(5, 0, None), None),
        ("half", Tokens(5, 0, 5), None),
        ("other", Tokens(5, 0, 5), None),
    ],
)
def test_cost(model: str, tokens: Tokens, usd: float | None) -> None:
    assert cost(PRICED, model, tokens) == (None if usd is None else pytest.approx(usd))


def test_an_embedded_model_costs_nothing() -> None:
    assert cost(ProviderSettings("p", kind="llama-cpp"), "any", Tokens()) == 0.0
