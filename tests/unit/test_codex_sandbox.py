"""Trying whether Codex can make its sandbox is a run like any other: in a place, and without what is hidden."""

import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_toolgate.agents.codex_sandbox import prove_sandbox
from pytest_toolgate.agents.protocol import AgentError, Task
from pytest_toolgate.config import SolveSettings
from pytest_toolgate.sandbox import Slots, inspect_interpreter, locate_packages


def task(tmp_path: Path, *hidden: Path) -> Task:
    unused = cast(Any, None)
    given: dict[str, Any] = {
        **dict.fromkeys(("question", "options", "files", "workspace", "domain", "limits", "provider"), unused),
        "interpreter": inspect_interpreter(Path(sys.executable)),
        "settings": SolveSettings(model="m"),
        "hidden": hidden,
        "call_slots": unused,
        "cpu_slots": Slots(tmp_path / "cpu", 1, 0.2),
        "deadline": time.monotonic() + 60,
        "may_pay": lambda: None,
    }
    return Task(**given)


def codex(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_nothing_hidden_is_seen(tmp_path: Path) -> None:
    hidden = locate_packages(Path(sys.executable), ("scipy",))
    look = f"[ -e {hidden[0]} ] && echo it is there >&2 || echo a command ran"
    program, other = codex(tmp_path / "codex", look), codex(tmp_path / "other", look)
    prove_sandbox(program, program, task(tmp_path, *hidden))
    with pytest.raises(AgentError, match="it is there"):
        prove_sandbox(other, other, task(tmp_path))


def test_it_waits_for_a_place(tmp_path: Path) -> None:
    program = codex(tmp_path / "codex", "echo a command ran")
    asked = task(tmp_path)
    with asked.cpu_slots.hold(), pytest.raises(AgentError) as refused:
        prove_sandbox(program, program, asked)
    assert refused.value.reason == "environment"
    prove_sandbox(program, program, asked)
