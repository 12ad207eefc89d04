"""What the summary says of the candidates of a run together: templates, and answers that gather in the middle."""

import pytest
from scripted_server import ScriptedServer, avoiding

from .pool import PROVIDER, SCREEN, VALUE, Pool

LINT = "--toolgate-gates=lint"
MIDDLE = "warning: the answer is one of the two middle values in "


def templates(summary: str) -> list[str]:
    """The lines on templates."""
    return [line for line in summary.splitlines() if line.startswith("templates")]


def add_variants(pool: Pool, count: int) -> None:
    """One item with other constants."""
    for number in range(count):
        pool.add(
            f"variant-{number:03}",
            f"import scipy.special\nprint(f'ANSWER: {{scipy.special.jv({number}, 1e-{number}):.6f}}')\n",
            question=f"What is J_n(x) for n = {number} and x = {number / 4} - {number % 3}, to six decimals?",
        )


def test_variants_in_constants_are_one_template_and_all_stay_on_record(pool: Pool, workers: int) -> None:
    add_variants(pool, 100)
    pool.add("other", "import scipy\nprint('ANSWER:', scipy.pi)\n", question="How long is half a unit circle?")
    session = pool.run(LINT, workers=workers)
    assert session.code == 0
    assert templates(session.summary) == [
        "templates  101 candidates in 2 clusters, effective number 1.1, largest 99 %"
    ]  # fmt: skip
    assert len(pool.rows("SELECT * FROM candidates")) == 101
    assert {row["outcome"] for row in pool.recorded("outcomes")} == {"provisional"}
    # From the rows of the run alone, so that a second one says the same.
    assert templates(pool.run(LINT).summary) == templates(session.summary)


def test_only_what_passed_lint_counts_and_few_are_told_nothing(pool: Pool) -> None:
    add_variants(pool, 9)
    pool.add("broken", answer="E")
    pool.add("twin-a", question="Twin?")
    pool.add("twin-b", question="Twin?")
    session = pool.run(LINT)
    assert session.verdicts["broken"] == "rejected lint bad-answer"
    assert session.verdicts["twin-b"] == "rejected lint duplicate"
    assert templates(session.summary) == ["templates  10 candidates in 2 clusters, effective number 1.4, largest 90 %"]
    (pool.root / "candidates" / "twin-a.yaml").unlink()
    (pool.root / "candidates" / "variant-000.yaml").unlink()
    # `twin-b` has taken the place of its twin, and the earlier run is not this one.
    assert templates(pool.run(LINT).summary) == []


@pytest.mark.parametrize(("count", "warned"), [(4, False), (5, True)])
def test_answers_in_the_middle_are_warned_of_where_chance_is_unlikely(
    pool: Pool, server: ScriptedServer, count: int, warned: bool
) -> None:
    """The answer is the second largest of the four values in each."""
    for number in range(count):
        pool.add(f"case-{number}")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = avoiding(VALUE)
    session = pool.run("--toolgate-gates=screen")
    assert session.code == 0
    lines = [line for line in session.summary.splitlines() if line.startswith(MIDDLE)]
    assert bool(lines) is warned
    if warned:
        assert lines[0].startswith(f"{MIDDLE}5 of 5 items: who picks one of them is right in 50 %")
        before = session.summary.splitlines()[session.summary.splitlines().index(lines[0]) - 1]
        assert before.startswith("cues (chance 25 %): a middle-value guesser scores 50 %")
    # A warning and never a verdict.
    assert set(session.verdicts.values()) == {"provisional screen"}


def test_large_and_strange_candidates_do_not_keep_the_summary_from_being_written(pool: Pool) -> None:
    for number in range(8):
        pool.add(f"large-{number}", "import scipy\n" + "x = 1\n" * 80_000, question=f"Why {'é' * number}?")
    pool.add("mute", "import scipy\nprint()\n", question="∫ ≠ ?", options=dict(zip("ABCD", "∀∃∅∇", strict=True)))
    pool.add("marks", "import scipy\nprint()\n", question="Why " + "a\u0301\u0302" * 20_000)
    session = pool.run(LINT)
    assert session.code == 0, session.out
    assert len(templates(session.summary)) == 1
    assert templates(session.summary)[0].startswith("templates  10 candidates in ")
