"""The record of an accepted item as the page holds it: whole where it is of a usual size, and no larger than that."""

import json
from typing import Any, Final

LONGEST: Final = 64_000
"""Characters of one record on the page."""
_TEXTS: Final = (16_000, 4_000, 1_000, 200, 40)
_MOST_ENTRIES: Final = 200


def shortened(record: dict[str, Any], longest: int = LONGEST) -> tuple[dict[str, str], bool]:
    """The parts of a record as JSON texts, and whether anything was cut.

    Long texts are cut, and shorter ones too as long as the whole is too long; each says how long it was.

    Args:
        record: What `store.record.read_record` returns.
        longest: Characters of all parts together; a record of very many parts is somewhat longer.
    """
    parts = {"item": record["item"], **record["record"]}
    found: dict[str, str] = {}
    for length in _TEXTS:
        cut = {name: _cut(part, length) for name, part in parts.items()}
        found = {name: json.dumps(part, indent=2, ensure_ascii=False) for name, part in cut.items()}
        if sum(map(len, found.values())) <= longest:
            return found, cut != parts
    return {name: text[: max(200, longest // len(found))] for name, text in found.items()}, True


def _cut(value: Any, length: int) -> Any:  # noqa: ANN401 - any JSON type
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]} ... [{len(value)} characters in all]"
    if isinstance(value, dict):
        return {key: _cut(inner, length) for key, inner in value.items()}
    if isinstance(value, list):
        more = [f"... [{len(value)} entries in all]"] if len(value) > _MOST_ENTRIES else []
        return [_cut(inner, length) for inner in value[:_MOST_ENTRIES]] + more
    return value
