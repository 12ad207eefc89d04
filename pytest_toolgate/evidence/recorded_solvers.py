"""Gate solve by the answers that agents left."""

from collections.abc import Mapping
from typing import Any, Final

from ..agents.protocol import ANSWER_FILE
from ..candidate import Candidate
from ..config import SolveSettings
from ..gates.agent_runs import counts_as_review, solves
from ..gates.agreement import verdict_of, with_control
from ..gates.answer_file import read_answer
from ..gates.result import GateResult
from .material import GONE, MACHINERY, Material, Row, flag, presentation

OLD: Final = "rows of schemas before 2 do not say how an agent run counted"


def agent_runs(material: Material) -> None:
    """Read every answer again and hold choice and verdict against that."""

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
            return
        chosen = _chosen(row, candidate)
        value = None if chosen is None else candidate.options[chosen]
        known = {**row, "chosen": chosen}
        outcome = row["outcome"] if row["outcome"] == "error" else "passed" if solves(candidate, known) else "review"
        material.found.compare(
            "agent_runs",
            row["id"],
            chosen=(row["chosen"], chosen),
            value=(row["value"], value),
            correct=(row["correct"], None if value is None else flag(value == candidate.value)),
            outcome=(row["outcome"], outcome),
        )

    material.each(
        "SELECT agent_runs.id, answer, presentation, outcome, reason, chosen, value, correct, attempts.content_id "
        "FROM agent_runs LEFT JOIN attempts ON attempts.id = agent_runs.attempt_id ORDER BY agent_runs.rowid",
        one,
    )


def _chosen(row: Row, candidate: Candidate) -> str | None:
    shown = presentation(row["presentation"])
    if row["answer"] is None:
        return None
    letter = read_answer(row["answer"].encode(), shown.show(candidate.options), ANSWER_FILE).letter
    return None if letter is None else shown.original(letter)


def solve_gates(material: Material) -> None:
    """Hold each verdict of gate solve against the agent runs that it rests on."""
    if not (material.has("uses", "correct") and material.has("agent_runs", "solver")):
        material.found.not_known(OLD)
        return
    material.each(
        "SELECT gates.*, attempts.run_id, attempts.content_id FROM gates "
        "LEFT JOIN attempts ON attempts.id = gates.attempt_id WHERE gate = 'solve' ORDER BY gates.rowid",
        lambda row: _gate(material, row),
    )


_USED: Final = (
    "SELECT uses.id, uses.correct AS counted, coalesce(solver, agent) AS name, control, chosen, reason, outcome "
    "FROM uses JOIN agent_runs ON agent_runs.id = uses.used_id "
    "WHERE uses.attempt_id = ? AND uses.kind = 'agent_run' ORDER BY uses.time, uses.rowid"
)


def _gate(material: Material, row: Row) -> None:
    found, run, candidate = material.found, material.run(row["run_id"]), material.candidate(row["content_id"])
    if run is None or candidate is None:
        found.not_known(GONE)
        return
    runs: dict[tuple[str, bool], GateResult] = {}
    for used in material.rows(_USED, [row["attempt_id"]]):
        result = _result(used, candidate)
        counts = None if result.verdict == "error" else int(result.verdict == "passed")
        if used["counted"] is None and counts is not None:
            found.not_known(OLD)
            return
        found.compare("uses", used["id"], correct=(used["counted"], counts))
        runs[used["name"], bool(used["control"])] = result
    if row["verdict"] == "error":
        found.not_known(MACHINERY)
        return
    results: dict[str, GateResult | None] = {}
    solvers = _solvers(run["settings"]["solve"])
    for solver in solvers:
        solved, control = runs.get((solver.name, False)), runs.get((solver.name, True))
        if solved is not None and solved.verdict == "passed" and solver.control:
            # One that is not there has failed before it was anything.
            solved = with_control(solver, (), solved, control or GateResult("error"))
        results[solver.name] = solved
    needed = _needed(run["settings"].get("accept", "any"), len(solvers))
    found.compare("gates", row["id"], verdict=(row["verdict"], verdict_of(results, needed)))


def _result(used: Row, candidate: Candidate) -> GateResult:
    """What one run comes to for this candidate, by its answer at that time."""
    if used["outcome"] == "error":
        return GateResult("error", used["reason"])
    if solves(candidate, used):
        return GateResult("passed")
    return GateResult("review", used["reason"] if counts_as_review(used) else "wrong")


def _solvers(plain: object) -> list[SolveSettings]:
    """The solvers as they were configured, as far as their verdicts depend on it; earlier versions had one at most."""
    entries: list[Mapping[str, Any]] = plain if isinstance(plain, list) else [plain] if isinstance(plain, dict) else []
    return [
        SolveSettings(
            agent=entry["agent"],
            name=entry.get("name", ""),
            control=entry.get("control", False),
            reject_if_control_solves=entry.get("reject_if_control_solves", False),
        )
        for entry in entries
    ]


def _needed(accept: object, solvers: int) -> int:
    """How many must solve a candidate, as `Settings.needed_solvers` has it."""
    return accept if isinstance(accept, int) else solvers if accept == "all" else 1
