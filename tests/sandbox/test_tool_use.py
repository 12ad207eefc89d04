"""Which packages a script really executed, as opposed to named."""

import json
from pathlib import Path

import pytest

from .conftest import Script, text


def test_a_package_is_seen_when_it_is_imported(script: Script) -> None:
    finished = script("import numpy", watch=("numpy", "yaml"))
    assert text(finished) == ""
    assert finished.used == ("numpy",)


def test_and_when_a_child_imports_it(script: Script) -> None:
    finished = script(
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import numpy'])", watch=("numpy",)
    )
    assert finished.used == ("numpy",)


def test_and_when_the_script_crashes_after_it(script: Script) -> None:
    assert script("import numpy, os; os._exit(1)", watch=("numpy",)).used == ("numpy",)


def test_and_when_time_runs_out(script: Script) -> None:
    assert script("import numpy, time; time.sleep(99)", watch=("numpy",), wall=5.0).used == ("numpy",)


@pytest.mark.parametrize(
    "source",
    [
        "# import numpy",
        "print('ANSWER: B')",
        "import importlib.util; importlib.util.find_spec('numpy')",
        "import sys, types; sys.modules['numpy'] = types.ModuleType('numpy'); import numpy",
    ],
)
def test_a_mention_is_no_use(script: Script, source: str) -> None:
    finished = script(source, watch=("numpy",))
    assert finished.exit_code == 0
    assert finished.used == ()


def test_a_local_file_of_that_name_is_no_use(script: Script) -> None:
    finished = script("import numpy; print(numpy.here)", files={"numpy.py": b"here = True"}, watch=("numpy",))
    assert text(finished) == "True\n"
    assert finished.used == ()


def test_a_folder_made_to_look_like_it_is_no_use(script: Script) -> None:
    finished = script(
        """
        import os, sys
        os.makedirs("lib/site-packages/numpy")
        open("lib/site-packages/numpy/__init__.py", "w").close()
        sys.path.insert(0, "lib/site-packages")
        import numpy
        """,
        watch=("numpy",),
    )
    assert (finished.exit_code, finished.used) == (0, ())


def test_watching_leaves_the_search_path_as_it_is(script: Script) -> None:
    source = "import json, sys; print(json.dumps([sys.path, sorted(sys.modules)]))"
    watched, plain = (json.loads(text(script(source, watch=watch))) for watch in (("numpy",), ()))
    assert watched[0] == plain[0]
    assert set(watched[1]) - set(plain[1]) <= {"sitecustomize"}


def test_the_record_cannot_be_made_to_name_anything_else(script: Script) -> None:
    finished = script("open('/run/used/scipy', 'w'); open('/run/used/../../sandbox/x', 'w')", watch=("numpy",))
    assert finished.used == ()


def test_the_record_has_no_name_that_can_be_known_before(script: Script) -> None:
    forge = """
        import os
        def attempt(act, *given):
            try:
                return act(*given)
            except OSError:
                return []
        places = ["/run/used", "/sandbox/used", os.environ.get("TOOLGATE_USED", "/used")]
        for place in places + [f"/run/used/{name}" for name in attempt(os.listdir, "/run/used")]:
            attempt(os.makedirs, place)
            attempt(lambda: open(place + "/numpy", "w").close())
        print([value for value in os.environ.values() if "/run/used" in value])
    """
    finished = script(forge, watch=("numpy",))
    assert (text(finished), finished.used) == ("[]\n", ())


def test_an_environment_reached_by_a_link_is_recognised(script: Script, tmp_path: Path) -> None:
    import sys

    from pytest_toolgate.sandbox import Job, inspect_interpreter, run

    link = tmp_path / "environment"
    link.symlink_to(sys.prefix)
    interpreter = inspect_interpreter(link / "bin" / "python")
    assert interpreter.python == link / "bin" / "python"
    finished = run(Job(interpreter, b"import numpy, sys; print(sys.executable)", watch=("numpy",)))
    assert text(finished) == f"{link}/bin/python\n"
    assert finished.used == ("numpy",)
