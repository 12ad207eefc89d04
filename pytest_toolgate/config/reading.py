"""Reading `toolgate.yaml`: values checked against the dataclasses, faults told with file, line and key."""

import dataclasses
import difflib
import math
import os
import re
import types
import typing
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from ..candidate.document import Node, decode, read_bytes, read_document
from ..candidate.faults import CandidateError
from .checking import Known, check
from .model import Settings

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Smallest value that makes sense, for numbers where zero or less would not.
_LEAST: Mapping[str, float] = {
    "attempts": 1, "max_wait": 0, "max_concurrency": 1, "requests_per_minute": 1, "tokens_per_minute": 1,
    "timeout": 0.001, "time_limit": 0.001, "repeats": 1,
    "memory": 64 * 1024**2, "disk": 1024**2, "samples": 1, "reject_at": 1, "max_output_tokens": 1,
    "max_turns": 1, "accept": 1, "usd": 0, "usd_per_candidate": 0, "input": 0, "cached": 0, "output": 0,
}  # fmt: skip
_MOST = 1e15
# Lists of one may be written without being a list.
_ONE_OR_MORE = ("solve",)


class ConfigError(Exception):
    """A configuration that cannot be used, as one sentence with file, line and key."""


def read_settings(
    path: Path, *, kinds: Collection[str], agents: Collection[str], checks: Collection[str] = ()
) -> Settings:
    """Read and check a configuration file.

    Args:
        path: The file.
        kinds: Known provider kinds.
        agents: Known agents.
        checks: Known extra checks.

    Raises:
        ConfigError: The file cannot be read or does not make sense.
    """
    try:
        root = read_document(decode(read_bytes(path)), is_json=path.suffix == ".json")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except CandidateError as error:
        fault = error.faults[0]
        where = f"{path}:{fault.line}" if fault.line else f"{path}"
        raise ConfigError(f"{where}: {fault.sentence}") from None
    reader = _Reader(path)
    settings: Settings = reader.build(Settings, root, "")
    check(settings, reader.refuse, root, Known(kinds, agents, checks))
    return settings


class _Reader:
    """Builds dataclasses from nodes, following their type hints."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse(self, sentence: str, node: Node, key: str) -> ConfigError:
        field = f" `{key}`" if key else ""
        return ConfigError(f"{self.path}:{node.line}:{field} {sentence}")

    def build(self, cls: Any, node: Node, key: str, **given: Any) -> Any:  # noqa: ANN401 - any settings class
        if not isinstance(node.value, dict):
            raise self.refuse("must be a mapping", node, key)
        hints = typing.get_type_hints(cls)
        names = [field.name for field in dataclasses.fields(cls) if field.name not in given]
        values = dict(given)
        for name, child in node.value.items():
            inner = f"{key}.{name}" if key else name
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)[0]
                raise self.refuse(f"is not a known key; the nearest known one is `{near}`", child, inner)
            if child.value is not None:
                values[name] = self.value(hints[name], child, inner)
        for field in dataclasses.fields(cls):
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if required and field.name not in values:
                raise self.refuse(f"needs the key `{field.name}`", node, key)
        return cls(**values)

    def value(self, hint: Any, node: Node, key: str) -> Any:  # noqa: ANN401 - what the hint says
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            words, *other = (a for a in arguments if a is not type(None))
            return self.word_or(words, other[0], node, key) if other else self.value(words, node, key)
        if origin is Mapping:
            return self.mapping(arguments[1], node, key)
        if origin is tuple:
            if key in _ONE_OR_MORE and isinstance(node.value, dict):
                return (self.value(arguments[0], node, key),)
            if not isinstance(node.value, list):
                raise self.refuse("must be a list", node, key)
            return tuple(self.value(arguments[0], child, f"{key}[{i}]") for i, child in enumerate(node.value))
        if dataclasses.is_dataclass(hint):
            return self.build(hint, node, key)
        if key.endswith(".api_key_env") and isinstance(node.value, str) and "$" in node.value:
            raise self.refuse("must be the name of an environment variable, not its value", node, key)
        return self.scalar(hint, self.text(node, key), node, key)

    def word_or(self, words: Any, number: Any, node: Node, key: str) -> Any:  # noqa: ANN401 - what the hint says
        text = self.text(node, key)
        if text in (known := typing.get_args(words)):
            return text
        try:
            return self.number(number, text, node, key)
        except ConfigError:
            sentence = f"must be {', '.join(known)} or a whole number from 1 on, not `{node.value}`"
            raise self.refuse(sentence, node, key) from None

    def mapping(self, cls: Any, node: Node, key: str) -> dict[str, Any]:  # noqa: ANN401 - any settings class
        if not isinstance(node.value, dict):
            raise self.refuse("must be a mapping", node, key)
        if not dataclasses.is_dataclass(cls):
            written = {name: child for name, child in node.value.items() if child.value is not None}
            return {name: self.value(cls, child, f"{key}.{name}") for name, child in written.items()}
        given = {"name"} & {field.name for field in dataclasses.fields(cls)}
        return {
            name: self.build(cls, child, f"{key}.{name}", **dict.fromkeys(given, name))
            for name, child in node.value.items()
        }

    def text(self, node: Node, key: str) -> str:
        if not isinstance(node.value, str):
            raise self.refuse("must be a single value", node, key)

        def expand(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise self.refuse(f"names the environment variable {match[1]}, which is not set", node, key)
            return os.environ[match[1]]

        return _VARIABLE.sub(expand, node.value)

    def scalar(self, hint: Any, text: str, node: Node, key: str) -> Any:  # noqa: ANN401 - what the hint says
        if typing.get_origin(hint) is Literal:
            if text not in typing.get_args(hint):
                raise self.refuse(f"must be one of {', '.join(typing.get_args(hint))}, not `{node.value}`", node, key)
            return text
        if hint is bool:
            if text.lower() not in ("true", "false"):
                raise self.refuse(f"must be true or false, not `{node.value}`", node, key)
            return text.lower() == "true"
        if hint in (int, float):
            return self.number(hint, text, node, key)
        if not text.strip():
            raise self.refuse("is empty", node, key)
        # Relative to the file that says so: it means the same wherever pytest is started.
        return self.path.absolute().parent / Path(text).expanduser() if hint is Path else text

    def number(self, hint: type[int] | type[float], text: str, node: Node, key: str) -> float:
        try:
            number = hint(text)
        except ValueError:
            kind = "a whole number" if hint is int else "a number"
            raise self.refuse(f"must be {kind}, not `{node.value}`", node, key) from None
        least = _LEAST.get(key.rsplit(".", 1)[-1], -math.inf)
        # The bound above keeps a whole number out of reach of floats and of SQLite from going on.
        if not least <= number <= _MOST:
            raise self.refuse(f"must be at least {least:g} and at most {_MOST:g}, not `{node.value}`", node, key)
        return number
