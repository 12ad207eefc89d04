"""Gate check by the checks' own verdicts, and outcomes by the gates."""

from typing import Final

from ..gates.pipeline import outcome_of
from .material import GONE, MACHINERY, Material, Row

_CHECK: Final = "check"
_GENERATE: Final = "generate"


def check_gates(material: Material) -> None:
    """Hold what extra checks came to against what each of them said."""
    if not material.has("checks", "verdict"):
        return

    def one(row: Row) -> None:
        said = [
            (each["verdict"], each["name"])
            for each in material.rows(
                "SELECT verdict, name FROM checks WHERE attempt_id = ? ORDER BY time, rowid", [row["attempt_id"]]
            )
        ]
        if row["verdict"] == "error":
            material.found.not_known(MACHINERY)
            return
        rejected = next((name for verdict, name in said if verdict == "rejected"), None)
        material.found.compare(
            "gates",
            row["id"],
            verdict=(row["verdict"], "passed" if rejected is None else "rejected"),
            reason=(row["reason"], rejected or ""),
        )

    material.each(f"SELECT * FROM gates WHERE gate = '{_CHECK}' ORDER BY rowid", one)


def outcomes(material: Material) -> None:
    """Hold each outcome against the gates that the attempt came to."""
    material.each(
        "SELECT outcomes.*, attempts.run_id, attempts.id AS attempt FROM outcomes "
        "LEFT JOIN attempts ON attempts.id = outcomes.attempt_id ORDER BY outcomes.rowid",
        lambda row: _outcome(material, row),
    )


def _outcome(material: Material, row: Row) -> None:
    found = material.found
    run = material.run(row["run_id"])
    if row["attempt"] is None or run is None:
        found.not_known(GONE)
        return
    if row["outcome"] == "error":
        # It may be the run's own word, of one that died over it.
        found.not_known(MACHINERY)
        return
    if row["gate"] == _GENERATE:
        _without_file(material, row)
        return
    gates = list(material.rows("SELECT * FROM gates WHERE attempt_id = ? ORDER BY time, rowid", [row["attempt_id"]]))
    # What an extra check has not ended is no gate that an outcome names.
    named = [gate for gate in gates if gate["gate"] != _CHECK or gate["verdict"] != "passed"]
    if not named:
        found.add("outcomes", row["id"], "there is no gate that it could have come from")
        return
    last = named[-1]
    due = [gate for gate in run["gates"] if gate not in {each["gate"] for each in named}]
    if last["verdict"] == "passed" and set(due) - {"lint"}:
        found.add("outcomes", row["id"], f"`{row['outcome']}` is stored, and gate {due[0]} has no verdict")
        return
    found.compare(
        "outcomes",
        row["id"],
        outcome=(row["outcome"], outcome_of(last["verdict"], run["gates"])),
        gate=(row["gate"], last["gate"]),
        reason=(row["reason"], last["reason"]),
        sentence=(row["sentence"], last["sentence"]),
    )


def _without_file(material: Material, row: Row) -> None:
    """The outcome of a round that left no file."""
    proposals = material.rows(
        "SELECT proposals.ended, proposals.content FROM attempts "
        "JOIN proposals ON proposals.round_id = attempts.round_id AND proposals.ended <> 'error' "
        "WHERE attempts.id = ? ORDER BY proposals.time LIMIT 1",
        [row["attempt_id"]],
    )
    for proposal in proposals:
        left = "a file" if proposal["content"] is not None else ""
        reason = "timeout" if proposal["ended"] == "timeout" else "no-candidate"
        material.found.compare("outcomes", row["id"], reason=(row["reason"], left or reason))
        return
    material.found.not_known(GONE)
