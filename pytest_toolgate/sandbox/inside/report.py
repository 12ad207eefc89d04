"""What the supervisor tells the runner: one line of JSON a message, written without the json module's cost."""

# contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: SIM105

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def tell(report: int, message: dict[str, Any]) -> None:
    """Send the runner one line; it may have ended meanwhile, which the end of the control pipe says."""
    said = ",".join(f'"{name}":{written(value)}' for name, value in message.items())
    try:
        os.write(report, f"{{{said}}}\n".encode("ascii"))
    except BrokenPipeError:
        pass


def written(value: object) -> str:
    """As JSON, for what a message holds."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return (
            '"'
            + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{min(ord(c), 0xFFFD):04x}" for c in value)
            + '"'
        )
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return repr(value)
