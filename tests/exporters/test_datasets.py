"""`datasets` of Hugging Face loads a release, and `mlcroissant` reads its metadata."""

import json
from pathlib import Path

import pytest

from pytest_toolgate.release import Release
from pytest_toolgate.release.rows import rows

from .tools import run

pytestmark = pytest.mark.slow
LOAD = """
import json, sys
from datasets import load_dataset
found = load_dataset(sys.argv[1])
print("FOUND", json.dumps({name: split.to_list() for name, split in found.items()}))
"""
VALIDATE = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(sys.argv[1])
issues = found.metadata.ctx.issues
sets = {
    each.name: [{key: value and value.decode() for key, value in row.items()} for row in found.records(each.id)]
    for each in found.metadata.record_sets
}
print("FOUND", json.dumps({
    "version": found.metadata.conforms_to, "errors": list(issues.errors), "warnings": list(issues.warnings),
    "sets": sets, "files": [each.content_url for each in found.metadata.distribution],
}))
"""


@pytest.mark.parametrize("at", ["hf", "."])
def test_both_cards_lead_to_the_same_rows(folder: Path, release: Release, tmp_path: Path, at: str) -> None:
    """The Parquet files and, from the card of the whole release, the JSON lines."""
    printed = run("lm-eval", "python", "-c", LOAD, folder / at, cwd=tmp_path)
    assert json.loads(printed.partition("FOUND ")[2]) == rows(release)


def test_metadata_is_valid_and_reads_the_data(folder: Path, release: Release, tmp_path: Path) -> None:
    printed = run("mlcroissant", "python", "-c", VALIDATE, folder / "croissant.json", cwd=tmp_path)
    found = json.loads(printed.partition("FOUND ")[2])
    assert found["version"] == ["http://mlcommons.org/croissant/1.1"]
    assert (found["errors"], found["warnings"]) == ([], [])
    assert {split: len(records) for split, records in found["sets"].items()} == {"test": 5, "rejected": 2}
    told = {record["test/id"]: record for record in found["sets"]["test"]}
    for one in release.items:
        assert (told[one.id]["test/question"], told[one.id]["test/value"]) == (one.question, one.value)
    assert len(found["files"]) == 4
