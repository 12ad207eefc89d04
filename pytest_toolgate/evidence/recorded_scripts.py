"""Gate verify by what scripts printed."""

import json
import re
from typing import Any, Final

from ..candidate import Candidate
from ..gates.script_answer import Answer, against, read_run
from ..sandbox import Finished, Limits
from .material import GONE, MACHINERY, Material, Row, presentation

CUT: Final = "more was printed than is stored"
_MARK: Final = re.compile(r"\[\d+ bytes cut\]\n")
_UNSTORED: Final = "\N{REPLACEMENT CHARACTER}"


def script_runs(material: Material) -> None:
    """Hold what each run of a script is said to have answered against what it printed."""

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
            return
        answer = answer_of(row, candidate)
        if answer is None:
            material.found.not_known(CUT)
            return
        stored = row["answer"]
        material.found.compare(
            "script_runs",
            row["id"],
            answer=(None if stored is None else stored.replace("\0", _UNSTORED), answer.text),
            matched=(row["matched"], answer.matched),
        )

    material.each(
        "SELECT script_runs.*, attempts.content_id FROM script_runs "
        "LEFT JOIN attempts ON attempts.id = script_runs.attempt_id ORDER BY script_runs.rowid",
        one,
    )


def answer_of(row: Row, candidate: Candidate) -> Answer | None:
    """What a recorded run says; None where not all that it printed is stored."""
    exited_well = row["ended"] == "exited" and row["exit_code"] == 0
    if exited_well and _MARK.match(row["stdout"]):
        return None
    finished = Finished(
        ended=row["ended"],
        exit_code=row["exit_code"],
        signal=row["signal"],
        stdout=row["stdout"].encode(),
        stdout_bytes=0,
        stderr=row["stderr"].encode(),
        stderr_bytes=0,
        stderr_cut=False,
        wall=row["wall"],
        cpu=row["cpu"],
        peak_memory=row["peak_memory"],
        disk_used=row["disk_used"],
        files_made=0,
        used=tuple(json.loads(row["used"])),
    )
    return read_run(finished, Limits(), candidate, presentation(row["presentation"]))


def verify_gates(material: Material) -> None:
    """Hold each verdict of gate verify against the runs of the script."""
    material.each(
        "SELECT gates.*, attempts.content_id, attempts.run_id FROM gates "
        "LEFT JOIN attempts ON attempts.id = gates.attempt_id WHERE gate = 'verify' ORDER BY gates.rowid",
        lambda row: _gate(material, row),
    )


def _gate(material: Material, row: Row) -> None:
    found = material.found
    candidate, run = material.candidate(row["content_id"]), material.run(row["run_id"])
    if row["verdict"] == "error":
        found.not_known(MACHINERY)
        return
    if candidate is None or run is None:
        found.not_known(GONE)
        return
    # Of several runs of one number, the last one counts: it was alone.
    runs: dict[Any, Row] = {
        each["number"]: each
        for each in material.rows(
            "SELECT * FROM script_runs WHERE attempt_id = ? ORDER BY number, time, rowid", [row["attempt_id"]]
        )
    }
    repeats = run["settings"]["verify"]["repeats"]
    answers: list[Answer] = []
    used: list[bool] = []
    reason: str | None = None
    for each in runs.values():
        answer = answer_of(each, candidate)
        if answer is None:
            found.not_known(CUT)
            return
        answers.append(answer)
        used.append(bool(json.loads(each["used"])))
        if reason := against(answers, used, repeats):
            break
    if not reason and len(answers) < repeats:
        verdict = f"no verdict: {len(answers)} of {repeats} runs"
    else:
        verdict = "rejected" if reason else "passed"
    found.compare("gates", row["id"], verdict=(row["verdict"], verdict), reason=(row["reason"], reason or ""))
