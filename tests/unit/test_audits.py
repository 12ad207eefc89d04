"""Which candidates a pool has, what a chain of audits leaves of it, and which of two exact duplicates stays."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.audit import AuditError, Recorded, check_same, chosen, find_pool, in_loop, reported_pool
from pytest_toolgate.audit.pool import audited, read_candidates
from pytest_toolgate.audit.table import first_of
from pytest_toolgate.candidate import Candidate
from pytest_toolgate.config import ScreenSettings, Settings, SolveSettings
from pytest_toolgate.store import Store

OPTIONS = {"A": "1", "B": "2", "C": "3", "D": "4"}


class Record:
    """A database to which attempts are added one after the other."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._minutes = itertools.count()

    def time(self) -> str:
        return f"2026-01-01T{next(self._minutes):05}"

    def run(self, audit: str | None = None, seed: int = 0, **settings: Any) -> str:  # noqa: ANN401 - JSON
        row = {"version": "1", "seed": seed, "gates": ["screen"], "settings": settings, "machine": {}, "audit": audit}
        return self.store.append("runs", {**row, "time": self.time()})

    def round(self, number: int, domain: str = "scipy") -> str:
        row = {"run_id": "r", "domain": domain, "number": number, "prompt": "", "known": []}
        return self.store.append("rounds", {**row, "time": self.time()})

    def attempt(
        self,
        outcome: str = "accepted",
        gate: str = "solve",
        *,
        path: str = "a.yaml",
        question: str = "What?",
        solution: str = "",
        options: dict[str, str] = OPTIONS,
        round_id: str | None = None,
        run_id: str = "",
        verify: str | None = "passed",
        readable: bool = True,
    ) -> None:
        one = Candidate(Path(path).stem, question, options, "A", solution, "scipy", Path(path))
        content_id = self.store.append("candidates", {
            "fingerprint": one.fingerprint, "presented": one.presented, "twin_key": one.twin_key,
            "content": one.content(),
        }) if readable else None  # fmt: skip
        attempt_id = self.store.append("attempts", {
            "run_id": run_id or self.run(), "path": path, "round_id": round_id, "time": self.time(),
            "candidate_id": one.id if readable else None, "content_id": content_id,
            "fingerprint": one.fingerprint if readable else None,
        })  # fmt: skip
        if verify:
            more = {"reason": "", "sentence": "", "warnings": [], "seconds": 0.0}
            self.store.append("gates", {"attempt_id": attempt_id, "gate": "verify", "verdict": verify, **more})
        if outcome:
            more = {"reason": "", "sentence": "", "warnings": [], "reused": 0}
            row = {"attempt_id": attempt_id, "outcome": outcome, "gate": gate, **more}
            self.store.append("outcomes", {**row, "time": self.time()})


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    store = Store(tmp_path / "toolgate.db")
    yield Record(store)
    store.close()


STANDINGS = {
    "accepted": (("accepted", "solve", "passed"), "verified"),
    "too easy": (("rejected", "screen", "passed"), "verified"),
    "not solved": (("review", "solve", "passed"), "verified"),
    "a provider failed": (("error", "screen", "passed"), "verified"),
    "killed at its screens": (("", "", "passed"), "verified"),
    "a check rejects": (("rejected", "check", "passed"), "refused"),
    "a check failed": (("error", "check", "passed"), "verified"),
    "wrong": (("rejected", "verify", "rejected"), "failed"),
    "bad form": (("rejected", "lint", None), "failed"),
    "nothing proposed": (("rejected", "generate", None), "failed"),
    "the sandbox failed": (("error", "verify", "error"), "unknown"),
    "killed at once": (("", "", None), "unknown"),
    "never verified": (("provisional", "lint", None), "unknown"),
    "screened alone": (("rejected", "screen", None), "unknown"),
}


@pytest.mark.parametrize(("attempt", "standing"), STANDINGS.values(), ids=STANDINGS)
def test_where_an_attempt_leaves_a_candidate(
    record: Record, attempt: tuple[str, str, str | None], standing: str
) -> None:
    outcome, gate, verify = attempt
    record.attempt(outcome, gate, verify=verify)
    assert [one.standing for one in in_loop(record.store)] == [standing]
    [stage, *checks, _] = reported_pool(record.store, []).stages
    counts = len(stage.removed), len(stage.without_verdict), len(stage.out)
    assert counts == {"failed": (1, 0, 0), "unknown": (0, 1, 0)}.get(standing, (0, 0, 1))
    assert [(check.name, len(check.removed)) for check in checks] == (
        [("extra checks", 1)] if standing == "refused" else []
    )


def test_a_candidate_that_is_judged_again_counts_once_and_its_latest_verdict_stands(record: Record) -> None:
    record.attempt("accepted")
    record.attempt("rejected", "verify", verify="rejected", path="moved.yaml")
    [one] = in_loop(record.store)
    assert (one.standing, one.accepted, one.path) == ("failed", False, "moved.yaml")
    record.attempt("error", "verify", verify="error")
    assert [one.standing for one in in_loop(record.store)] == ["failed"]
    record.attempt("rejected", "screen")
    [one] = in_loop(record.store)
    assert (one.standing, one.accepted) == ("verified", False)
    record.attempt("accepted")
    record.attempt("provisional", "verify")  # the gates of this run were not all, so the item stays
    [one] = in_loop(record.store)
    assert one.accepted


def test_another_content_is_another_candidate(record: Record) -> None:
    record.attempt(solution="1")
    record.attempt(solution="2")
    assert len(find_pool(record.store, "verified")) == 2


def test_files_that_cannot_be_read_are_told_by_their_paths(record: Record) -> None:
    for path in ("a.yaml", "b.yaml", "a.yaml"):
        record.attempt("rejected", "lint", path=path, verify=None, readable=False)
    assert [one.path for one in in_loop(record.store)] == ["a.yaml", "b.yaml"]


def test_each_round_is_a_candidate_of_its_own(record: Record) -> None:
    second, first = record.round(2), record.round(1)
    record.attempt(round_id=second, path="2.yaml")
    record.attempt("rejected", "lint", verify=None, round_id=first, path="1.yaml")
    record.attempt("rejected", "generate", verify=None, round_id=record.round(3), path="3.yaml", readable=False)
    assert [(one.round, one.standing) for one in in_loop(record.store)] == [
        (1, "failed"), (2, "verified"), (3, "failed"),
    ]  # fmt: skip
    # Whoever judges the file of a round again judges that round, the first that proposed it.
    record.attempt("accepted", path="1.yaml")
    assert [(one.round, one.standing) for one in in_loop(record.store)][:2] == [(1, "verified"), (2, "verified")]


def test_no_audit_has_a_part_in_a_pool_of_the_loop(record: Record) -> None:
    record.attempt("accepted")
    record.attempt("rejected", "verify", verify="rejected", run_id=record.run("x"))
    record.attempt("accepted", question="Other?", run_id=record.run("x"))
    [one] = find_pool(record.store, "accepted")
    assert one.standing == "verified"
    assert len(find_pool(record.store, "verified")) == 1


def test_the_newest_verdict_of_an_audit_counts(record: Record) -> None:
    record.attempt("accepted")
    for outcome in ("rejected", "provisional", "error"):
        record.attempt(outcome, "screen", verify=None, run_id=record.run("x"))
    [row] = audited(record.store, "x").values()
    assert row["outcome"] == "provisional"
    assert len(find_pool(record.store, "audit:x")) == 1
    record.attempt("rejected", "screen", verify=None, run_id=record.run("y"))
    assert find_pool(record.store, "audit:y") == find_pool(record.store, "audit:x,y") == []


def test_a_chain_of_audits(record: Record) -> None:
    for number in range(1, 6):
        record.attempt(question=f"{number}?", path=f"{number}.yaml", round_id=record.round(number))
    for audit, outcomes in {"x": ["rejected", "review", "provisional", "accepted", ""], "y": ["", "", "error"]}.items():
        for number, outcome in enumerate(outcomes, start=1):
            record.attempt(outcome, question=f"{number}?", path=f"{number}.yaml", run_id=record.run(audit))
    table = reported_pool(record.store, ["x", "y"])
    found = [
        [[one.round for one in part] for part in (stage.removed, stage.without_verdict, stage.out)]
        for stage in table.stages
    ]
    assert found == [[[], [], [1, 2, 3, 4, 5]], [[1, 2], [5], [3, 4]], [[], [3, 4], []], [[], [], []]]
    assert [stage.entered for stage in table.stages] == [5, 5, 2, 0]
    with pytest.raises(AuditError, match="holds no audit `z`; it holds `x`, `y`"):
        reported_pool(record.store, ["x", "z"])


def test_exact_duplicates_are_told_by_question_and_values(record: Record) -> None:
    turned = {"A": "2", "B": "1", "C": "4", "D": "3"}
    record.attempt(path="1.yaml", solution="1", round_id=record.round(8))
    record.attempt(path="2.yaml", solution="2", options=turned, question="What\n ?", round_id=record.round(3))
    record.attempt(path="3.yaml", solution="3", question="What ?", options=turned, round_id=record.round(5))
    record.attempt(path="4.yaml", question="What else?")
    record.attempt(path="5.yaml", options={**OPTIONS, "D": "4.0"})
    table = reported_pool(record.store, [])
    assert [one.path for one in table.pool] == ["2.yaml", "1.yaml", "4.yaml", "5.yaml"]
    assert [one.path for one in table.stages[-1].removed] == ["3.yaml"]


def _one(path: str, number: int | None, time: str, domain: str = "scipy") -> Recorded:
    return Recorded(path, path, path, "t", "c", number, domain if number else "", time)


@pytest.mark.parametrize(
    ("twins", "stays"),
    [
        ([_one("a", 7, "1"), _one("b", 3, "2")], "b"),
        ([_one("a", None, "2"), _one("b", None, "1")], "b"),
        ([_one("a", 1, "2"), _one("b", None, "1")], "b"),
        ([_one("a", 1, "2"), _one("b", 2, "1", "fenicsx")], "b"),
        ([_one("b", None, "1"), _one("a", None, "1")], "a"),
    ],
    ids=["lowest round", "first attempted", "not all rounds", "rounds of two domains", "at the same moment"],
)
def test_which_of_two_stays(twins: list[Recorded], stays: str) -> None:
    assert first_of(twins).path == first_of(twins[::-1]).path == stays


def test_candidates_are_read_as_they_were_recorded(record: Record) -> None:
    record.attempt(path="b/1.yaml", question="One?")
    record.attempt(path="b/2.yaml", question="Two?")
    for number in (4, 3):
        record.attempt(path=f"b/{number}.yaml", question="Three?", round_id=record.round(number))
    found = read_candidates(record.store, find_pool(record.store, "verified"), Path("/pool"))
    assert [(one.question, str(one.path), one.options) for one in found] == [
        ("Three?", "/pool/b/3.yaml", OPTIONS), ("One?", "/pool/b/1.yaml", OPTIONS), ("Two?", "/pool/b/2.yaml", OPTIONS),
    ]  # fmt: skip
    assert found[1].fingerprint == in_loop(record.store)[2].fingerprint


# --- what an audit asks -----------------------------------------------------------------------------------

SCREENS = (
    ScreenSettings("a", "p", "m"),
    ScreenSettings("b", "p", "m"),
    ScreenSettings("c", "p", "m", mode="choices-only"),
)
SOLVERS = (SolveSettings(name="x", provider="p", model="m"), SolveSettings(name="y", provider="p", model="m"))
SETTINGS = Settings(screens=SCREENS, solve=SOLVERS, accept=2)


def test_what_is_named_is_asked_in_the_order_of_the_configuration() -> None:
    found = chosen(SETTINGS, ["b", "a"], ["x", "y"])
    assert [screen.name for screen in found.screens] == ["a", "b"]
    assert found.needed_solvers == 2
    assert chosen(SETTINGS, ["c", "a"], []).cue_screens
    assert chosen(SETTINGS, [], ["y"]).needed_solvers == 1


def test_a_name_stands_for_the_same_settings(record: Record) -> None:
    asked = chosen(SETTINGS, ["a"], [])
    record.run("x", **json.loads(json.dumps(asked.plain())))
    check_same(record.store, "x", 0, ("screen",), asked)
    check_same(record.store, "y", 1, ("solve",), SETTINGS)
    for seed, gates, settings, found in (
        (1, ("screen",), asked, "with another seed:"),
        (0, ("screen", "solve"), chosen(SETTINGS, ["a"], ["x"]), "with other gates and other solvers:"),
        (0, ("screen",), chosen(SETTINGS, ["b"], []), "with other screens:"),
        (0, ("screen",), chosen(SETTINGS, ["a", "b"], []), "with other screens:"),
    ):
        with pytest.raises(AuditError, match=found):
            check_same(record.store, "x", seed, gates, settings)


def test_settings_that_an_earlier_version_did_not_know_are_no_difference(record: Record) -> None:
    asked = chosen(SETTINGS, ["a"], [])
    plain = json.loads(json.dumps(asked.plain()))
    del plain["screens"][0]["mode"]
    record.run("x", **plain)
    check_same(record.store, "x", 0, ("screen",), asked)
