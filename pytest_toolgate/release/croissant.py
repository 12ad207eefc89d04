"""Croissant 1.1 metadata of a release: which files there are, with their hashes, and what their columns mean."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .items import Release

_CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_COLUMNS: Final[Mapping[str, str]] = {
    "id": "Name of the item, or of the candidate; null where its file could not be read.",
    "domain": "The target software.",
    "question": "The question.",
    "answer": "Letter of the reproduced answer; of a rejected attempt, of the answer that was proposed.",
    "value": "Text of that option.",
    "solution": "The script that comes to the answer.",
    "outcome": "reproduced, rejected or review.",
    "gate": "Where a rejected attempt ended.",
    "reason": "Why, as one word.",
    "sentence": "Why, in words.",
    "presentation": "The author's own letters of the options shown as A, B, C, D.",
    "fingerprint": "Hash of the candidate.",
    "record": "File with the whole record of an item.",
    "canary": "GUID by which copies of the release can be found.",
}
_JSON_LINES: Final = "application/jsonlines"
_PARQUET: Final = "application/x-parquet"


def croissant(release: Release, folder: Path) -> str:
    """`croissant.json` of a release whose data lie in a folder.

    Columns are described where there is Parquet: readers of JSON lines take `0.10` for a number.
    """
    found = [
        path
        for pattern in ("jsonl/*.jsonl", "hf/data/*.parquet")
        for path in sorted(folder.glob(pattern))
    ]  # fmt: skip
    files = [_file(path, path.relative_to(folder).as_posix()) for path in found]
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": release.name,
        "description": (
            f"{len(release.items)} multiple-choice questions with reproduced answers, and {len(release.rejected)} "
            f"attempts that led to none. {release.canary_line}."
        ),
        "license": f"https://spdx.org/licenses/{release.licence}.html",
        "version": "1.0.0",  # of the data set of this name; which release it is, its date and canary say
        "datePublished": release.date,
        "creator": {"@type": "sc:Organization", "name": f"{release.name} contributors"},
        "url": "https://pypi.org/project/pytest-toolgate/",
        "citeAs": f"{release.name}, {release.date}, canary {release.canary}",
        "isLiveDataset": False,
        "keywords": ["benchmark", "multiple choice", release.canary_line],
        "distribution": files,
        "recordSet": [_record_set(file) for file in files if file["encodingFormat"] == _PARQUET],
    }
    return f"{json.dumps(document, indent=2)}\n"


def _file(path: Path, name: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _PARQUET if path.suffix == ".parquet" else _JSON_LINES,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _record_set(file: Mapping[str, Any]) -> dict[str, Any]:
    split = Path(file["@id"]).stem
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{column}",
            "name": column,
            "description": meaning,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": file["@id"]}, "extract": {"column": column}},
        }
        for column, meaning in _COLUMNS.items()
    ]
    return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}
