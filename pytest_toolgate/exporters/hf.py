"""`hf`: a data set as `datasets` of Hugging Face loads it: Parquet and a card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..release.card import card
from ..release.items import Release
from ..release.rows import COLUMNS, Kind, Struct, rows
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
    return arrow.schema([(name, _type(kind, arrow)) for name, kind in COLUMNS.items()])


def _type(kind: Kind, arrow: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(kind, Struct):
        struct = arrow.struct([(name, _type(part, arrow)) for name, part in kind.parts.items()])
        return arrow.list_(struct) if kind.many else struct
    return {"string": arrow.string(), "int64": arrow.int64(), "strings": arrow.list_(arrow.string())}[kind]
