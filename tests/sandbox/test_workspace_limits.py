"""The disk limit in a workspace, where only looking tells what is used, and what a script does not to be seen."""

import os
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import MiB
from pytest_toolgate.sandbox.inside.measure import Process, end_hidden

from .conftest import Script


@pytest.mark.parametrize("trick", ["plain", "unlinked", "hidden"])
def test_disk_in_a_workspace(script: Script, tmp_path_factory: pytest.TempPathFactory, trick: str) -> None:
    workspace = tmp_path_factory.mktemp("workspace")
    finished = script(
        f"""
        import os, time
        os.mkdir("d")
        files = []
        for number in range(20):
            files.append(open(f"d/{{number}}", "wb"))
            if {trick == "unlinked"}:
                os.unlink(f"d/{{number}}")
            files[-1].write(bytes({4 * MiB}))
            files[-1].flush()
        if {trick == "hidden"}:
            os.chmod("d", 0)
        time.sleep(20)
        """,
        disk=16 * MiB,
        workspace=workspace,
    )
    assert finished.ended == "disk-limit"


@pytest.mark.parametrize("seen", ["whole", "one page"])
def test_disk_held_by_mappings_of_files_without_a_name(script: Script, tmp_path: Path, seen: str) -> None:
    finished = script(
        f"""
        import ctypes, os, time
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        size = {8 * MiB}
        for _ in range(20):
            file = os.open("f", os.O_RDWR | os.O_CREAT)
            os.write(file, bytes(size))
            libc.mmap(None, ctypes.c_size_t({"size" if seen == "whole" else 4096}), 1, 1, file, ctypes.c_long(0))
            os.unlink("f")
            os.close(file)
        time.sleep(1)
        """,
        disk=16 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_a_mapping_of_a_file_without_a_name_counts_once_and_as_it_is(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import mmap, os, time
        file = os.open("f", os.O_RDWR | os.O_CREAT)
        os.write(file, bytes({8 * MiB}))
        mappings = [mmap.mmap(file, {8 * MiB}) for _ in range(3)]
        os.unlink("f")
        time.sleep(0.5)
        os.close(file)
        time.sleep(0.5)
        """,
        disk=64 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "exited"
    assert 8 * MiB <= finished.disk_used < 9 * MiB


def test_a_running_program_without_a_name_counts_as_it_is(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import os, shutil, subprocess, time
        shutil.copy("/bin/sleep", "f")
        with open("f", "ab") as stream:
            stream.write(bytes({8 * MiB}))
        child = subprocess.Popen(["./f", "1"])
        os.unlink("f")
        child.wait()
        """,
        disk=64 * MiB,
        workspace=tmp_path,
    )
    assert (finished.ended, finished.exit_code) == ("exited", 0), finished.stderr
    assert 8 * MiB <= finished.disk_used < 10 * MiB


def test_disk_held_by_a_process_whose_first_thread_has_ended(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import ctypes, os, threading, time
        def hold():
            time.sleep(0.3)
            file = os.open("f", os.O_RDWR | os.O_CREAT)
            os.unlink("f")
            os.write(file, bytes({15 * MiB}))
            os.write(file, bytes({2 * MiB}))
            time.sleep(1)
            os._exit(0)
        if os.fork() == 0:
            threading.Thread(target=hold).start()
            ctypes.CDLL(None).pthread_exit(None)
        print(os.wait()[1])
        """,
        disk=16 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_a_directory_that_is_locked_again_and_again(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import os, time
        os.mkdir("d")
        files = [open(f"d/{{number}}", "wb") for number in range(8)]
        if os.fork() == 0:
            folder = os.open("d", os.O_RDONLY)
            while True:
                os.fchmod(folder, 0)
        time.sleep(0.2)
        for stream in files:
            stream.write(bytes({8 * MiB}))
            stream.flush()
        time.sleep(0.5)
        """,
        disk=16 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_disk_filled_in_the_pause_after_a_long_look(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import os, time
        for number in range(19500):
            os.close(os.open(f"f{{number}}", os.O_CREAT))
        files = [os.open(f"f{{number}}", os.O_WRONLY) for number in range(6)]
        for _ in range(230):
            os.dup(files[0])
        for _ in range(50):
            if os.fork() == 0:
                time.sleep(20)
        time.sleep(2)
        for file in files:
            os.write(file, bytes({50 * MiB}))
        time.sleep(0.2)
        for file in files:
            os.truncate(file, 0)
        """,
        disk=100 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_a_process_that_is_gone_when_it_is_to_be_killed_is_no_fault() -> None:
    end_hidden(Process(str(1 << 30), [str(os.getpid())], 1))


def test_zombies_are_no_fault_of_the_machinery(script: Script, tmp_path: Path) -> None:
    finished = script(
        """
        import collections, os, time
        end = time.time() + 4
        zombies = collections.deque()
        while time.time() < end:
            child = os.fork()
            if child == 0:
                os._exit(0)
            zombies.append(child)
            if len(zombies) > 45:
                os.waitpid(zombies.popleft(), 0)
        """,
        workspace=tmp_path,
    )
    assert (finished.ended, finished.exit_code) == ("exited", 0)


def test_a_workspace_cannot_be_closed_to_the_one_who_measures_it(script: Script, tmp_path: Path) -> None:
    finished = script(
        f"""
        import os, time
        os.mkdir("d")
        files = [open(f"d/{{number}}", "wb") for number in range(8)]
        for path in ("d", ".", "/sandbox", "/run/used"):
            try:
                os.chmod(path, 0)
            except OSError:
                pass
        for stream in files:
            stream.write(bytes({4 * MiB}))
            stream.flush()
        time.sleep(20)
        """,
        disk=16 * MiB,
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_a_workspace_too_deep_to_measure(script: Script, tmp_path: Path) -> None:
    finished = script(
        "import os, time\nfor _ in range(150):\n os.mkdir('d')\n os.chdir('d')\ntime.sleep(20)",
        workspace=tmp_path,
    )
    assert finished.ended == "disk-limit"


def test_a_process_that_hides_its_files_is_ended(script: Script, tmp_path: Path) -> None:
    finished = script("import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(20)", workspace=tmp_path)
    assert (finished.ended, finished.signal) == ("killed", 9)
