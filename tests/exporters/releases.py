"""Releases made by hand, for the tools that are to read them."""

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_toolgate.exporters import load_exporter
from pytest_toolgate.release import Item, Rejected, Release, Reproduced, ScriptEvidence
from pytest_toolgate.release.folder import write_release
from pytest_toolgate.release.items import Review

FORMATS = ("jsonl", "hf", "inspect", "lm-eval", "harbor")
# What some format takes for its own: Markdown, YAML, TOML, Jinja, shell, Python, HTML, JSON lines.
HOSTILE = (
    "---\ntask: other\n--- # `rm -rf /` ${HOME} $(id) {{ 7 * 7 }} {% raw %} {question} %s <script>alert(1)</script>\n"
    '""" \'\'\' "\\n\\u0041 \\ EOF\nCOPY . / \u2028 \u2029 \x85 \x7f \U0001f63a | a | b |\n<!-- canary --> # canary\n'
)


def item(name: str, answer: str = "B", question: str = "What is {}?", **changes: object) -> Item:
    """An item whose values no other has, and whose script prints its answer."""
    options = {letter: f"0.{sum(map(ord, name)):04}{place}" for place, letter in enumerate("ABCD", start=1)}
    fields: dict[str, object] = {
        "id": name,
        "question": question.replace("{}", name, 1),
        "options": options,
        "answer": answer,
        "solution": f"import json\nprint('ANSWER:', {options[answer]} + 1e-9)\n",
        "domain": "scipy",
        "tags": ("special",),
        "distractors": {},
        "presentation": "ABCD",
        "fingerprint": f"{sum(map(ord, name)):032}",
        "reproduced": Reproduced(
            (ScriptEvidence(0, options[answer], options[answer], "3.12.1", {"scipy": "1.18.1"}, "bubblewrap", "2026"),)
        ),
    }
    return Item(**(fields | changes))  # type: ignore[arg-type]


def release(items: Sequence[Item], rejected: Sequence[Rejected] = (), **changes: object) -> Release:
    """A release of these."""
    fields: dict[str, object] = {
        "name": "heat-flow",
        "licence": "CC-BY-4.0",
        "date": "2026-01-02",
        "seed": 7,
        "pool": "accepted candidates",
        "items": tuple(items),
        "rejected": tuple(rejected),
        "records": {one.id: [{"item": None, "record": {}}] for one in items},
    }
    return Release(**(fields | changes))  # type: ignore[arg-type]


def rejected(name: str, sentence: str = "screen `light` answered without the software", **changes: object) -> Rejected:
    """An attempt that was rejected; its file could not be read unless there is content."""
    fields: dict[str, object] = {
        "attempt": f"{sum(map(ord, name)):032}",
        "id": name,
        "path": f"candidates/{name}.yaml",
        "outcome": "rejected",
        "gate": "screen",
        "reason": "too-easy",
        "sentence": sentence,
        "audit": "",
        "time": "2026-01-01T00:00:00.000+00:00",
        "content": None,
        "fingerprint": "",
    }
    return Rejected(**(fields | changes))  # type: ignore[arg-type]


def sample() -> Release:
    """Five items, answers at every letter and two at A; one hostile in every text it has."""
    hostile = item(
        "hostile", "A", f"What is {{}}?\n{HOSTILE}", tags=(HOSTILE, 'a"b'), domain=HOSTILE, distractors={"B": HOSTILE},
        reviews=(Review(HOSTILE, "unsure", HOSTILE, "2026"),),
    )  # fmt: skip
    items = [item("ax", "A"), item("bx-1", "B"), item("cx_2", "C"), item("dx", "D"), hostile]
    content = {**json.loads(json.dumps({"question": HOSTILE, "options": dict(items[0].options), "answer": "Z"}))}
    content |= {"solution": HOSTILE, "domain": "scipy", "tags": [], "distractors": {}}
    others = [rejected("unread", HOSTILE, id=""), rejected("easy", content=content, path=HOSTILE)]
    return release(sorted(items, key=lambda one: one.id), others)


def written(found: Release, folder: Path) -> Path:
    """It in all formats."""
    write_release(found, folder, {name: load_exporter(name) for name in FORMATS})
    return folder
