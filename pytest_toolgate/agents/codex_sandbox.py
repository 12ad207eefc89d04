"""Whether Codex can make its own sandbox within ours: where it cannot, each of its commands would fail.

A model that sees nothing but failing commands gives up, which would look like a verdict. So it is tried before the
first solve of a process, by the program itself and without a model.
"""

import socket
from pathlib import Path
from typing import Final

from ..sandbox import Job, Limits, Program, SandboxError, SlotTimeout, run
from ..sandbox.profile import HOME
from .protocol import AgentError, Task

CODEX_HOME: Final = f"{HOME}/.codex"
"""Where it keeps its own files; not below /tmp, where it refuses to put its helpers."""
FILES: Final = {".codex/.keep": b""}
"""What makes that directory, without which it does not start."""
_PATIENCE: Final = 60.0  # seconds
_WORD: Final = "a command ran"
_PROCESSES: Final = 256
_proven: Final[set[Path]] = set()


class _NoDoor:
    """Nobody answers."""

    waited = 0.0
    closed = False

    def open(self, listener: socket.socket) -> None:
        """See `sandbox.job.Door`."""
        listener.close()


def prove_sandbox(executable: Path, home: Path, task: Task) -> None:
    """Have it run one command in its own sandbox.

    Args:
        executable: The program.
        home: The directory that holds all it needs.
        task: The solve, for the domain's interpreter, what is hidden, and a place to run.

    Raises:
        AgentError: It cannot, our own sandbox cannot be made, or no place became free in time.
    """
    if executable in _proven:
        return
    command = (str(executable), "sandbox", "-c", 'sandbox_mode="workspace-write"', "--", "/bin/echo", _WORD)
    program = Program(command, _NoDoor(), (home,), FILES, nested=True)
    limits = Limits(wall=_PATIENCE, processes=_PROCESSES)
    env = {"CODEX_HOME": CODEX_HOME}
    try:
        with task.cpu_slots.hold():
            finished = run(Job(task.interpreter, b"", env=env, limits=limits, hidden=task.hidden, program=program))
    except SandboxError as problem:
        raise AgentError(str(problem), "sandbox") from problem
    except SlotTimeout as problem:
        raise AgentError(str(problem), "environment") from problem
    if _WORD.encode() not in finished.stdout:
        said = finished.stderr.decode("utf-8", "replace").strip().splitlines() or ["it does not say why"]
        raise AgentError(
            f"Codex cannot make its own sandbox within ours, in which its commands run: {said[-1][:300]}; this machine "
            "has to allow user namespaces within a sandbox (`user.max_user_namespaces`, and on Ubuntu "
            "`kernel.apparmor_restrict_unprivileged_userns=0`)",
            "sandbox",
        )
    _proven.add(executable)
