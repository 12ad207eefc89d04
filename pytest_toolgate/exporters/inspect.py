"""`inspect`: a task of Inspect AI, which needs Inspect AI alone."""

from pathlib import Path
from typing import Final

from ..release.items import Release
from ..release.rows import json_lines

# Nothing of a stranger comes into this file: what differs is a name, a date and a GUID.
_TASK: Final = '''"""The release {name} of {date} as a task of Inspect AI.

    inspect eval task.py --model PROVIDER/MODEL

{canary}
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice


@task(name="{name}")
def {identifier}() -> Task:
    """Questions of four options each, asked without tools."""
    return Task(
        dataset=json_dataset(str(Path(__file__).parent / "items.jsonl"), name="{name}"),
        solver=multiple_choice(),
        scorer=choice(),
    )
'''


def export(release: Release, folder: Path) -> None:
    """Write `task.py` and `items.jsonl`."""
    task = _TASK.format(
        name=release.name,
        date=release.date,
        canary=release.canary_line,
        identifier=f"toolgate_{release.name.replace('-', '_')}",
    )
    (folder / "task.py").write_text(task, "utf-8")
    samples = [
        {
            "id": item.id,
            "input": item.question,
            "choices": list(item.options.values()),
            "target": item.answer,
            "metadata": {"domain": item.domain, "tags": list(item.tags), "canary": release.canary},
        }
        for item in release.items
    ]
    (folder / "items.jsonl").write_text(json_lines(samples), "utf-8")
