"""From the bytes of a candidate file to a tree of text, with the line of every node.

YAML's typing is what turns `no` into False and `0023` into 19; its aliases let a small file grow without
bound. So only the events of the parser are used: every scalar stays the text that was written, and what
could surprise a reader (anchors, tags, merge keys, duplicate keys, several documents) is refused.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .faults import CandidateError, Fault
from .unicode_form import MAX_MARKS, has_mark_run

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
# Control characters and lone surrogates: neither can be shown, sent or stored faithfully.
_BROKEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document.

    Attributes:
        value: Text, a list of nodes, a mapping of key to node, or None where nothing at all is written.
        line: Line where it starts, counted from 1.
    """

    value: "str | list[Node] | dict[str, Node] | None"
    line: int

    def plain(self) -> Any:  # noqa: ANN401 - JSON has no narrower type
        """The value without lines: text, lists and dicts only."""
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return self.value


def read_bytes(path: Path) -> bytes:
    """The content of a regular file, never more than `MAX_BYTES`.

    Raises:
        CandidateError: The file is larger.
        OSError: It cannot be read, which is not the candidate's fault.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CandidateError(Fault("too-large", f"the file is larger than {MAX_BYTES // 1024} KiB"))
    return data


def decode(data: bytes) -> str:
    """UTF-8 text, with or without a byte order mark.

    Raises:
        CandidateError: Another encoding, with the offset of the first bad byte.
    """
    try:
        # With its own codec for the mark, Python would count offsets from behind it.
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        sentence = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}; save the file as UTF-8"
        raise CandidateError(Fault("bad-yaml", sentence, data.count(b"\n", 0, error.start) + 1)) from None


def read_document(text: str, *, is_json: bool) -> Node:
    """The one document in `text` as a tree.

    Raises:
        CandidateError: It is outside the permitted subset; the fault's reason is `bad-yaml`.
    """
    root = _read_json(text) if is_json else _read_yaml(text)
    _refuse_broken_text(root)
    return root


def _refuse(sentence: str, line: int | None = None) -> CandidateError:
    return CandidateError(Fault("bad-yaml", sentence, line))


def _refuse_broken_text(node: Node, field: str = "") -> None:
    children: Iterable[tuple[str | int, Node]] = ()
    texts: Iterable[str] = ()
    if isinstance(node.value, str):
        texts = (node.value,)
    elif isinstance(node.value, list):
        children = enumerate(node.value)
    elif node.value is not None:
        texts, children = node.value, node.value.items()
    for text in texts:
        if bad := _BROKEN.search(text):
            sentence = f"holds the character U+{ord(bad[0]):04X}, which no text needs"
            raise CandidateError(Fault("bad-yaml", sentence, node.line, field))
        if has_mark_run(text):
            sentence = f"holds more than {MAX_MARKS} combining marks in a row, which no text needs"
            raise CandidateError(Fault("bad-yaml", sentence, node.line, field))
    for key, child in children:
        _refuse_broken_text(child, f"{field}.{key}" if field else str(key))


# --- JSON ------------------------------------------------------------------------------------------------


def _read_json(text: str) -> Node:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in items:
            if key in mapping:
                raise _refuse(f"the key `{key[:40]}` is given twice", _line_of_key(text, key, last=True))
            mapping[key] = value
        return mapping

    if _json_depth(text) > MAX_DEPTH:
        raise _refuse(f"nested deeper than {MAX_DEPTH} levels")
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise _refuse(f"not JSON: {error.msg.lower()} in column {error.colno}", error.lineno) from None
    return _from_json(value, text, 1, depth=1)


def _json_depth(text: str) -> int:
    """Deepest nesting, found without recursion so that a hostile file cannot exhaust the stack."""
    depth = deepest = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _line_of_key(text: str, key: str, *, last: bool = False) -> int:
    """Line of a key in JSON text. The parser keeps no positions; the first place that looks right will do."""
    quoted = json.dumps(key, ensure_ascii=False)
    at = text.rfind(quoted) if last else text.find(quoted)
    return text.count("\n", 0, max(at, 0)) + 1


def _from_json(value: Any, text: str, line: int, depth: int) -> Node:  # noqa: ANN401 - what the JSON parser returns
    if isinstance(value, dict):
        # Lines are looked up only where a message can need them, so that a huge file costs nothing extra.
        located = depth <= 2 and len(value) <= 64 and len(text) <= 65536
        return Node(
            {
                key: _from_json(child, text, _line_of_key(text, key) if located else line, depth + 1)
                for key, child in value.items()
            },
            line,
        )
    if isinstance(value, list):
        return Node([_from_json(child, text, line, depth + 1) for child in value], line)
    if isinstance(value, str):
        return Node(value, line)
    return Node({True: "true", False: "false", None: "null"}[value], line)


# --- YAML ------------------------------------------------------------------------------------------------


def _read_yaml(text: str) -> Node:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _one_document(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        hint = "; quote the text, or write it as a block after `|`" if "mapping values" in str(error.problem) else ""
        raise _refuse(f"not YAML: {_clean(error)}{hint}", mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        # The C parser counts bytes.
        line = (
            text.encode("utf-8", "replace")[: error.position].count(b"\n") + 1
            if isinstance(error.position, int)
            else None
        )
        raise _refuse(f"not YAML: {error.reason}", line) from None
    except yaml.YAMLError as error:
        raise _refuse(f"not YAML: {' '.join(str(error).split())[:200]}") from None


def _clean(error: Any) -> str:  # noqa: ANN401 - yaml is imported where it is used
    parts = (error.context, error.problem)
    return ", ".join(" ".join(str(part).split())[:160] for part in parts if part) or "it cannot be parsed"


def _one_document(events: Iterator[Any]) -> Node:
    import yaml

    root: Node | None = None
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            if event.tags:
                raise _refuse("tag directives are not allowed; write plain YAML", line)
            if root is not None:
                raise _refuse("holds several documents; one mapping is expected", line)
            root = _node(next(events), events, 1)
    if root is None:
        raise _refuse("the file is empty; one mapping of keys to values is expected")
    return root


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:  # noqa: ANN401 - a yaml event
    import yaml

    line = event.start_mark.line + 1
    if depth > MAX_DEPTH:
        raise _refuse(f"nested deeper than {MAX_DEPTH} levels", line)
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _refuse("anchors and aliases are not allowed; write the text out", line)
    if event.tag is not None:
        raise _refuse(f"tags such as `{event.tag[:40]}` are not allowed; all values are text", line)
    if isinstance(event, yaml.ScalarEvent):
        return Node(event.value.rstrip("\n") if event.style in ("|", ">") else event.value, line)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, depth + 1))
        return Node(items, line)
    return Node(_mapping(events, depth), line)


def _mapping(events: Iterator[Any], depth: int) -> dict[str, Node]:
    import yaml

    entries: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        line = event.start_mark.line + 1
        key = _node(event, events, depth + 1).value
        if not isinstance(key, str):
            raise _refuse("a key must be plain text", line)
        if key == "<<" and not event.style:
            raise _refuse("merge keys are not allowed; write the keys out", line)
        if key in entries:
            raise _refuse(f"the key `{key[:40]}` is given twice, first in line {entries[key].line}", line)
        value = next(events)
        empty = isinstance(value, yaml.ScalarEvent) and not value.style and not value.value
        node = _node(value, events, depth + 1)
        entries[key] = Node(None if empty else node.value, line)
    return entries
