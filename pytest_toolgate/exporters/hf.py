"""`hf`: a data set as `datasets` of Hugging Face loads it: Parquet and a card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..candidate.model import LETTERS
from ..release.card import card
from ..release.items import Release
from ..release.rows import rows
from .protocol import MissingExtra


def export(release: Release, folder: Path) -> None:
    """Write `data/test.parquet`, `data/rejected.parquet` and `README.md`.

    Raises:
        MissingExtra: PyArrow is not installed.
    """
    found = rows(release)
    (folder / "data").mkdir()
    for split, of_split in found.items():
        _write(of_split, folder / "data" / f"{split}.parquet", release)
    files = {split: f"data/{split}.parquet" for split, of_split in found.items() if of_split}
    (folder / "README.md").write_text(card(release, files), "utf-8")


def _write(found: Sequence[Mapping[str, Any]], path: Path, release: Release) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        sentence = "format `hf` needs PyArrow: type pip install 'pytest-toolgate[export]'"
        raise MissingExtra(sentence) from None
    schema = _schema(pyarrow).with_metadata({"canary": release.canary_line})
    table = pyarrow.Table.from_pylist([dict(row) for row in found], schema=schema)
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _schema(arrow: Any) -> Any:  # noqa: ANN401 - PyArrow's, which is loaded only here
    text = arrow.string()
    lettered = arrow.struct([(letter, text) for letter in LETTERS])
    packages = arrow.list_(arrow.struct([("name", text), ("version", text)]))
    run = [("number", arrow.int64()), *((name, text) for name in ("printed", "value", "python"))]
    run += [("packages", packages), ("sandbox", text), ("time", text)]
    review = [(name, text) for name in ("reviewer", "verdict", "note", "time")]
    special = {
        "options": lettered,
        "tags": arrow.list_(text),
        "distractors": lettered,
        "reproduced": arrow.list_(arrow.struct(run)),
        "review": arrow.list_(arrow.struct(review)),
    }
    names = (
        *("id", "domain", "question", "options", "answer", "value", "tags", "distractors", "solution"),
        *("fingerprint", "presentation", "outcome", "gate", "reason", "sentence", "audit", "reproduced", "review"),
        *("attempt", "path", "record", "canary"),
    )
    return arrow.schema([(name, special.get(name, text)) for name in names])
