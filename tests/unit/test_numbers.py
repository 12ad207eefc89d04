"""Numbers the way people write them, read exactly."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.numbers import (
    MAX_EXPONENT,
    Number,
    has_decimal_comma,
    is_not_finite,
    nearest_gap,
    overlap,
    plain,
    read_number,
)


def value(text: str) -> Decimal | None:
    number = read_number(text)
    return None if number is None else number.value


@pytest.mark.parametrize(
    ("text", "exact", "decimals"),
    [
        ("0.10", "0.1", 2),
        ("5", "5", None),
        ("5.", "5", 0),
        (".5", "0.5", 1),
        ("+0.5", "0.5", 1),
        ("012", "12", None),
        ("1e-3", "0.001", None),
        ("1.0E-03", "0.001", 4),
        ("1.5e1", "15", 0),
        ("1.5e3", "1500", None),
        ("50%", "0.5", None),
        ("50.5 %", "0.505", 3),
        ("50.5\\%", "0.505", 3),
        ("-0.000000", "0", 6),
    ],
)
def test_value_and_number_of_decimals(text: str, exact: str, decimals: int | None) -> None:
    number = read_number(text)
    assert number is not None
    assert number.value == Decimal(exact)
    assert number.decimals == decimals


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(left, right, id=f"{case}-{left}")
        for case, left, right in [
            ("C03", "0.10", "0.1"),
            ("C03", "1e-3", "0.001"),
            ("C03", "1,000", "1000"),
            ("C03", "\u22120.5", "-0.5"),
            ("C03", "$0.5$", "0.5"),
            ("C03", "50%", "0.5"),
            ("C03", "-0.0", "0"),
            ("C03", "٠.١", "0.1"),
            ("C03", "٠٫١", "0.1"),
            ("C03", "1_000", "1000"),
            ("C03", "1 000", "1000"),
            ("C03", "1\u202f234\u202f567.5", "1234567.5"),
            ("C03", "1'000", "1000"),
            ("C03", "1’234’567", "1234567"),
            ("C03", "$1{,}000$", "1000"),
            ("C03", "$1\\,000$", "1000"),
            ("C03", "0.123 456", "0.123456"),
            ("C03", "1.5 × 10⁻³", "0.0015"),
            ("C03", "1.5·10^-3", "0.0015"),
            ("C03", "$1.5 \\times 10^{-3}$", "0.0015"),
            ("C03", "1.5\\cdot10^{-3}", "0.0015"),
            ("C03", "1.5*10**-3", "0.0015"),
            ("C03", "1.5*10**(-3)", "0.0015"),
            ("C03", "10^{-3}", "0.001"),
            ("C03", "-10⁻³", "-0.001"),
            ("C03", "０．５", "0.5"),
            ("C03", "５０％", "0.5"),
            ("C03", "$$0.5$$", "0.5"),
            ("C03", "- 0.5", "-0.5"),
            ("C03", "0.5\u200b", "0.5"),
            ("C01", "0.1\u00a0", "0.1"),
            ("C01", "\u20090.1\u3000", "0.1"),
            ("C09", "\u20130.5", "-0.5"),
            ("C09", "\uff0d0.5", "-0.5"),
            ("C09", "\u20140.5", "-0.5"),
            ("C09", "\ufe630.5", "-0.5"),
            ("C09", "1e\u22123", "0.001"),
            ("C09", "$\u22120.5$", "-0.5"),
        ]
    ],
)
def test_the_same_number_in_another_form(left: str, right: str) -> None:
    assert value(left) == value(right) is not None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "-",
            "$",
            ".",
            "e5",
            "1e",
            "1e5.5",
            "nan",
            "inf",
            "-inf",
            "∞",
            "None",
            "B",
            "1 2 3",
            "3 4",
            "1 2345",
        ),
        *(
            "1,00",
            "1,0000",
            "0,000",
            "1__0",
            "_1",
            "1_",
            "1-2",
            "1/2",
            "0x10",
            "1j",
            "2 m",
            "1,234 567",
            "--1",
            "1e1001",
        ),
        *(
            "__import__('os').system('touch /tmp/pwn')",
            "(np.float64(0.060723),)",
            "½",
            "²",
            "10^",
            "1×10-3",
            "9" * 201,
        ),
    ],
)
def test_anything_else_is_no_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "-Infinity", "∞", "−∞", "$\\infty$", "sNaN", "1.#INF"])
def test_not_finite(text: str) -> None:
    assert is_not_finite(text)
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["0.1", "nano", "information", "B", ""])
def test_finite_or_no_number_at_all(text: str) -> None:
    assert not is_not_finite(text)


@pytest.mark.parametrize(
    "text", ["0,5", "-0,5", "3,14159", "1.234,56", "0,5 m", "3,14e-3", "$0,5$", "3,14·10⁻³", "1,00"]
)
def test_decimal_comma(text: str) -> None:
    assert has_decimal_comma(text)


@pytest.mark.parametrize("text", ["1,000", "1,000,000.5", "(1, 2)", "1,000 m", "x, y", "0.5", "1, 2, 3"])
def test_other_commas(text: str) -> None:
    assert not has_decimal_comma(text)


@pytest.mark.parametrize(
    ("printed", "option", "fits"),
    [
        ("0.06072349", "0.060723", True),
        ("0.0607235", "0.060723", False),
        ("0.0607235", "0.060724", True),
        ("0.0607225", "0.060722", True),
        ("2.5", "2", False),
        ("2.5", "2.", True),
        ("1.2e-16", "0.000000", True),
        ("-0.000000", "0.000000", True),
        ("2e-13", "1e-13", False),
        ("1e-13", "1e-13", True),
        ("1e1000", "0.5", False),
        ("50%", "0.5", True),
    ],
)
def test_rounding_is_half_even_at_the_options_own_decimals(printed: str, option: str, fits: bool) -> None:
    number, exact = read_number(option), value(printed)
    assert number is not None
    assert exact is not None
    assert number.rounds_from(exact) is fits


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ("0.06", "0.0607", True),
        ("0.1", "0.2", False),
        ("0.2", "0.25", True),  # a printed 0.25 is the tie that goes to 0.2
        ("0.3", "0.25", True),
        ("0.2", "25e-2", True),
        ("0.3", "25e-2", False),
        ("10", "100", False),
        ("150", "15", False),
        ("2", "2.4", False),
        ("2.", "2.4", True),
        ("0." + "1" * 60, "0." + "1" * 59 + "2", False),
        ("0." + "1" * 60, "0." + "1" * 40, True),
    ],
)
def test_overlap(left: str, right: str, both: bool) -> None:
    first, second = read_number(left), read_number(right)
    assert first is not None
    assert second is not None
    assert overlap(first, second) is overlap(second, first) is both


def test_plain_text() -> None:
    assert plain(" $ \u2212a  b\u00a0c $ ") == "-a b c"
    assert plain("$") == "$"
    assert plain("e\u0301") == plain("é")


def test_nearest() -> None:
    numbers = [Number(Decimal(text), None) for text in ("3", "1", "2", "1")]
    assert nearest_gap(Decimal("1.9"), numbers) == (2, Decimal("0.1"))


@given(number=st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=9))
def test_what_python_prints_is_read_exactly(number: Decimal) -> None:
    assert value(str(number)) == number
    assert value(f"{number:,f}") == number
    assert value(f" ${number:f}$ ".replace("-", "−")) == number


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_exactly(number: float) -> None:
    assert value(repr(number)) == Decimal(repr(number))


@given(text=st.one_of(st.text(max_size=250), st.text("0123456789.,_eE+-−–$%{}^* ×⁻³'’\\", max_size=30)))
def test_no_text_raises_and_what_is_read_is_finite(text: str) -> None:
    number = read_number(text)
    if number is not None:
        assert number.value.is_finite()
        assert not is_not_finite(text)
        assert number.rounds_from(number.value)
        assert abs(number.value.adjusted()) <= 2 * MAX_EXPONENT
        low, high, _ = number.reach()
        assert low <= number.value <= high
    assert isinstance(has_decimal_comma(text), bool)
