"""Gate screen by what models said: each reply is read and graded again, and the replies are counted again."""

import json
from typing import Final

from ..gates.grading import Count, Reply, deciding, grade_again, grade_text
from ..gates.result import GateResult
from ..gates.screen import KEPT_TEXT
from .material import GONE, MACHINERY, Material, Row, flag, presentation

CUT: Final = "the reply was longer than what is stored of it"
SERVERS: Final = "a reply that is missing by its server's word has no text to be read"
OLD: Final = "rows of schema 1 do not say how a reply counted"
# What a reply with a text comes to; any other status is the server's own.
_READ: Final = ("answered", "wrong-form")


def replies(material: Material) -> None:
    """Read every reply again and hold what it was said to choose against that."""

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
        elif len(row["text"]) >= KEPT_TEXT:
            material.found.not_known(CUT)
        else:
            if row["status"] in _READ:
                mode = json.loads(row["settings"]).get("mode")
                read = grade_text(candidate, mode, presentation(row["presentation"]), row["text"], None)
            else:
                read = Reply(row["status"])
                material.found.not_known(SERVERS)
            material.found.compare(
                "replies",
                row["id"],
                status=(row["status"], read.status),
                chosen=(row["chosen"], read.chosen),
                value=(row["value"], read.value),
                correct=(row["correct"], flag(read.correct)),
            )

    material.each(
        "SELECT replies.id, status, text, presentation, settings, chosen, value, correct, attempts.content_id "
        "FROM replies LEFT JOIN attempts ON attempts.id = replies.attempt_id ORDER BY replies.rowid",
        one,
    )


def uses_of_replies(material: Material) -> None:
    """Hold how each reply counted for a candidate against the reply."""
    if not material.has("uses", "correct"):
        material.found.not_known(OLD)
        return
    old = "replies.request = '{}'" if material.has("replies", "request") else "1"

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
        elif row["reply"] is None:
            material.found.add("uses", row["id"], f"the reply {row['used_id']} that it names is not there")
        elif row["counted"] is None and row["old"]:
            material.found.not_known(OLD)
        else:
            counts = row["correct"]
            if row["reused"]:
                again = grade_again(candidate, json.loads(row["settings"]).get("mode"), row)
                counts = None if again is None else flag(again.correct)
            material.found.compare("uses", row["id"], correct=(row["counted"], counts))

    material.each(
        "SELECT uses.id, uses.used_id, uses.reused, uses.correct AS counted, replies.id AS reply, replies.text, "
        f"replies.model_served, replies.value, replies.chosen, replies.correct, replies.settings, {old} AS old, "
        "attempts.content_id FROM uses LEFT JOIN replies ON replies.id = uses.used_id "
        "LEFT JOIN attempts ON attempts.id = uses.attempt_id WHERE uses.kind = 'reply' ORDER BY uses.rowid",
        one,
    )


_COUNTS: Final = (
    "SELECT replies.screen, total(uses.correct = 1) AS correct, count(uses.correct) AS chosen FROM uses "
    "JOIN replies ON replies.id = uses.used_id WHERE uses.attempt_id = ? AND uses.kind = 'reply' GROUP BY 1"
)


def screen_gates(material: Material) -> None:
    """Hold each verdict of gate screen against the replies that it rests on, by c, m and k."""
    if not material.has("uses", "correct"):
        return
    material.each(
        "SELECT gates.*, attempts.run_id FROM gates LEFT JOIN attempts ON attempts.id = gates.attempt_id "
        "WHERE gate = 'screen' ORDER BY gates.rowid",
        lambda row: _gate(material, row),
    )


def _gate(material: Material, row: Row) -> None:
    found, run = material.found, material.run(row["run_id"])
    if run is None:
        found.not_known(GONE)
        return
    # An error by a count is one that can be counted again.
    if row["verdict"] == "error" and row["reason"] not in ("provider", "inconclusive"):
        found.not_known(MACHINERY)
        return
    counts = {each["screen"]: each for each in material.rows(_COUNTS, [row["attempt_id"]])}
    if _of_schema_1(material, row["attempt_id"]):
        found.not_known(OLD)
        return
    results = []
    for screen in run["settings"]["screens"]:
        if screen.get("mode") is not None:
            continue
        counted = counts.get(screen["name"], {"correct": 0, "chosen": 0})
        n = screen["samples"]
        count = Count(int(counted["correct"]), n - counted["chosen"], n, screen["reject_at"])
        results.append(_came_to(count.decided))
    verdict = deciding(results).verdict if results else "no verdict: there is no screen"
    found.compare("gates", row["id"], verdict=(row["verdict"], verdict))


def _came_to(decided: str | None) -> GateResult:
    if decided == "rejected":
        return GateResult("rejected")
    return GateResult("passed" if decided == "passed" else "error")


def _of_schema_1(material: Material, attempt_id: str) -> bool:
    """Whether any of the replies of an attempt is of the schema in which uses did not say how a reply counted."""
    sql = (
        "SELECT 1 FROM uses JOIN replies ON replies.id = uses.used_id WHERE uses.attempt_id = ? "
        "AND uses.kind = 'reply' AND uses.correct IS NULL AND replies.request = '{}' LIMIT 1"
    )
    return any(True for _ in material.rows(sql, [attempt_id]))
