"""What a script can write: its own room, its caches, and nothing that another run would see."""

import sys
from pathlib import Path

from pytest_toolgate.sandbox import GiB, MiB

from .conftest import Script, text


def test_the_working_directory_holds_the_script_and_the_files(script: Script) -> None:
    finished = script(
        "import os, sys; print(sorted(os.listdir()), sys.argv, open('problem.json').read())",
        files={"problem.json": b'{"id": "x"}'},
    )
    assert text(finished) == """['problem.json', 'solution.py'] ['solution.py'] {"id": "x"}\n"""


def test_software_is_read_only(script: Script) -> None:
    finished = script("""
        import os, sys, sysconfig
        places = [sysconfig.get_paths()["purelib"], sys.prefix, sys.base_prefix, "/usr", "/usr/lib", "/etc",
                  "/", "/dev", "/run", "/run/toolgate", "/sys/devices/system/cpu", "/proc"]
        for place in places:
            try:
                open(os.path.join(place, "planted.py"), "w").close()
                print(place)
            except OSError:
                pass
    """)
    assert text(finished) == ""
    assert not list(Path(sys.prefix).rglob("planted.py"))


def test_the_tree_of_the_interpreter_cannot_be_replaced(script: Script) -> None:
    finished = script("""
        import os, sys
        for prefix in {sys.prefix, sys.base_prefix}:
            parts = prefix.split("/")[1:]
            for depth in range(1, len(parts) + 1):
                path = "/" + "/".join(parts[:depth])
                try:
                    os.rename(path, path + "-moved")
                    print(path)
                except OSError:
                    pass
    """)
    # A mount of its own such as /tmp is renamed by nobody; what lies below must not be either.
    assert text(finished) == ""


def test_caches_are_writable_and_inside(script: Script) -> None:
    finished = script("""
        import os, pathlib, tempfile
        names = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR", "NUMBA_CACHE_DIR")
        places = [os.environ[name] for name in names]
        places += [os.path.expanduser("~/.cache/fenics"), tempfile.gettempdir(), "/tmp", "/dev/shm"]
        for place in places:
            os.makedirs(place, exist_ok=True)
            pathlib.Path(place, "marker").write_text("x")
            print(place.startswith(("/sandbox/", "/tmp", "/dev/shm")))
    """)
    assert set(text(finished).split()) == {"True"}


def test_nothing_persists_without_a_workspace(script: Script) -> None:
    paths = "import os, pathlib\npaths = [os.environ['HOME'] + '/.cache/x', '/tmp/x', '/dev/shm/x', 'x']\n"
    write = paths + "for path in paths: pathlib.Path(path).write_text('x')"
    read = paths + "print(*filter(os.path.exists, paths))"
    text(script(write))
    assert text(script(read)) == "\n"


def test_a_workspace_persists_and_nothing_else_does(script: Script, tmp_path: Path) -> None:
    first = "open('x', 'w').write('kept'); open('/sandbox/home/y', 'w').write('lost')"
    text(script(first, workspace=tmp_path))
    assert (tmp_path / "x").read_text() == "kept"
    second = "import os; print(open('x').read(), os.path.exists('/sandbox/home/y')); open('x', 'a').write('!')"
    assert text(script(second, workspace=tmp_path)) == "kept False\n"
    assert (tmp_path / "x").read_text() == "kept!"
    assert (tmp_path / "solution.py").read_text() == second


def test_links_in_a_workspace_lead_nowhere_on_the_host(script: Script, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("solution.py", "problem.json", "link"):
        (workspace / name).symlink_to(outside)
    (workspace / "folder").symlink_to(tmp_path)
    finished = script(
        "import os; print(os.path.exists('link'), os.path.exists('folder'), open('problem.json').read())",
        workspace=workspace,
        files={"problem.json": b"{}"},
    )
    assert text(finished) == "False False {}\n"
    assert outside.read_text() == "secret"


def test_a_workspace_its_script_has_locked_and_littered_can_be_used_again(script: Script, tmp_path: Path) -> None:
    litter = """
        import os
        os.unlink("solution.py")
        os.makedirs("solution.py/x")
        os.chmod(".", 0)
    """
    text(script(litter, workspace=tmp_path))
    assert text(script("print('again')", workspace=tmp_path)) == "again\n"


def test_one_thread_each_and_no_display(script: Script) -> None:
    finished = script("""
        import os
        print([os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")])
        print(os.environ["MPLBACKEND"], os.environ["PYVISTA_OFF_SCREEN"], "DISPLAY" in os.environ)
    """)
    assert text(finished) == "['1', '1', '1']\nAgg true False\n"


def test_additions_to_the_environment_arrive(script: Script) -> None:
    finished = script("import os, sys; print(os.environ['PYTHONHASHSEED'], hash('a'))", env={"PYTHONHASHSEED": "7"})
    again = script("import os, sys; print(os.environ['PYTHONHASHSEED'], hash('a'))", env={"PYTHONHASHSEED": "7"})
    assert text(finished).startswith("7 ")
    assert text(finished) == text(again)


def test_the_configured_interpreter_runs_whatever_is_first_on_path(script: Script) -> None:
    assert text(script("import sys; print(sys.executable)")) == f"{sys.executable}\n"


def test_text_is_utf8(script: Script) -> None:
    assert text(script("print('∇²')")) == "∇²\n"


def test_c_code_can_be_compiled_and_loaded(script: Script) -> None:
    finished = script("""
        import ctypes, subprocess, sysconfig
        open("k.c", "w").write("#include <Python.h>\\nint two(void) { return 2; }")
        include = sysconfig.get_paths()["include"]
        subprocess.run(["gcc", "-shared", "-fPIC", "-I", include, "k.c", "-o", "k.so"], check=True)
        print(ctypes.CDLL("./k.so").two())
    """)
    assert text(finished) == "2\n"


def test_processes_may_share_memory_and_work_in_parallel(script: Script) -> None:
    finished = script("""
        import multiprocessing
        if __name__ == "__main__":
            with multiprocessing.Pool(4) as pool:
                print(pool.map(abs, [-1, -2]))
    """)
    assert text(finished) == "[1, 2]\n"


def test_what_was_used_is_measured(script: Script) -> None:
    finished = script(f"""
        block = bytearray({200 * MiB})
        for i in range(0, len(block), 4096):
            block[i] = 1
        open("f", "wb").write(bytes({20 * MiB}))
    """)
    assert text(finished) == ""
    assert 200 * MiB < finished.peak_memory < 1 * GiB
    assert 20 * MiB <= finished.disk_used < 22 * MiB
    assert finished.cpu > 0
    assert 0 < finished.wall < 60
