"""How an agent's program is started, and what it says that it did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ..providers import Tokens
from ..sandbox.profile import DOOR

ADDRESS: Final = "http://{}:{}".format(*DOOR)
"""Where a program in the sandbox finds its model, below `/v1`."""
KEY: Final = "toolgate"
"""What it is given for a key. The provider's own stays outside."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a program is started.

    Attributes:
        command: Its arguments, the first the path of the executable.
        shown: Directories of the host that it needs, read-only.
        env: Additions to the environment of a script.
        files: Path below its home -> content, there before it starts.
        nested: It makes sandboxes of its own for the commands it runs.
    """

    command: tuple[str, ...]
    shown: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """What a program said that it did.

    Attributes:
        transcript: Its turns and commands, as plain JSON types.
        failure: Why it could not do its work, in its own words; empty if it did.
        note: How it came to its end, where that is no failure of its own.
        tokens: What it used, where it keeps count; taken where our own count does not know.
        whole: Whether it came to its end as it should, whatever its exit status; None leaves that to its exit status.
    """

    transcript: tuple[dict[str, Any], ...] = ()
    failure: str = ""
    note: str = ""
    tokens: Tokens | None = None
    whole: bool | None = None
