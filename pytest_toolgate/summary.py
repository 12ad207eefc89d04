"""What the terminal says: the word for each result, and the section at the end."""

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .config import Tier
    from .controller import Controller
    from .gates import Attempt, Run
    from .store import Store

_LETTERS = {"accepted": ".", "provisional": ".", "rejected": "F", "review": "F", "error": "E"}
_CATEGORIES = {
    "accepted": "passed",
    "provisional": "passed",
    "rejected": "failed",
    "review": "failed",
    "error": "error",
}
_WIDTH = 200


def status(report: Any) -> tuple[str, str, str | tuple[str, dict[str, bool]]]:  # noqa: ANN401 - pytest passes any report
    """Category, letter and word of a candidate's report."""
    attempt = json.loads(report.toolgate)
    outcome = attempt["outcome"]
    word = " ".join(filter(None, (outcome.upper(), attempt["reason"])))
    if attempt["reused"]:
        word += " (reused)" if not attempt["made"] else " (partly reused)"
    color = {"passed": "green", "failed": "red", "error": "red"}[_CATEGORIES[outcome]]
    return _CATEGORIES[outcome], _LETTERS[outcome], (word, {color: True})


def isolation(tier: "Tier") -> str:
    """A warning where scripts are less isolated than by default, else nothing."""
    kept = {
        "bubblewrap": "",
        "landlock": "scripts share processes, /dev/shm and file names with this machine",
        "none": "scripts can read, write and send whatever you can",
    }[tier]
    return kept and f"warning: sandbox `{tier}`: {kept}"


def write(
    terminal: pytest.TerminalReporter, controller: "Controller", store: "Store", run: "Run", tier: "Tier"
) -> None:
    """The summary section: funnel, replies, then every candidate that was not accepted."""
    attempts = controller.attempts
    from .gates.domain_preflight import failed_domains
    from .gates.workbench import paid_work_stopped
    from .pool_summary import pool_lines
    from .solver_summary import solver_lines

    terminal.section("toolgate")
    checked = store.query(
        "SELECT 1 FROM gates JOIN attempts ON attempts.id = attempt_id WHERE run_id = ? AND gate = 'check' LIMIT 1",
        [run.id],
    )
    for line in (*_funnel(attempts, run, checked=bool(checked)), *pool_lines(store, run.id)):
        terminal.write_line(line)
    for line in (*_replies(store, run), *solver_lines(store, run.id), *_cues(store, run), *_keys(store, run)):
        terminal.write_line(line)
    for failed in failed_domains(run):
        terminal.write_line(f"preflight failed: {failed}", red=True)
    if warning := isolation(tier):
        terminal.write_line(warning, yellow=True)
    if stopped := paid_work_stopped(run):
        terminal.write_line(f"paid work of this run was stopped: {stopped}", red=True)
    for attempt in attempts:
        if attempt.outcome != "accepted" or attempt.warnings:
            terminal.write_line(_line(attempt))
    for path in controller.removed:
        terminal.write_line(f"{path}: removed, its candidate is no longer accepted")
    for nodeid in controller.not_run:
        terminal.write_line(f"{nodeid.split('::')[0]}: error: not-run: the session ended before its turn")
    for problem in controller.problems:
        terminal.write_line(f"INTERNAL: {problem}", red=True)


def _funnel(attempts: list["Attempt"], run: "Run", *, checked: bool) -> list[str]:
    """How many candidates reached and passed each gate; those without a verdict did not fail, and stand apart."""
    lines = []
    left = attempts
    order = [step for gate in run.gates for step in ((gate, "check") if gate == "verify" and checked else (gate,))]
    for gate in order:
        entered = len(left)
        stopped = [
            attempt for attempt in left if attempt.gate == gate and attempt.outcome in ("rejected", "review", "error")
        ]
        left = [attempt for attempt in left if attempt not in stopped]
        parts = [f"{gate:<8} {entered:>5} in {len(left):>5} passed"]
        for outcome, words in (("rejected", "rejected"), ("review", "review"), ("error", "without verdict")):
            reasons = Counter(attempt.reason for attempt in stopped if attempt.outcome == outcome)
            if reasons:
                named = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
                parts.append(f"{reasons.total()} {words} ({named})")
        lines.append("  ".join(parts))
    unjudged = sum(attempt.outcome == "error" for attempt in attempts)
    judged = len(attempts) - unjudged
    outcomes = Counter(attempt.outcome for attempt in attempts)
    shown = ", ".join(
        f"{outcomes[name]} {name}" for name in ("accepted", "provisional", "rejected", "review") if outcomes[name]
    )
    lines.append(f"{judged} judged, {unjudged} without verdict" + (f": {shown}" if shown else ""))
    reused = sum(attempt.reused for attempt in attempts)
    made = sum(attempt.made for attempt in attempts)
    lines.append(f"{made} model calls and agent runs made, {reused} reused")
    if run.audit is not None:
        lines.append(f"audit `{run.audit}`: accepted items were neither written nor removed")
    elif outcomes["accepted"]:
        lines.append(f"accepted items in {run.shown(run.accepted)}")
    return lines


def _replies(store: "Store", run: "Run") -> list[str]:
    """Each screen's replies of this run, every kind for itself: only an answer is right or wrong."""
    rows = store.query(
        "SELECT replies.screen, replies.status, uses.correct, "
        "json_extract(replies.settings, '$.mode') AS mode, count(*) AS number FROM uses "
        "JOIN replies ON replies.id = uses.used_id JOIN attempts ON attempts.id = uses.attempt_id "
        "WHERE attempts.run_id = ? AND uses.kind = 'reply' GROUP BY 1, 2, 3, 4 ORDER BY 1",
        [run.id],
    )
    cue_screens = {row["screen"] for row in rows if row["mode"]}
    screens: dict[str, Counter[str]] = {}
    for row in rows:
        kind = {1: "right", 0: "wrong"}.get(row["correct"], row["status"])
        screens.setdefault(row["screen"], Counter())[kind] += row["number"]
    lines = [
        f"replies of {'cue ' if name in cue_screens else ''}screen `{name}`: "
        + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        for name, kinds in screens.items()
    ]
    cost = store.query(
        "SELECT count(cost) AS known, count(*) AS calls, total(cost) AS usd FROM "
        "(SELECT cost FROM replies WHERE run_id = :run AND status <> 'failed' "
        "UNION ALL SELECT cost FROM agent_replies WHERE run_id = :run AND status <> 'failed' "
        "UNION ALL SELECT cost FROM preflights WHERE run_id = :run AND status <> 'failed')",
        {"run": run.id},
    )[0]
    if cost["usd"]:
        unknown = cost["calls"] - cost["known"]
        lines.append(f"cost {cost['usd']:.4f} USD" + (f", not counting {unknown} of unknown price" if unknown else ""))
    return lines


def _cues(store: "Store", run: "Run") -> list[str]:
    """What guessers without any model score on the candidates that passed the screens; a warning for one of them."""
    from .pool.balance import middle_value_warning
    from .screen.cues import pool_line, pool_scores

    sql = "SELECT attempt_id, cue, score FROM cues JOIN attempts ON attempts.id = attempt_id WHERE run_id = ?"
    rows = store.query(sql, [run.id])
    scores: dict[str, dict[str, float | None]] = {}
    for row in rows:
        scores.setdefault(row["attempt_id"], {})[row["cue"]] = row["score"]
    if not scores:
        return []
    warning = middle_value_warning(pool_scores(scores.values()).get("middle-value"))
    return [pool_line(list(scores.values())), *([f"warning: {warning}"] if warning else [])]


def _keys(store: "Store", run: "Run") -> list[str]:
    """A warning when the answers of what passed gather under one letter."""
    from .screen.key_balance import imbalance

    rows = store.query(
        "SELECT json_extract(content, '$.answer') AS answer FROM outcomes "
        "JOIN attempts ON attempts.id = outcomes.attempt_id JOIN candidates ON candidates.id = attempts.content_id "
        "WHERE attempts.run_id = ? AND outcomes.outcome IN ('accepted', 'provisional')",
        [run.id],
    )
    warning = imbalance(row["answer"] for row in rows)
    return [f"warning: {warning}"] if warning else []


def _line(attempt: "Attempt") -> str:
    head = attempt.headline if attempt.outcome != "accepted" else "accepted"
    text = "; ".join([f"{attempt.path}: {head}", *(f"warning: {warning}" for warning in attempt.warnings)])
    return text if len(text) <= 2 * _WIDTH else text[: 2 * _WIDTH - 3] + "..."
