"""Option texts that cannot be used, and what deserves a warning."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.candidate.options import option_faults, warnings

from .items import F1, candidate


def faults(*texts: str) -> list[tuple[str, str]]:
    options = dict(zip("ABCD", texts, strict=True))
    return [(fault.reason, fault.sentence) for fault in option_faults(options, 3)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(left, right, id=f"{case}-{left}")
        for case, left, right in [
            ("C01", "0.1", "0.1\u00a0"),
            ("C01", "x", " x"),
            ("C01", "x y", "x\u2009 y"),
            ("C01", "é", "e\u0301"),
            ("C01", "x", "$x$"),
            ("C01", "a − b m", "a - b m"),
            ("C01", "x", "x\u200b"),
            ("C03", "0.10", "0.1"),
            ("C03", "1e-3", "0.001"),
            ("C03", "1,000", "1000"),
            ("C03", "−0.5", "-0.5"),
            ("C03", "$0.5$", "0.5"),
            ("C03", "50%", "0.5"),
            ("C03", "-0.0", "0"),
            ("C03", "٠.١", "0.1"),
            ("C03", "1_000", "1000"),
            ("C03", "$10^{-3}$", "0.001"),
        ]
    ],
)
def test_equal_options(left: str, right: str) -> None:
    [(reason, sentence)] = faults("77", left, "88", right)
    assert reason == "equal-options"
    assert "options B" in sentence
    assert "and D" in sentence


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("0.06", "0.0607", id="C07"),
        pytest.param("0.2", "0.25", id="tie"),
        pytest.param("0." + "1" * 60, "0." + "1" * 40, id="many-digits"),
    ],
)
def test_close_options(left: str, right: str) -> None:
    assert [reason for reason, _ in faults(left, right, "77", "88")] == ["close-options"]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(tuple(F1.values()), id="F1"),
        pytest.param(("10", "100", "150", "15"), id="C03-fine"),
        pytest.param(("0.353577", "0.353578", "0.353579", "0.353580"), id="C05-neighbours"),
        pytest.param(("1e-13", "2e-13", "3e-13", "4e-13"), id="C07-exact"),
        pytest.param(("2 m", "200 cm", "3 m", "4 m"), id="C03-units-are-text"),
        pytest.param(("1,000 m", "2,000 m", "1,000 km", "3 m"), id="thousands-with-unit"),
        pytest.param(("1 2 3", "12 3", "123", "1 23"), id="rows-of-numbers"),
        pytest.param(("a + b", "a - b", "2a + b", "ab"), id="formulas"),
        pytest.param(("first two modes agree", "the second derivative", "above the line", "all nodes"), id="words"),
        pytest.param(("A-stable", "B-spline", "C^0", "D_h"), id="letters-inside"),
        pytest.param(("a car", "both ends fixed", "None", "yes"), id="sentences"),
        pytest.param(("0." + "1" * 60, "0." + "2" * 60, "0." + "3" * 60, "0." + "4" * 60), id="many-digits"),
    ],
)
def test_fine_options(texts: tuple[str, str, str, str]) -> None:
    assert faults(*texts) == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "All of the above",
            "all of the above.",
            "None of the above",
            "Both A and B",
            "None of these",
            "Any of these",
        ),
        *(
            "Neither A nor B",
            "A and B",
            "A or C",
            "A, B and C",
            "A & D",
            "(A) and (B)",
            "B/C",
            "Only B",
            "B only",
        ),
        *("Either of the above", "All the above", "None of the other options", "none of the listed values"),
        *(
            "The first option",
            "the options above",
            "the previous answer",
            "the last two",
            "The other ones",
            "Both",
        ),
        *(
            "All are correct",
            "None is correct",
            "both are true",
            "Same as B",
            "All except D",
            "A and C are both correct",
        ),
        *(
            "all of them",
            "Two of the above",
            "the above",
            "ALL OF THE ABOVE",
            "All of\u00a0the above",
            "Ａll of the above",
        ),
        *("以上都是", "Keine der genannten", "Ninguna de las anteriores"),
    ],
    ids=lambda text: f"B03-{text}",
)
def test_options_that_depend_on_the_others(text: str) -> None:
    [(reason, sentence)] = faults("0.1", text, "0.3", "0.4")
    assert reason == "bad-options"
    assert sentence.startswith("option B")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "B",
            "b",
            "A",
            "(A)",
            "(A) 3",
            "[c] 0.5",
            "{D}",
            "B)",
            "B) 0.5",
            "B)0.5",
            "B.",
            "B. 0.5",
            "B: 0.5",
            "C]",
        ),
        *(
            "Option B",
            "option (b)",
            "Answer: C",
            "answer C",
            "Choice D",
            "**B**",
            "`B`",
            "$B$",
            '"B"',
            "Ⓑ",
            "（B）",
            "Ｂ",
        ),
        *("see (A)", "the value in (B), doubled", "as in option C", "options A"),
    ],
    ids=lambda text: f"B03-{text}",
)
def test_options_that_look_like_a_label(text: str) -> None:
    [(reason, sentence)] = faults("0.1", text, "0.3", "0.4")
    assert reason == "bad-options"
    assert sentence.startswith("option B")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("NaN", "finite", id="C13-nan"),
        pytest.param("-inf", "finite", id="C13-inf"),
        pytest.param("$\\infty$", "finite", id="C13-tex"),
        pytest.param("0,5", "comma", id="decimal-comma"),
        pytest.param("1.234,5 m", "comma", id="decimal-comma-unit"),
        pytest.param("x" * 2001, "longer", id="long"),
        pytest.param("0.5\n0.6", "one line", id="lines"),
        pytest.param("a\u2028b", "one line", id="line-separator"),
        pytest.param("\u200b", "shows nothing", id="C11-unseen"),
    ],
)
def test_other_bad_options(text: str, word: str) -> None:
    [(reason, sentence)] = faults("0.1", text, "0.3", "0.4")
    assert reason == "bad-options"
    assert word in sentence
    assert len(sentence) < 250


def test_faults_of_form_come_first_and_every_pair_is_named() -> None:
    found = faults("1", "1.0", "(A)", "1.00")
    assert [reason for reason, _ in found] == ["bad-options", *["equal-options"] * 3]


@given(texts=st.lists(st.text(max_size=40), min_size=4, max_size=4))
def test_no_text_raises(texts: list[str]) -> None:
    for _, sentence in faults(*texts):
        assert len(sentence) < 500


# --- warnings --------------------------------------------------------------------------------------------


def warned(question: str = "?", domain: str = "fenicsx", solution: str = "x") -> list[str]:
    return warnings(dataclasses.replace(candidate(question=question, solution=solution), domain=domain))


@pytest.mark.parametrize(
    ("question", "warns"),
    [
        pytest.param("Assemble inner(grad(u), grad(v))*dx.", True, id="F01-dx"),
        pytest.param("Integrate f over the cell.", True, id="F01-verb"),
        pytest.param("What is ∫ u ?", True, id="F01-sign"),
        pytest.param("What is $\\int u$ ?", True, id="F01-tex"),
        pytest.param(
            "Integrating u with 4 degrees of freedom, one degree of freedom per node.", True, id="F01-freedom"
        ),
        pytest.param("Assemble u*dx(degree=5).", False, id="F01-measure"),
        pytest.param("Integrate with quadrature degree 5.", False, id="F01-stated"),
        pytest.param("The integral by a rule of degree 5.", False, id="F01-rule"),
        pytest.param("Integrate with 3-point Gauss-Legendre.", False, id="F01-gauss"),
        pytest.param("What is an integer?", False, id="F01-no-integral"),
    ],
)
def test_a_quadrature_degree_that_is_not_stated(question: str, warns: bool) -> None:
    assert bool(warned(question)) is warns
    assert warned(question, domain="scipy") == []


@pytest.mark.parametrize(
    ("question", "warns"),
    [
        pytest.param("What is the value at dof 17?", True, id="F05-dof"),
        pytest.param("Row 3 of the tabulated matrix?", True, id="F05-row"),
        pytest.param("the 3rd row of the matrix", True, id="F05-ordinal"),
        pytest.param("the value at vertex #4", True, id="F05-vertex"),
        pytest.param("degree of freedom number 5", True, id="F05-freedom"),
        pytest.param("vertices 3 and 4", True, id="F05-vertices"),
        pytest.param("cell index 2", True, id="F05-index"),
        pytest.param("the first column", True, id="F05-first"),
        pytest.param("a mesh of 17 cells and 3 rows", False, id="F05-counts"),
        pytest.param("the norm of the vector", False, id="F05-none"),
    ],
)
def test_a_question_that_depends_on_numbering(question: str, warns: bool) -> None:
    assert any("numbering" in warning for warning in warned(question)) is warns


def test_other_warnings() -> None:
    assert "several options" in warned("Select all that apply.")[0]
    assert ".show(" in warned(solution="plt.show()")[0]
    assert warned("What is x?") == []
