"""What a look at the host shows after attacks: each finding with the attack that it is the work of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .attack import Attack, Harm
from .world import World

# Attack -> what was found, by kind of harm. Under the empty name is what nobody can be named for.
type Found = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run of some attacks has left.

    Attributes:
        outputs: Attack -> all that was kept of what its script said, wherever it is kept.
        shown: What the user was shown: the session's output, its reports.
        watched: The report of `watched.py`.
        purelib: A directory of packages that the scripts could reach besides the running Python's.
    """

    outputs: Mapping[str, str]
    shown: str
    watched: Mapping[str, Any] = field(default_factory=dict)
    purelib: Path | None = None


def look(world: World, attacks: Iterable[Attack], evidence: Evidence) -> Found:
    """Look for every kind of harm, whichever each attack was after; what was planted is removed."""
    names = sorted((attack.name for attack in attacks), key=len, reverse=True)
    found: Found = {}

    def add(name: str, harm: Harm, what: str) -> None:
        found.setdefault(name, []).append(f"{harm}: {what[:300]}")

    def author(trace: str) -> str:
        """Whose mark it bears; a longer name comes before one that it begins with."""
        return next((name for name in names if f"{world.mark}-{name}" in trace), "")

    for name, text in evidence.outputs.items():
        for place, secret in world.secrets.items():
            if secret in text:
                add(name, "loot", place)
        for line in re.findall(r"^HARM: (.*)", text, flags=re.MULTILINE):
            add(name, "word", line)
    planted = world.planted(evidence.purelib)
    world.remove_planted(planted)
    traces: tuple[tuple[Harm, Iterable[str]], ...] = (
        ("contact", world.listeners.heard),
        ("planted", planted),
        ("survivor", evidence.watched.get("survivors", ())),
        ("mount", world.mounts()),
        ("terminal", filter(None, (evidence.watched.get("typed"), evidence.watched.get("shown")))),
        ("terminal", re.findall(rf"\x1b\]0;({world.mark}-[\w-]+)", evidence.shown)),
    )
    for harm, seen in traces:
        for trace in list(seen):
            add(author(trace), harm, trace)
    world.listeners.heard.clear()
    for name in names:
        if name in world.victims and (touched := world.victims[name].touched()):
            add(name, "victim", touched)
    for what in world.system_v():
        add("", "sysv", what)
    lockers = [attack.name for attack in attacks if attack.harm == "lock"]
    for what in dict.fromkeys(world.locked):
        add(lockers[0] if lockers else "", "lock", what)
    world.locked.clear()
    return found
