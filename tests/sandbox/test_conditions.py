"""What a job is told to vary, and what is counted of its output."""

import json
import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import pytest

from pytest_toolgate.sandbox import Interpreter, Job, KiB, MiB, inspect_interpreter

from .conftest import Script, text

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@pytest.mark.parametrize("threads", [1, 2])
def test_every_library_is_told_the_number_of_threads(script: Script, threads: int) -> None:
    printed = text(script("import json, os; print(json.dumps(dict(os.environ)))", threads=threads))
    environment = json.loads(printed)
    assert {environment[name] for name in THREADS} == {str(threads)}


def test_the_working_directory_has_the_name_it_is_given(script: Script) -> None:
    source = "import os; print(os.getcwd(), sorted(os.listdir()), sorted(os.listdir('..')))"
    files = {"problem.json": b"{}"}
    assert text(script(source, files=files)) == (
        "/sandbox/work ['problem.json', 'solution.py'] ['home', 'tmp', 'work']\n"
    )
    assert text(script(source, files=files, directory="elsewhere")) == (
        "/sandbox/elsewhere ['problem.json', 'solution.py'] ['elsewhere', 'home', 'tmp']\n"
    )


def test_a_workspace_can_have_it_too(script: Script, tmp_path: Path) -> None:
    text(script("open('left', 'w').close()", directory="elsewhere", workspace=tmp_path))
    assert (tmp_path / "left").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "home", "tmp", "A", "a\0"])
def test_a_name_that_leads_elsewhere_is_refused(interpreter: Interpreter, name: str) -> None:
    with pytest.raises(ValueError, match="working directory"):
        Job(interpreter, b"", directory=name)


def test_all_output_is_counted_also_what_is_not_kept(script: Script) -> None:
    source = f"import sys; sys.stdout.write('x' * {3 * KiB}); sys.stderr.write('y' * {MiB})"
    finished = script(source, stderr=4 * KiB)
    assert (finished.stdout_bytes, finished.stderr_bytes) == (3 * KiB, MiB)
    assert len(finished.stderr) < 5 * KiB
    assert finished.stderr_cut


def test_output_over_its_limit_is_counted_as_far_as_it_came(script: Script) -> None:
    finished = script("while True: print('x' * 1000)", stdout=64 * KiB)
    assert finished.ended == "output-limit"
    assert len(finished.stdout) == 64 * KiB < finished.stdout_bytes


def test_files_are_counted_and_too_many_are_a_limit(script: Script) -> None:
    few = script("for n in range(100): open(f'f{n}', 'w').close()")
    assert few.ended == "exited"
    assert 100 <= few.files_made < 200
    many = script("n = 0\nwhile True:\n    open(f'f{n}', 'w').close()\n    n += 1", entries=500)
    assert many.ended == "disk-limit"
    assert many.files_made > 500


def test_an_interpreter_is_known_down_to_the_files_of_its_packages() -> None:
    """A distribution's RECORD lists the hash of each of its files, so its own hash stands for all of them."""
    found = inspect_interpreter(Path(sys.executable), ("SciPy", "no-such-distribution"))
    assert found.implementation == sys.implementation.name.replace("cpython", "CPython")
    assert dict(found.packages) == {"SciPy": metadata.version("scipy")}
    # What it depends on is known too, and nothing else.
    assert set(found.installed) == {"scipy", "numpy"}
    for name, distribution in found.installed.items():
        [record] = [file for file in metadata.files(name) or [] if file.name == "RECORD"]
        assert distribution.version == metadata.version(name)
        assert distribution.record == sha256(Path(str(record.locate())).read_bytes()).hexdigest()
