"""What `toolgate db explain` says of one call or agent run, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..gates.result import escaped

_LONGEST = 600
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of one call of a screen, or of one agent run.

    Attributes:
        name: Which it is, as people read it.
        state: `reused`; `asked again`, since no reply so far counts; `changed`, since it was asked in another way;
            `never asked`; `not needed`, since what is recorded decides without it; or `not known`.
        sentence: Why.
        call: Its number; None for an agent run.
        reuse_key: Under which it is looked for; None where that cannot be said.
        reused: Key of the reply or agent run that is reused, else None.
        run: The run that paid for it.
        time: When it was recorded.
    """

    name: str
    state: str
    sentence: str
    call: int | None = None
    reuse_key: str | None = None
    reused: str | None = None
    run: str | None = None
    time: str | None = None

    def line(self) -> str:
        """All of it in one line."""
        text = f"{self.state}: {self.sentence}" if self.sentence else self.state
        return escaped(f"{self.name}: {text}".replace("\n", " "))


def reused(name: str, what: str, row: Row, call: int | None = None) -> Explanation:
    """Of a recorded reply or agent run that is used."""
    sentence = f"{what} {row['id']} of run {row['run_id']}, {row['time']}"
    return Explanation(name, "reused", sentence, call, row["reuse_key"], row["id"], row["run_id"], row["time"])


def ended(what: str, rows: Sequence[Row], column: str, under: str) -> str:
    """How those ended that were asked in the same way, and brought nothing that counts."""
    last, count = rows[-1], len(rows)
    plural = "replies" if what == "reply" else f"{what}s"
    note = " ".join(last["note"].split())[:_LONGEST]
    which = f"the only {what}" if count == 1 else f"the last of {count} {plural}"
    return f"{which} under {under} ended as `{last[column]}`" + (f" ({note})" if note else "")


def changed(row: Row, changes: Sequence[str]) -> str:
    """What has changed since a reply was asked for, or an agent run made."""
    # The key itself may have been made otherwise, by another version.
    what = "; ".join(changes) or f"nothing recorded says how; pytest-toolgate was {row['version']}"
    return f"{what} (asked {row['time']})"


def was(name: str, before: object, now: object) -> list[str]:
    """What a setting was and is; empty where it is the same."""
    return [] if before == now else [f"{name}: was {_shown(before)}, now {_shown(now)}"]


def _shown(value: object) -> str:
    return "not set" if value is None else f"`{str(value)[:100]}`"


def equal(before: object, now: object) -> bool:
    """Whether two values look the same in a prompt."""
    if isinstance(before, str) and isinstance(now, str):
        return before.strip() == now.strip()
    return before == now
