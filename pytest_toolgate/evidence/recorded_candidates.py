"""Candidates by their content: their hashes, and what guessers would have scored on them."""

from ..screen import cues as guessers
from .material import BROKEN, GONE, Material, Row


def candidates(material: Material) -> None:
    """Hold the hashes of each content against the content."""

    def one(row: Row) -> None:
        candidate = material.candidate(row["id"])
        if candidate is None:
            material.found.add("candidates", row["id"], "its content is no candidate's")
            return
        material.found.compare(
            "candidates",
            row["id"],
            fingerprint=(row["fingerprint"], candidate.fingerprint),
            presented=(row["presented"], candidate.presented),
            twin_key=(row["twin_key"], candidate.twin_key),
        )

    material.each("SELECT * FROM candidates ORDER BY rowid", one)
    material.each(
        "SELECT attempts.id, attempts.candidate_id, attempts.fingerprint, attempts.content_id FROM attempts "
        "WHERE content_id IS NOT NULL ORDER BY rowid",
        lambda row: _attempt(material, row),
    )


def _attempt(material: Material, row: Row) -> None:
    candidate = material.candidate(row["content_id"])
    if candidate is None:
        material.found.not_known(GONE)
        return
    material.found.compare(
        "attempts",
        row["id"],
        candidate_id=(row["candidate_id"], candidate.id),
        fingerprint=(row["fingerprint"], candidate.fingerprint),
    )


def cues(material: Material) -> None:
    """Hold what guessers picked and scored against what they pick."""
    if not material.has("cues", "picks"):
        return

    def one(row: Row) -> None:
        candidate = material.candidate(row["content_id"])
        if candidate is None:
            material.found.not_known(GONE)
            return
        if row["cue"] not in guessers.CUES:
            material.found.not_known(BROKEN)  # a later version's
            return
        material.found.compare(
            "cues",
            row["id"],
            picks=(row["picks"], "".join(guessers.picks(candidate.options)[row["cue"]])),
            score=(row["score"], guessers.scores(candidate.options, candidate.answer)[row["cue"]]),
        )

    material.each(
        "SELECT cues.*, attempts.content_id FROM cues LEFT JOIN attempts ON attempts.id = cues.attempt_id "
        "ORDER BY cues.rowid",
        one,
    )
