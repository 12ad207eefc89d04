"""The supervisor by itself, with a script as quick and a runner as suddenly gone as a loaded machine makes them."""

import json
import marshal
import os
import subprocess
import sys
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

_SUPERVISOR = """
import marshal, os, sys, time
from pytest_toolgate.sandbox.inside import supervise

def begin(task, failed):  # the script has made its file before the supervisor knows that it runs
    made = open(sys.argv[5], "wb")
    made.write(bytes(1 << 20))
    made.flush()
    os.close(failed)
    time.sleep(0.5)
    os._exit(0)

supervise.oversee(marshal.load(sys.stdin.buffer), *map(int, sys.argv[1:5]), begin)
"""
OWN_ID = (1 << 30) + os.getpid()  # which nobody else has


def oversee(task: dict[str, Any], made: Path, *, listening: bool = True) -> list[dict[str, Any]]:
    """What the supervisor says, to those who listen, about a script that makes a file and ends."""
    heard, report = os.pipe()
    inside, control = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    theirs = [inside, report, nowhere, os.dup(nowhere)]
    supervisor = subprocess.Popen(
        [sys.executable, "-c", _SUPERVISOR, *map(str, theirs), made],
        stdin=subprocess.PIPE,
        pass_fds=theirs,
    )
    for descriptor in (*theirs, *(() if listening else (heard, control))):
        os.close(descriptor)
    supervisor.communicate(marshal.dumps(task), timeout=60)
    assert supervisor.returncode == 0
    if not listening:
        return []
    os.close(control)
    with os.fdopen(heard, "rb") as stream:
        return [json.loads(line) for line in stream]


def make_room(where: Path) -> Path:
    """The private directory of a run, in a place like /tmp."""
    where.chmod(0o1777)
    room = where / "room"
    room.mkdir()
    return room


def a_task(room: Path, unused_id: int | None) -> dict[str, Any]:
    """A task in a private directory of the host."""
    work = room / "work"
    work.mkdir()
    if unused_id is not None:
        for path in (room, work):
            os.chown(path, unused_id, unused_id)
    return {
        "unused_id": unused_id,
        "own_space": False,
        "room": str(room),
        "directories": [str(work)],
        "work": str(work),
        "files": {},
        "command": ["script"],
        "env": {},
        "rlimits": {},
        "grants": None,
        "refused": b"",
        "wall": 20.0,
        "memory": 1 << 40,
        "disk": 1 << 30,
        "entries": 1000,
        "processes": 10,
        "door": None,
        "nested": False,
        "writable": [],
        "walked": [str(work)],
        "watch": [],
        "used": str(room),
    }


@pytest.mark.parametrize("own_id", [False, True] if os.geteuid() == 0 else [False])
def test_what_a_script_makes_at_once_in_shared_memory_is_its_own(*, own_id: bool) -> None:
    made = Path(f"/dev/shm/toolgate-{uuid.uuid4().hex}")
    with TemporaryDirectory() as where:
        started, ended = oversee(a_task(make_room(Path(where)), OWN_ID if own_id else None), made)
    left = made.exists()
    made.unlink(missing_ok=True)
    assert started == {"started": True}
    assert ended["status"] == 0
    assert ended["disk_used"] >= 1 << 20
    assert not left


@pytest.mark.parametrize("own_id", [False, True] if os.geteuid() == 0 else [False])
def test_the_supervisor_tidies_up_although_somebody_listens_who_may_be_killed_next(*, own_id: bool) -> None:
    with TemporaryDirectory() as where:
        room = make_room(Path(where))
        assert len(oversee(a_task(room, OWN_ID if own_id else None), room / "work" / "made")) == 2
        assert not room.exists()


def test_the_supervisor_tidies_up_after_a_runner_that_went_before_it_could_be_told_anything(tmp_path: Path) -> None:
    room = make_room(tmp_path)
    assert oversee(a_task(room, None), room / "made", listening=False) == []
    assert not room.exists()


def test_the_supervisor_tidies_up_although_the_task_cannot_be_begun(tmp_path: Path) -> None:
    room = make_room(tmp_path)
    task = a_task(room, None)
    assert oversee({**task, "own_space": True}, room / "made", listening=False) == []
    assert not room.exists()
