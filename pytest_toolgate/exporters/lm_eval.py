"""`lm-eval`: a task of lm-evaluation-harness, which needs that alone."""

from pathlib import Path
from typing import Final

from ..release.items import Release
from ..release.rows import json_lines

# Nothing of a stranger comes into these files: what differs is a name, a date and a GUID. Jinja fills in texts as they
# are and reads none of them as a template.
_TASK: Final = """\
# The release {name} of {date} as a task of lm-evaluation-harness.
#
#     lm-eval run --include_path . --tasks {task} --model MODEL ...
#
# {canary}
task: {task}
custom_dataset: !function items.load
test_split: test
output_type: generate_until
doc_to_text: |-
  Answer the following question. Reply with one line that holds ANSWER: and the letter of one option, for example
  ANSWER: A

  {{{{question}}}}

  A) {{{{A}}}}
  B) {{{{B}}}}
  C) {{{{C}}}}
  D) {{{{D}}}}
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0.0
  max_gen_toks: 2048
filter_list:
  - name: answer-line
    filter:
      - function: regex
        regex_pattern: 'ANSWER:\\s*\\(?([A-D])\\b'
        group_select: -1
        fallback: no answer
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
  canary: "{guid}"
"""
_DATA: Final = '''"""The items of the release {name}, wherever its folder lies.

{canary}
"""

import json
from pathlib import Path

from datasets import Dataset, DatasetDict


def load(**_: object) -> DatasetDict:
    """The items as the only split."""
    lines = (Path(__file__).parent / "items.jsonl").read_text("utf-8").splitlines()
    return DatasetDict({{"test": Dataset.from_list([json.loads(line) for line in lines])}})
'''


def export(release: Release, folder: Path) -> None:
    """Write `<task>.yaml`, `items.py` and `items.jsonl`."""
    named = task_name(release)
    texts = {"name": release.name, "task": named, "date": release.date, "canary": release.canary_line}
    (folder / f"{named}.yaml").write_text(_TASK.format(**texts, guid=release.canary), "utf-8")
    (folder / "items.py").write_text(_DATA.format(**texts), "utf-8")
    rows = [
        {
            "id": item.id,
            "question": item.question,
            **item.options,
            "answer": item.answer,
            "domain": item.domain,
            "canary": release.canary,
        }
        for item in release.items
    ]
    (folder / "items.jsonl").write_text(json_lines(rows), "utf-8")


def task_name(release: Release) -> str:
    """The task's name, which the harness wants as an identifier."""
    return f"toolgate_{release.name.replace('-', '_')}"
