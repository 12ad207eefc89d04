"""What an attack is: a script, what it should come to, and what would show that it did harm."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from plugin.pool import VALUE

Kind = Literal[
    "reading files",
    "reading processes",
    "network",
    "processes",
    "memory",
    "disk",
    "output",
    "terminal",
    "persistence",
    "privileges",
    "kernel",
    "answers",
    "shared kernel",
]
# The ways in which an attack is run. In a plain subprocess nothing stops it.
Way = Literal["candidate", "agent", "plain"]

# What shows harm: a secret of the host in what was kept of the script's output; the script's own word, by a line
# `HARM:`, where a call that succeeds is all there is to see; something sent that a listener of the host heard; a file
# of the host that was made or changed; a process of the host that was touched; a process that outlives its run; a
# mount; a System V object; words typed into or written to the terminal; a lock that the host runs into; more used
# than allowed.
Harm = Literal[
    "loot", "word", "contact", "planted", "victim", "survivor", "mount", "sysv", "terminal", "lock", "excess"
]

# What a plain subprocess does: the harm, to anyone or to root only, or where this kernel offers the call at all; or
# it is not run, because it would hurt the machine or the test itself, or because there is nothing it could show.
Plain = Literal["harm", "harm as root", "harm where offered", "would hurt", "no harm to show"]

PASSED: Final = "provisional verify"
SOLVED: Final = "provisional solve"
ANSWER: Final = f'print("ANSWER: {VALUE}", flush=True)\n'

# Before every script: what an attacker could know of the host, and how to try something that may be refused.
_PRELUDE: Final = """\
import os, sys, time
from types import SimpleNamespace
host = SimpleNamespace(**{facts!r})
def attempt(action, *args, **more):
    try:
        return action(*args, **more)
    except (OSError, ValueError, ImportError, AttributeError):
        return None
def read(path):
    with open(path, "rb") as stream:
        print(path, stream.read(1 << 16).decode("latin-1"))
def visible():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
def call(x86, arm, *args):
    import ctypes, platform
    number = x86 if platform.machine() == "x86_64" else arm
    return ctypes.CDLL(None, use_errno=True).syscall(number, *args) if number is not None else -1
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack.

    Attributes:
        name: Its key.
        kind: What it is about.
        tries: What it tries, as one sentence.
        script: The script, which finds `host` and the functions of the prelude defined.
        harm: What would show that it has done harm.
        outcome: What becomes of the candidate whose solution it is.
        ended: How the script ends.
        agent: What becomes of an agent whose command it is; empty for `review solve timeout` where the command runs
            into the time limit and `provisional solve` elsewhere, since the agent then gives the right answer.
        agent_ended: How the script ends as an agent's command; empty for the same.
        plain: What a plain subprocess does.
        answers: Whether a line that prints the right answer is added at the end.
        uses: Whether a line that runs the domain's software is added before it.
        twice: Whether it is run again later, to find what the first run has left.
        opens: The ways in which the harm is expected: what the sandbox leaves open.
    """

    name: str
    kind: Kind
    tries: str
    script: str
    harm: Harm
    outcome: str = PASSED
    ended: str = "exited"
    agent: str = ""
    agent_ended: str = ""
    plain: Plain = "harm"
    answers: bool = True
    uses: bool = True
    twice: bool = False
    opens: frozenset[Way] = frozenset()

    def verdict(self, way: Way) -> str:
        """What is expected to become of it."""
        if way == "candidate":
            return self.outcome
        return self.agent or ("review solve timeout" if self.ending(way) == "timeout" else SOLVED)

    def ending(self, way: Way) -> str:
        """How its script is expected to end."""
        return (way == "agent" and self.agent_ended) or self.ended

    def source(self, facts: Mapping[str, object], *, software: bool = True) -> str:
        """The whole script for a host of which these facts are known."""
        first = "import scipy\n" if self.uses and software else ""
        prelude = _PRELUDE.format(facts={**facts, "name": self.name, "tag": f"{facts['mark']}-{self.name}"})
        return first + prelude + textwrap.dedent(self.script).rstrip() + "\n" + (ANSWER if self.answers else "")
