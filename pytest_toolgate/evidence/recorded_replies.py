"""Gate screen by what models said: each reply is read and graded again, and the replies are counted again."""

import json
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from ..gates.grading import Count, Reply, deciding, grade_again, grade_text
from ..gates.result import GateResult
from ..gates.screen import KEPT_TEXT
from ..store import StoreError
from .findings import Part
from .material import GONE, MACHINERY, Material, Row, flag, presentation
from .reading import reading

CUT: Final = "the reply was longer than what is stored of it"
SERVERS: Final = "a reply that is missing by its server's word has no text to be read"
OLD: Final = "rows of schema 1 do not say how a reply counted"
# What a reply with a text comes to; any other status is the server's own.
_READ: Final = ("answered", "wrong-form")
# Reading takes half a millisecond each, and a process as long as many of them to start.
_AT_ONCE: Final = 10_000


def replies(material: Material) -> None:
    """Read every reply again and hold what it was said to choose against that; many of them on all cores.

    Raises:
        StoreError: A process that reads some of them was ended from outside.
    """
    last = next(iter(material.rows("SELECT coalesce(max(rowid), 0) AS last FROM replies")))["last"]
    if last <= _AT_ONCE:
        _read_again(material, 0, last)
        return
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as processes:
        begins = range(0, last, _AT_ONCE)
        try:
            for part in processes.map(partial(_part, material.path, _AT_ONCE), begins):
                material.found.take(part)
        except BrokenProcessPool:
            raise StoreError(
                f"the replies of {material.path} could not be read again: a process that read them was killed, "
                "as by a machine without memory"
            ) from None


def _part(path: Path, count: int, after: int) -> Part:
    """The replies of a part of the table, read in a process of its own."""
    with reading(path) as (connection, found):
        _read_again(Material(connection, found), after, after + count)
        return found.part


def _read_again(material: Material, after: int, last: int) -> None:
    # Many replies are nothing but a letter.
    read = lru_cache(maxsize=4096)(partial(_read, material))

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
        elif len(row["text"]) >= KEPT_TEXT:
            material.found.not_known(CUT)
        else:
            if row["status"] in _READ:
                reply = read(row["content_id"], row["settings"], row["presentation"], row["text"])
            else:
                reply = Reply(row["status"])
                material.found.not_known(SERVERS)
            material.found.compare(
                "replies",
                row["id"],
                status=(row["status"], reply.status),
                chosen=(row["chosen"], reply.chosen),
                value=(row["value"], reply.value),
                correct=(row["correct"], flag(reply.correct)),
            )

    material.each(
        "SELECT replies.id, status, text, presentation, settings, chosen, value, correct, attempts.content_id "
        "FROM replies LEFT JOIN attempts ON attempts.id = replies.attempt_id "
        "WHERE replies.rowid > ? AND replies.rowid <= ? ORDER BY replies.rowid",
        one,
        [after, last],
    )


def _read(material: Material, content_id: str, settings: str, order: str, text: str) -> Reply:
    candidate = material.candidate(content_id)
    assert candidate is not None
    return grade_text(candidate, json.loads(settings).get("mode"), presentation(order), text, None)


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
