"""Extra checks: found by entry point and by hook, configured, and what each verdict comes to."""

import json
import os
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, avoiding, by_model, computing

from .pool import PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

pytestmark = pytest.mark.slow

_CHECKS = '''
    from pytest_toolgate.checks import CheckError, CheckResult

    def looks(task):
        """The verdict that the candidate is tagged with."""
        assert task.answer == "0.060723"
        if not task.candidate.tags:
            return None
        return CheckResult(task.candidate.tags[0], "it looks odd", "here it is:\\nodd")

    def runs(task):
        """Runs the script twice alike, and once under an instrumentation."""
        under = "import sys\\nreport(told=TOLD['name'], argv=sys.argv, modules='scipy' in sys.modules)"
        first, again = (task.run_script(under=under, told={"name": "x"}) for _ in range(2))
        assert first is again and first.answer == task.answer and first.matched == task.candidate.answer
        other = task.run_script(task.candidate.solution.replace("0.060723", "0.058996"), files={"more.txt": b"more"})
        return CheckResult("flagged", f"{list(first.reports)} {other.answer} {other.matched}")

    def breaks(task):
        raise ZeroDivisionError("the check's own mistake")

    def gives_up(task):
        raise CheckError("the command `frobnicate` is not installed")

    def says_nonsense(task):
        return "rejected"

    def spoils(task):
        task.run_script(under="raise LookupError('nothing there')")
'''
_ENTRY_POINTS = """\
    [pytest_toolgate.checks]
    looks = extension_checks:looks
    runs = extension_checks:runs
    breaks = extension_checks:breaks
    gives-up = extension_checks:gives_up
    says-nonsense = extension_checks:says_nonsense
    spoils = extension_checks:spoils
    missing = extension_checks:not_there
"""
_HOOK = '''
    from pytest_toolgate.checks import CheckResult

    def pytest_toolgate_check(candidate, run_script):
        """Of the candidates beside it."""
        verdict = "rejected" if run_script().answer == "0.058996" else "flagged"
        return CheckResult(verdict, f"seen {candidate.id} in <where>", name="seen")
'''


@pytest.fixture
def extended(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A repository in whose environment an extension with checks is installed."""
    pool.write("site/extension_checks.py", _CHECKS)
    pool.write("site/extension-1.dist-info/METADATA", "Name: extension\nVersion: 1\n")
    pool.write("site/extension-1.dist-info/entry_points.txt", _ENTRY_POINTS)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))
    return pool


def _findings(pool: Pool) -> list[tuple[str, str, str, str]]:
    """Candidate, check, verdict and sentence."""
    rows = pool.rows("SELECT checks.*, path FROM checks JOIN attempts ON attempts.id = attempt_id ORDER BY path")
    return [(Path(row["path"]).stem, row["name"], row["verdict"], row["sentence"]) for row in rows]


def _configured(pool: Pool, checks: str, *more: str, url: str = "") -> None:
    pool.configure(VERIFY, f"checks: {{{checks}}}\n", *more, url=url)


# --- by entry point ---------------------------------------------------------------------------------------------


def test_what_a_check_says_becomes_of_the_candidate(extended: Pool, workers: int) -> None:
    for verdict in ("passed", "flagged", "rejected"):
        extended.add(verdict, tags=[verdict])
    extended.add("untagged")
    _configured(extended, "looks: reject")
    assert extended.run(workers=workers).verdicts == {
        "passed": "provisional verify",
        "flagged": "rejected check looks",
        "rejected": "rejected check looks",
        "untagged": "provisional verify",
    }
    extended.forget()
    _configured(extended, "looks: flag")
    session = extended.run(workers=workers)
    assert set(session.verdicts.values()) == {"provisional verify"}
    assert session.line_about("rejected").endswith("provisional at verify; warning: looks: it looks odd")
    assert "warning" not in session.line_about("passed")
    assert _findings(extended) == [
        ("flagged", "looks", "flagged", "it looks odd"),
        ("passed", "looks", "passed", "it looks odd"),
        ("rejected", "looks", "flagged", "it looks odd"),
    ]


def test_a_rejection_reads_like_any_other(extended: Pool) -> None:
    extended.add("first", tags=["rejected"])
    _configured(extended, "looks: reject")
    session = extended.run()
    case = session.cases["first"]
    assert case.tag == "failure"
    assert case.headline == "rejected at check: looks: it looks odd"
    assert case.text.splitlines()[1:] == ["here it is:", "odd"]
    assert (case.properties["gate"], case.properties["reason"]) == ("check", "looks")
    assert "check        1 in     0 passed  1 rejected (1 looks)" in session.summary
    assert [row["gate"] for row in extended.recorded("gates")] == ["lint", "verify", "check"]
    [outcome] = extended.recorded("outcomes")
    assert (outcome["outcome"], outcome["gate"], outcome["reason"]) == ("rejected", "check", "looks")


def test_where_no_check_has_anything_to_look_at_there_is_none(extended: Pool) -> None:
    extended.add("first")
    _configured(extended, "looks: reject")
    session = extended.run()
    assert "check " not in session.summary
    assert [row["gate"] for row in extended.recorded("gates")] == ["lint", "verify"]
    assert extended.recorded("checks") == []


def test_runs_of_a_check(extended: Pool) -> None:
    extended.add("first")
    _configured(extended, "runs: flag")
    session = extended.run()
    [row] = extended.recorded("checks")
    assert row["sentence"] == "[{'told': 'x', 'argv': ['solution.py'], 'modules': False}] 0.058996 A"
    assert session.verdicts == {"first": "provisional verify"}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("breaks", "ZeroDivisionError in extension_checks.py:20: the check's own mistake"),
        ("gives-up", "the command `frobnicate` is not installed"),
        ("says-nonsense", "it returned str where a CheckResult or None is due"),
        ("spoils", "the instrumentation of a check did not begin: LookupError: nothing there"),
        ("missing", "cannot be loaded: AttributeError"),
    ],
)
def test_a_check_that_cannot_be_carried_out_is_no_verdict(extended: Pool, check: str, words: str) -> None:
    extended.add("first")
    _configured(extended, f"{check}: flag")
    session = extended.run()
    assert session.verdicts == {"first": "error check check"}
    assert f"the check `{check}` could not be carried out: " in session.line_about("first")
    assert words in session.line_about("first")
    assert session.cases["first"].tag == "error"
    [row] = extended.recorded("checks")
    assert row["verdict"] == "error"


def test_checks_come_between_verify_and_screen(extended: Pool, server: ScriptedServer) -> None:
    extended.add("first", tags=["rejected"])
    _configured(extended, "looks: reject", PROVIDER, SCREEN, url=server.base_url)
    assert extended.run().verdicts == {"first": "rejected check looks"}
    assert server.count == 0
    # Without verify nobody has seen the script, and nothing is checked.
    server.script = avoiding(VALUE)
    assert extended.run("--toolgate-gates=screen").verdicts == {"first": "provisional screen"}


def test_a_finding_travels_with_what_is_accepted(extended: Pool, server: ScriptedServer) -> None:
    extended.add("first", tags=["flagged"])
    _configured(extended, "looks: flag", PROVIDER, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing(VALUE)})
    session = extended.run()
    assert session.verdicts == {"first": "accepted solve"}
    item = json.loads((extended.root / "accepted" / "first.json").read_text("utf-8"))
    [check] = item["record"]["checks"]
    assert (check["name"], check["verdict"], check["evidence"]) == ("looks", "flagged", "here it is:\nodd")
    assert "looks: it looks odd" in item["record"]["outcome"][0]["warnings"]
    assert [gate["gate"] for gate in item["record"]["gates"]] == ["lint", "verify", "check", "screen", "solve"]


def test_an_unknown_check_ends_the_session(extended: Pool) -> None:
    extended.add("first")
    _configured(extended, "lok: flag")
    session = extended.run()
    assert session.code == 4
    assert "toolgate.yaml:2: `checks.lok` is not a known check; the nearest known one is `looks`" in session.err
    _configured(extended, "looks: maybe")
    assert "`checks.looks` must be one of reject, flag, off, not `maybe`" in extended.run().err


# --- by hook ----------------------------------------------------------------------------------------------------


def test_a_check_of_a_conftest(pool: Pool, workers: int) -> None:
    pool.write("candidates/near/conftest.py", _HOOK.replace("<where>", "near"))
    pool.add("near", under="candidates/near")
    pool.add("wrong", 'import scipy\nprint("ANSWER: 0.058996")', answer="A", under="candidates/near")
    pool.add("far", under="candidates/far")
    pool.configure(VERIFY)
    session = pool.run(workers=workers)
    assert session.verdicts == {
        "near": "provisional verify",
        "wrong": "rejected check seen",
        "far": "provisional verify",
    }
    assert session.line_about("near/near").endswith("warning: seen: seen near in near")
    assert "warning" not in session.line_about("far/far")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return CheckResult('flagged', 'odd')", "its result needs a name of small letters, digits and `-`, not ''"),
        ("return CheckResult('flagged', '', name='odd')", "the finding of `odd` has no sentence"),
        ("return CheckResult('bad', 'odd', name='odd')", "the verdict of `odd` is 'bad', which is none"),
        ("return 1 / 0", "ZeroDivisionError in conftest.py:3"),
    ],
)
def test_a_hook_with_a_fault(pool: Pool, body: str, words: str) -> None:
    pool.write(
        "conftest.py",
        f"from pytest_toolgate.checks import CheckResult\ndef pytest_toolgate_check(candidate):\n    {body}\n",
    )
    pool.add("first")
    pool.configure(VERIFY)
    session = pool.run()
    assert session.verdicts == {"first": "error check check"}
    assert words in session.line_about("first")


# --- scripts that know that they are watched ----------------------------------------------------------------------

_KNOWING = """
    import os, scipy, sys, signal

    watch = sys.modules.get("toolgate_instrument")
    if watch:
        <act>
    print("ANSWER: 0.060723")
"""


@pytest.mark.parametrize(
    "forged",
    [
        "x=1",
        "kind='solver'",
        "kind=['solver']",
        "kind='solver', solver=1, reason='r', iterations=1, number=0",
        "kind='solver', solver='KSP', reason='r', iterations=None, number=[0]",
        "kind='asked', number=10**400",
        "kind='product', figures=[10**400, 0, 0], scale=1.0",
        "kind='matrix', points={}, size=None",
        "kind='blind', module='x; raise SystemExit', why='?'",
        "kind='asked', number=0, more='\\ud800'",
    ],
)
def test_a_report_that_is_none_is_passed_over(pool: Pool, forged: str) -> None:
    pool.add("forged", _KNOWING.replace("<act>", f"watch.report({forged})"))
    pool.configure(VERIFY, "checks: {solver-convergence: reject, basix-layout: reject}\n")
    session = pool.run()
    assert session.verdicts == {"forged": "provisional verify"}
    assert "warning" not in session.line_about("forged")


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "{", '{"a": "\\ud800"}', "null"])
def test_a_report_that_cannot_be_read_is_passed_over(pool: Pool, text: str) -> None:
    steal = (
        "cells = dict(zip(watch.report.__code__.co_freevars, watch.report.__closure__)); "
        f"os.write(2, ('\\n' + cells['mark'].cell_contents + {text!r} + '\\n').encode())"
    )
    pool.add("forged", _KNOWING.replace("<act>", steal))
    pool.configure(VERIFY, "checks: {solver-convergence: reject}\n")
    assert pool.run().verdicts == {"forged": "provisional verify"}


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("sys.exit(3)", "it exited with status 3"),
        ("os._exit(0)", "no line of stdout starts with `ANSWER:`"),
        ("raise LookupError('\\x1b[31m')", "it exited with status 1: LookupError: "),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was killed by signal 9 (SIGKILL)"),
        ("print('ANSWER: 0.060723')", "it printed 2 answers"),
        ("bytearray(1 << 50)", "it ran out of memory under its limit of"),
        ("os.closerange(3, 100); watch.report(x=1)", "it exited with status 1: OSError: "),
    ],
)
def test_a_script_that_fails_only_under_watch_is_a_finding(pool: Pool, act: str, words: str) -> None:
    pool.add("knowing", _KNOWING.replace("<act>", act))
    pool.configure(VERIFY, "checks: {solver-convergence: flag}\n")
    session = pool.run()
    assert session.verdicts == {"knowing": "provisional verify"}
    line = session.line_about("knowing")
    assert "warning: solver-convergence: the script fails when it is run once more under watch: " in line
    assert words in line
    pool.forget()
    pool.configure(VERIFY, "checks: {solver-convergence: reject}\n")
    assert pool.run().verdicts == {"knowing": "rejected check solver-convergence"}


def test_a_script_that_says_it_cannot_be_watched_is_a_finding(pool: Pool) -> None:
    act = "watch.report(kind='blind', module='scipy.optimize', why='no reason')"
    pool.add("knowing", _KNOWING.replace("<act>", act))
    pool.configure(VERIFY, "checks: {solver-convergence: flag}\n")
    session = pool.run()
    assert session.verdicts == {"knowing": "provisional verify"}
    assert (
        "warning: solver-convergence: the script cannot be watched: `scipy.optimize` is not what it is elsewhere"
        in (session.line_about("knowing"))
    )


def test_a_hook_is_given_the_run_that_fails_and_others_are_heard(pool: Pool) -> None:
    pool.write(
        "conftest.py",
        """
        from pytest_toolgate.checks import CheckResult

        def pytest_toolgate_check(candidate, run_script):
            run = run_script(under="")
            watched = run_script(under="pass")
            return CheckResult("flagged", f"it gave {run.answer} and {watched.answer}", name="mine")
    """,
    )
    pool.add("knowing", _KNOWING.replace("<act>", "sys.exit(3)"))
    pool.configure(VERIFY)
    line = pool.run().line_about("knowing")
    assert "provisional at verify" in line
    assert "warning: mine: it gave 0.060723 and None" in line
    assert (
        "warning: pytest_toolgate_check: the script fails when it is run once more under watch: it exited with status 3"
        in line
    )


# --- perturb ----------------------------------------------------------------------------------------------------

_GROWTH = """
    import scipy

    rate, unused = 0.35, 0.25
    print(f"ANSWER: {2 * rate:.3f}")
"""


def test_a_constant_that_does_nothing_is_flagged(pool: Pool) -> None:
    options = {"A": "0.700", "B": "0.800", "C": "0.900", "D": "0.600"}
    pool.add("idle", _GROWTH, question="Twice 0.35, with 0.25 aside?", options=options, answer="A")
    pool.add("busy", _GROWTH, question="Twice 0.35, what is it?", options=options, answer="A")
    pool.add("letter", _GROWTH.replace("{2 * rate:.3f}", "A"), question="Twice 0.35?", options=options, answer="B")
    pool.configure(VERIFY)
    session = pool.run()
    assert session.verdicts["busy"] == session.verdicts["idle"] == "provisional verify"
    assert session.line_about("idle").endswith("warning: perturb: the answer does not depend on `0.25`")
    assert "warning" not in session.line_about("busy")
    [row] = pool.rows("SELECT evidence FROM checks WHERE verdict = 'flagged'")
    assert row["evidence"].splitlines() == [
        "as it stands: 0.700",
        "0.35 changed to 0.385: 0.770",
        "0.25 changed to 0.275: 0.700",
        "0.25 changed to 0.15: 0.700",
    ]
    pool.forget()
    pool.configure(VERIFY, "checks: {perturb: off}\n")
    assert "warning" not in pool.run().line_about("idle")
    assert pool.recorded("checks") == []
