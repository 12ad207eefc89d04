"""What the launcher's tests share: an order for the stand-in server, and looking at processes."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pytest_toolgate.providers.embedded.launcher import Launch

HERE = Path(__file__).parent


def fake_launch(directory: Path, behaviour: str = "serve") -> Launch:
    """Start the stand-in server, which notes its pid in `starts` of the directory."""
    command = (sys.executable, str(HERE / "fake_server.py"), behaviour, str(directory / "starts"))
    return Launch(command, "{}", api_key="key", model="stand-in", sha256="0" * 64)


def started(directory: Path) -> list[int]:
    """The pids of all servers started so far."""
    marker = directory / "starts"
    return [int(line) for line in marker.read_text().split()] if marker.exists() else []


def running(pid: int) -> bool:
    """Whether the process is there and not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def servers_of(directory: Path) -> list[int]:
    """The pids of all running processes whose environment names the directory in `EMBEDDED_TEST`."""
    wanted = f"EMBEDDED_TEST={directory}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if wanted in environment and b"server" in command and running(int(entry.name)):
            found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], limit: float = 10.0) -> bool:
    """Poll a condition for at most `limit` seconds and say whether it came true."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()
